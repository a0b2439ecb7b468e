// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Models small enough for the reference in double, and one sequence of one on any back end.
#ifndef VARVE_TESTS_EXAMPLES_ONE_SEQUENCE_HPP
#define VARVE_TESTS_EXAMPLES_ONE_SEQUENCE_HPP

#include "generator.hpp"
#include "reference.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace reference {

inline decoder::model_config sizes(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                                   std::int64_t kv_heads, std::int64_t ffn, std::int64_t vocab) {
  decoder::model_config c;
  c.layers = layers;
  c.hidden = hidden;
  c.heads = heads;
  c.kv_heads = kv_heads;
  c.ffn = ffn;
  c.vocab = vocab;
  return c;
}

// Query heads per key head: 1, 2 and 4; odd widths of heads, feed-forward part and vocabulary.
inline const std::vector<decoder::model_config> shapes{sizes(2, 24, 4, 4, 37, 61), sizes(3, 40, 4, 2, 51, 97),
                                                       sizes(1, 48, 8, 2, 128, 33)};

inline std::vector<decoder::token_list> prompts(const decoder::model_config& c,
                                                const std::vector<std::size_t>& lengths, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::vector<decoder::token_list> lists;
  for (const std::size_t length : lengths) {
    lists.emplace_back();
    while (lists.back().size() < length) {
      lists.back().push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(c.vocab)));
    }
  }
  return lists;
}

/// How far logits may lie from those in double, as distance() has it, where a back end stores numbers with
/// the unit roundoff u and sums in float. A layer rounds what it stores twelve times in a chain (norm, key,
/// value, attention, output and sum; norm, gate, up, their product, down and sum), the head three times; each
/// is wrong by u / sqrt(3) on average, and errors that do not know of each other add up to sqrt(12 · layers +
/// 3) times as much. Four times that is for what a chain amplifies: a wrong position, head or residual
/// changes half of the magnitude. Sums in float stand beside it, with a thousand roundings, as for the CPU
/// back end.
inline double tolerance_of_logits(const decoder::model_config& c, double u) {
  return 4 * u * std::sqrt(static_cast<double>(12 * c.layers + 3) / 3) + 1000 * roundoff;
}

/// |values − expected| ÷ |expected|, as vectors.
inline double distance(const std::vector<float>& values, const row& expected) {
  double error = 0;
  double magnitude = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = static_cast<double>(values[i]) - expected[i];
    error += off * off;
    magnitude += expected[i] * expected[i];
  }
  return std::sqrt(error / magnitude);
}

/// A model for one sequence, driven pass by pass.
class one_sequence {
 public:
  one_sequence(decoder::backend& device, const decoder::model_config& c)
      : device_{device},
        memory_{device.make_memory()},
        stream_{device.make_stream()},
        model_{device, *stream_, c, {1, 16, 16}, seed} {}

  /// Logits after `tokens`, of which the first stands at `position`.
  std::vector<float> forward(const decoder::token_list& tokens, std::int32_t position) {
    const auto rows = static_cast<std::int64_t>(tokens.size());
    decoder::token_list sequences(tokens.size(), 0);
    decoder::token_list positions;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      positions.push_back(position + static_cast<std::int32_t>(i));
    }
    const std::int32_t last = static_cast<std::int32_t>(tokens.size()) - 1;
    const decoder::batch pass{
        memory_->ids(rows), {memory_->ids(rows), memory_->ids(rows)}, memory_->ids(1), 16};
    stream_->upload(pass.tokens, tokens.data());
    stream_->upload(pass.places.sequences, sequences.data());
    stream_->upload(pass.places.positions, positions.data());
    stream_->upload(pass.last_rows, &last);
    const decoder::tensor result = model_.forward(*stream_, pass);
    std::vector<float> host(static_cast<std::size_t>(result.columns));
    stream_->download(host.data(), result);
    stream_->synchronise();
    return host;
  }

  /// The same logits in double, of the weights as the back end stores them.
  row exact(const decoder::token_list& tokens) {
    const auto memory = device_.make_memory();
    const auto weights = decoder::load_weights(*memory, *stream_, model_.config(), seed);
    return logits(*stream_, weights, model_.config(), tokens);
  }

 private:
  static constexpr std::uint64_t seed = 7;
  decoder::backend& device_;
  std::unique_ptr<decoder::memory> memory_;
  std::unique_ptr<decoder::stream> stream_;
  decoder::model model_;
};

}  // namespace reference

#endif  // VARVE_TESTS_EXAMPLES_ONE_SEQUENCE_HPP

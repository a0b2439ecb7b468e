// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef DECODER_MODEL_HPP
#define DECODER_MODEL_HPP

#include "backend.hpp"
#include "config.hpp"
#include "weights.hpp"

#include <varve/model.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace decoder {

/// On every back end, whatever numbers are stored in.
inline constexpr varve::math_pipe pipe_of_attention = varve::math_pipe::fp32;

/// The rows of one forward pass, in device memory. Prefill has a row for each token of the prompts, decode
/// one row a sequence; a pass may mix them.
struct batch {
  id_list tokens;
  row_places places;
  id_list last_rows;               ///< of each sequence that needs logits, its last row
  std::int64_t context_bound = 0;  ///< all positions are below it
  /// Of its sequences, for the work of attention. None in a pass that is captured: its replays differ.
  std::vector<varve::pass_sequence> lengths{};
};

/// A Llama-style decoder with the keys and values of its sequences: RMSNorm, rotary embedding, grouped-query
/// attention, SwiGLU. One pass at a time.
class model {
 public:
  /// Loads random weights on `s`, the same for the same seed. Throws std::invalid_argument for sizes that
  /// don't fit together.
  model(backend& device, stream& s, const model_config& config, const engine_limits& limits,
        std::uint64_t seed);

  /// Launches one forward pass on `s`, which stores the keys and values of its rows. Returns where the logits
  /// will be: a row for each of `rows.last_rows`, until the next pass.
  tensor forward(stream& s, const batch& rows);

  [[nodiscard]] const model_config& config() const { return config_; }
  /// In which numbers are stored.
  [[nodiscard]] varve::dtype type() const { return type_; }

 private:
  /// The work of stream::matmul(out, x, weight) with `rows` rows.
  [[nodiscard]] varve::work product(std::int64_t rows, const tensor& weight) const;
  [[nodiscard]] varve::work norm(const tensor& rows) const;
  [[nodiscard]] varve::work sum(const tensor& rows) const;
  void attention_block(stream& s, const batch& rows, std::size_t layer);
  void mlp_block(stream& s, std::int64_t rows, std::size_t layer);
  tensor head(stream& s, const batch& rows);

  model_config config_;
  varve::dtype type_;
  std::unique_ptr<memory> memory_;
  weights weights_;
  std::vector<kv_cache> caches_;  // one a layer

  // Activations, for the largest pass.
  tensor hidden_;
  tensor normed_;
  tensor query_;
  tensor key_;
  tensor value_;
  tensor attended_;
  tensor gate_;
  tensor up_;
  tensor logits_;
};

}  // namespace decoder

#endif  // DECODER_MODEL_HPP

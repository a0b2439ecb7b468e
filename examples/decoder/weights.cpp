// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "weights.hpp"

#include <varve/marker.hpp>

#include <cmath>
#include <random>

namespace decoder {

namespace {

class loader {
 public:
  loader(memory& device, stream& s, std::uint64_t seed) : device_{device}, stream_{s}, random_{seed} {}

  tensor matrix(std::int64_t rows, std::int64_t columns) {
    // A uniform number in [-a, a) has variance a² / 3.
    return load(rows, columns, 0.0F, std::sqrt(3.0F / static_cast<float>(columns)));
  }
  tensor norm(std::int64_t size) { return load(1, size, 1.0F, 0.1F); }

 private:
  tensor load(std::int64_t rows, std::int64_t columns, float middle, float width) {
    host_.resize(static_cast<std::size_t>(rows * columns));
    for (float& x : host_) {
      const auto unit = static_cast<float>(random_() >> 40U) * 0x1p-23F - 1.0F;  // in [-1, 1)
      x = middle + width * unit;
    }
    const tensor result = device_.numbers(rows, columns);
    stream_.upload(result, host_.data());
    stream_.synchronise();  // host_ is filled anew for the next
    return result;
  }

  memory& device_;
  stream& stream_;
  std::mt19937_64 random_;
  std::vector<float> host_;
};

}  // namespace

weights load_weights(memory& device, stream& s, const model_config& c, std::uint64_t seed) {
  loader load{device, s, seed};
  weights w;
  {
    varve::layer layer{"embedding"};
    w.embedding = load.matrix(c.vocab, c.hidden);
  }
  const std::int64_t query_width = c.heads * c.head_size();
  for (std::int64_t i = 0; i < c.layers; ++i) {
    varve::layer layer{"layer", i};
    w.layers.push_back({.attention_norm = load.norm(c.hidden),
                        .query = load.matrix(query_width, c.hidden),
                        .key = load.matrix(c.kv_width(), c.hidden),
                        .value = load.matrix(c.kv_width(), c.hidden),
                        .output = load.matrix(c.hidden, query_width),
                        .mlp_norm = load.norm(c.hidden),
                        .gate = load.matrix(c.ffn, c.hidden),
                        .up = load.matrix(c.ffn, c.hidden),
                        .down = load.matrix(c.hidden, c.ffn)});
  }
  varve::layer layer{"head"};
  w.norm = load.norm(c.hidden);
  w.head = load.matrix(c.vocab, c.hidden);
  return w;
}

}  // namespace decoder

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef DECODER_CONFIG_HPP
#define DECODER_CONFIG_HPP

#include <cstdint>
#include <string_view>

namespace decoder {

/// Sizes of a Llama-style model.
struct model_config {
  std::int64_t layers = 8;
  std::int64_t hidden = 512;
  std::int64_t heads = 8;
  std::int64_t kv_heads = 2;  ///< divides heads
  std::int64_t ffn = 1376;    ///< width of the feed-forward part
  std::int64_t vocab = 4096;
  float norm_epsilon = 1e-5F;
  float rope_base = 10000.0F;

  [[nodiscard]] std::int64_t head_size() const { return hidden / heads; }
  [[nodiscard]] std::int64_t kv_width() const { return kv_heads * head_size(); }
  /// Throws std::invalid_argument, which names the sizes that don't fit together.
  void check() const;
};

/// The sizes of "tiny", "small", "125m", "opt-125m", "llama-1b", "llama-7b" or "llama-8b"; throws
/// std::invalid_argument for another name.
model_config preset(std::string_view name);

/// What memory is set aside for.
struct engine_limits {
  std::int64_t sequences = 0;
  std::int64_t rows = 0;     ///< tokens of one pass, all sequences together
  std::int64_t context = 0;  ///< tokens of one sequence
};

}  // namespace decoder

#endif  // DECODER_CONFIG_HPP

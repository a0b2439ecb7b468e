// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "config.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace decoder {

namespace {

void require(bool holds, const char* what) {
  if (!holds) {
    throw std::invalid_argument{what};
  }
}

}  // namespace

void model_config::check() const {
  require(std::min({layers, hidden, heads, kv_heads, ffn, vocab}) > 0, "all sizes must be positive");
  require(hidden % heads == 0, "hidden must be a multiple of heads");
  require(heads % kv_heads == 0, "heads must be a multiple of kv-heads");
  require(head_size() % 2 == 0, "hidden / heads must be even: rotary embedding turns pairs");
}

model_config preset(std::string_view name) {
  struct named {
    std::string_view name;
    std::int64_t layers, hidden, heads, kv_heads, ffn, vocab;
    float rope_base = 10000.0F;
  };
  // The last four as the models of these names; of OPT the sizes alone, not its norms and positions.
  static constexpr named all[] = {{"tiny", 2, 64, 4, 2, 172, 256},
                                  {"small", 8, 512, 8, 2, 1376, 4096},
                                  {"125m", 12, 768, 12, 4, 2048, 32000},
                                  {"opt-125m", 12, 768, 12, 12, 3072, 50272},
                                  {"llama-1b", 16, 2048, 32, 8, 8192, 128256, 500000.0F},
                                  {"llama-7b", 32, 4096, 32, 32, 11008, 32000},
                                  {"llama-8b", 32, 4096, 32, 8, 14336, 128256, 500000.0F}};
  std::string names;
  for (const named& p : all) {
    if (p.name == name) {
      model_config config;
      config.layers = p.layers;
      config.hidden = p.hidden;
      config.heads = p.heads;
      config.kv_heads = p.kv_heads;
      config.ffn = p.ffn;
      config.vocab = p.vocab;
      config.rope_base = p.rope_base;
      return config;
    }
    names += (names.empty() ? "" : ", ") + std::string{p.name};
  }
  throw std::invalid_argument{"no preset is called '" + std::string{name} + "': there are " + names};
}

}  // namespace decoder

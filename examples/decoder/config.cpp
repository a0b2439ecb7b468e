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
  model_config config;
  if (name == "tiny") {
    config.layers = 2;
    config.hidden = 64;
    config.heads = 4;
    config.kv_heads = 2;
    config.ffn = 172;
    config.vocab = 256;
  } else if (name == "125m") {
    config.layers = 12;
    config.hidden = 768;
    config.heads = 12;
    config.kv_heads = 4;
    config.ffn = 2048;
    config.vocab = 32000;
  } else if (name != "small") {
    throw std::invalid_argument{"no preset is called '" + std::string{name} + "': use tiny, small or 125m"};
  }
  return config;
}

}  // namespace decoder

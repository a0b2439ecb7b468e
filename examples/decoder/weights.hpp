// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef DECODER_WEIGHTS_HPP
#define DECODER_WEIGHTS_HPP

#include "backend.hpp"
#include "config.hpp"

#include <cstdint>
#include <vector>

namespace decoder {

struct layer_weights {
  tensor attention_norm;
  tensor query;
  tensor key;
  tensor value;
  tensor output;
  tensor mlp_norm;
  tensor gate;
  tensor up;
  tensor down;
};

struct weights {
  tensor embedding;
  std::vector<layer_weights> layers;
  tensor norm;
  tensor head;
};

/// Random weights, the same for the same seed, uploaded on `s`. A matrix [out, in] has variance 1 / in, so
/// that activations neither vanish nor explode; those of norms are around 1.
weights load_weights(memory& device, stream& s, const model_config& config, std::uint64_t seed);

}  // namespace decoder

#endif  // DECODER_WEIGHTS_HPP

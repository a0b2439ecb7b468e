// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The work of a transformer's passes, from its description.
#ifndef VARVE_MODEL_HPP
#define VARVE_MODEL_HPP

#include <varve/trace.hpp>
#include <varve/work.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace varve {
inline namespace v0 {

/// Tokens of one sequence in a pass.
struct sequence_tokens {
  std::int64_t tokens = 1;   ///< new ones
  std::int64_t context = 1;  ///< keys that the newest attends to, itself among them
  bool decode = true;
};

/// One operator of one layer in one pass.
struct operator_work {
  std::int32_t layer = no_index;  ///< none for the embedding, the last norm and the head
  std::string block;              ///< "attention", "mlp", "moe", "embedding", "head"
  std::string name;  ///< "qkv", "attention", "o", "gate_up", "down", "router", "experts", "norm", …
  work declared;
};

}  // namespace v0
}  // namespace varve

#endif  // VARVE_MODEL_HPP

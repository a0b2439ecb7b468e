// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The tensors that a layer holds, as checkpoints store them.
#ifndef VARVE_WORK_TENSORS_HPP
#define VARVE_WORK_TENSORS_HPP

#include <varve/model.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace tensors {

enum class part : std::uint8_t {
  qkv,
  output,
  gate,
  up,
  down,
  router,
  experts,
  shared,  // the last matrix
  qkv_bias,
  output_bias,
  mlp_bias,
  router_bias,
  expert_bias,
  norms,
  sinks
};

struct tensor {
  part belongs;
  std::int64_t n;  ///< outputs
  std::int64_t k;  ///< inputs; 1 for vectors
  weight_format format;
  std::int64_t copies = 1;
  std::int64_t used = 1;  ///< of the copies, for one token
};

std::vector<tensor> of(const model& m, const model_layer& layer);

/// Width of the table of tokens.
inline std::int64_t table_width(const model& m) {
  return m.embedding_width > 0 ? m.embedding_width : m.width;
}
/// Vectors of one norm.
inline std::int64_t norm_vectors(const model& m) { return m.norms == norm_kind::layer ? 2 : 1; }

}  // namespace tensors
}  // namespace v0
}  // namespace varve

#endif  // VARVE_WORK_TENSORS_HPP

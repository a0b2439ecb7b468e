// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Work of operators that join a list of tensors: the profiler notes the tensors' sizes and no type, but the
// kernels that copy them have the size of an element in their names.
#ifndef VARVE_FORMATS_PYTORCH_OPERATOR_JOINS_HPP
#define VARVE_FORMATS_PYTORCH_OPERATOR_JOINS_HPP

#include "formats/pytorch/amount.hpp"
#include "formats/pytorch/operator_inputs.hpp"

#include <varve/trace.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// A kind of operator that joins tensors.
struct joining_kind {
  std::uint32_t kind = none;  ///< in trace::operator_kinds
  amount elements;            ///< of all tensors together
};

/// Whether an operator joins the tensors of its first input along a dimension that they have.
[[nodiscard]] bool joins_tensors(std::string_view name, const operator_inputs& in) noexcept;

/// Bytes of an element that a kernel of PyTorch's which joins tensors copies; unknown for other kernels.
[[nodiscard]] amount joined_element_size(std::string_view kernel) noexcept;

/// Tells the work of these kinds, each element read once and written once, where all kernels that their calls
/// launched agree on its size. Activities are joined to operators. `kinds` are in ascending order.
void tell_joins(trace& t, const std::vector<joining_kind>& kinds);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_OPERATOR_JOINS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// FLOPs and bytes of an operator from the sizes and types of its inputs.
#ifndef VARVE_FORMATS_PYTORCH_OPERATOR_WORK_HPP
#define VARVE_FORMATS_PYTORCH_OPERATOR_WORK_HPP

#include "formats/pytorch/losses.hpp"
#include "formats/pytorch/operator_inputs.hpp"

#include <varve/work.hpp>

#include <string_view>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// What one call of the operator does, and where its FLOPs run as far as types tell; docs/metrics.md says how
/// it is counted. Empty where the operator is not known, its inputs do not fit it, their types are unknown,
/// or what it does depends on more than its inputs' shapes. Counts sizes of known types that no product has.
[[nodiscard]] work operator_work(std::string_view name, const operator_inputs& inputs, loss_counts& losses);

/// Whether the operator's work depends on values, not just on sizes and types.
[[nodiscard]] bool needs_values(std::string_view name) noexcept;

/// Whether it is known to do work that its inputs' shapes do not tell.
[[nodiscard]] bool needs_more_than_shapes(std::string_view name) noexcept;

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_OPERATOR_WORK_HPP

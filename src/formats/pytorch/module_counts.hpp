// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_PYTORCH_MODULE_COUNTS_HPP
#define VARVE_FORMATS_PYTORCH_MODULE_COUNTS_HPP

#include <varve/trace.hpp>

#include <cstddef>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// For each class of modules of which there are three or more: how many.
[[nodiscard]] std::vector<std::size_t> count_modules(const label_table& labels);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_MODULE_COUNTS_HPP

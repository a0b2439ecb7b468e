// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/report.hpp>

namespace varve {
inline namespace v0 {

std::string_view kernel_category(std::string_view kernel_name) noexcept {
  if (kernel_name.find("nccl") != std::string_view::npos) {
    return "collective";
  }
  if (kernel_name.find("gemm") != std::string_view::npos) {
    return "linear";
  }
  return "other";
}

}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The command that profiles one launch of a kernel in Nsight Compute.
#ifndef VARVE_PREDICT_NCU_HPP
#define VARVE_PREDICT_NCU_HPP

#include <string>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace predict {

/// For a POSIX shell, with ENGINE in place of the program. `label`: the name of a marker around the launch,
/// or empty. Empty for what is no function's name.
///     ncu --set full --launch-count 1 --kernel-name 'regex:(^|:)gemm$' ENGINE
[[nodiscard]] std::string profile_command(std::string_view kernel, std::string_view label);

}  // namespace predict
}  // namespace v0
}  // namespace varve

#endif  // VARVE_PREDICT_NCU_HPP

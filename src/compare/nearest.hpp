// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_COMPARE_NEAREST_HPP
#define VARVE_COMPARE_NEAREST_HPP

#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace comparing {

/// "; the nearest are "a", "b" and "c"" of the names, by the letters that would have to change; empty where
/// there are none. Looks at the first 64 bytes of each.
[[nodiscard]] std::string nearest(std::string_view to, const std::vector<std::string_view>& names);
/// The same of label paths, the last step of which may come near alone: `mpl` is near to "layer 0 / mlp".
[[nodiscard]] std::string nearest_paths(std::string_view to, const std::vector<std::string_view>& paths);

}  // namespace comparing
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_NEAREST_HPP

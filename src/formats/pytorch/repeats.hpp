// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Repeated blocks in a sequence of kernels: what the layers of a model look like when nothing names them.
#ifndef VARVE_FORMATS_PYTORCH_REPEATS_HPP
#define VARVE_FORMATS_PYTORCH_REPEATS_HPP

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// `count` blocks of `length` kernels each, from `first` on.
struct repeat {
  std::size_t first = 0;
  std::size_t length = 0;
  std::size_t count = 0;
  std::size_t kinds = 1;  ///< blocks that differ in a few kernels and take turns
};

/// The blocks that take most of the time, if that is at least half of all: three to 256 of three or more
/// kernels each, and exact repetitions of each other, or of a group of up to 8 blocks that differ in at most
/// a quarter of their kernels each. `names` and `times` by kernel. Where blocks may begin at several places,
/// they begin at the first for which `begins` is true, else at the first. Time and memory grow with the
/// number of kernels.
[[nodiscard]] std::optional<repeat> find_repeat(const std::vector<std::uint32_t>& names,
                                                const std::vector<time_ns>& times,
                                                const std::function<bool(std::size_t)>& begins);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_REPEATS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_TRACE_LAUNCHING_RANGES_HPP
#define VARVE_TRACE_LAUNCHING_RANGES_HPP

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {

/// In which range each activity was launched, by its correlation id. Holds on to the trace.
class launching_ranges {
 public:
  explicit launching_ranges(const trace& t);

  /// The range of the call that launched it, of several that share the id the first range; else the one that
  /// the trace names of the activity itself; or none.
  [[nodiscard]] std::uint32_t of(std::size_t activity) const noexcept;

 private:
  const trace& t_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> by_correlation_;
};

}  // namespace v0
}  // namespace varve

#endif  // VARVE_TRACE_LAUNCHING_RANGES_HPP

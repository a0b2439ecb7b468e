// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the rest of the analysis relies on: columns of one length, calls that do not end before they begin,
// times that can be subtracted, and records that are not scattered all over the time.
#ifndef VARVE_ANALYZE_REPAIR_HPP
#define VARVE_ANALYZE_REPAIR_HPP

#include <varve/trace.hpp>

#include <cstdint>

namespace varve {
inline namespace v0 {
namespace analysis {

struct repairs {
  std::uint64_t incomplete = 0;      ///< calls and activities that lack a column: left out
  std::uint64_t reversed_calls = 0;  ///< that ended before they began: taken as without length
  std::uint64_t absurd_times = 0;    ///< beyond ±146 years: taken as there
};

/// Rarely true.
[[nodiscard]] bool needs_repair(const trace& t) noexcept;
[[nodiscard]] repairs repair(trace& t);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_REPAIR_HPP

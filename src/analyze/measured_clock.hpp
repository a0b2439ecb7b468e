// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_ANALYZE_MEASURED_CLOCK_HPP
#define VARVE_ANALYZE_MEASURED_CLOCK_HPP

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>

namespace varve {
inline namespace v0 {
namespace analysis {

struct measured_clock {
  double hertz = 0;  ///< 0: too few readings
  std::size_t readings = 0;
};

/// The median of a device's SM clock over the readings that were taken while a kernel of it ran: one that
/// waits lowers its clock. Of all devices together where `device` is none.
[[nodiscard]] measured_clock measure_clock(const trace& t, std::uint32_t device);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_MEASURED_CLOCK_HPP

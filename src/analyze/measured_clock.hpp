// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_ANALYZE_MEASURED_CLOCK_HPP
#define VARVE_ANALYZE_MEASURED_CLOCK_HPP

#include <varve/trace.hpp>

#include <cstdint>

namespace varve {
inline namespace v0 {
namespace analysis {

/// The SM clock, in Hz, that gauges showed of a device while its kernels ran: the median over their time. Of
/// all devices together where `device` is none. 0 where no reading or no kernel tells.
[[nodiscard]] double measured_clock(const trace& t, std::uint32_t device);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_MEASURED_CLOCK_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Drives the stand-in's profilers: a chip that counts what it is told to have done in the range that is open.
// What it does is what we believe of CUPTI. Faults and misuses are those of control.hpp; standin::reset()
// resets it.
#ifndef VARVE_TESTS_STANDIN_CUPTI_COUNTERS_HPP
#define VARVE_TESTS_STANDIN_CUPTI_COUNTERS_HPP

#include "standin_cupti/control.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace standin {

/// "GH100", the default, or "small": its names for DRAM bytes are others, it knows FP32 operations and no
/// tensor cores. Any other is not known.
STANDIN_EXPORT void set_chip(const std::string& name);
/// The device does this now, whoever counts: "dram__bytes_read", 4096.
STANDIN_EXPORT void do_work(const std::string& metric, double value);

STANDIN_EXPORT void drop_ranges(std::size_t n);   ///< of the next that are decoded
STANDIN_EXPORT void want_pass_again(bool again);  ///< as when one pass was not enough

/// Not available on this machine, of the chip's: what is told of them leaves them out.
STANDIN_EXPORT void hide_counters(const std::string& beginning);

STANDIN_EXPORT bool profiler_enabled();
/// Of each start, its metrics.
STANDIN_EXPORT std::vector<std::vector<std::string>> turns_started();
STANDIN_EXPORT std::size_t ranges_pushed();

void reset_counters();

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_COUNTERS_HPP

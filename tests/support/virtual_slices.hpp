// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What one device did in each slice of time.
#ifndef VARVE_TESTS_SUPPORT_VIRTUAL_SLICES_HPP
#define VARVE_TESTS_SUPPORT_VIRTUAL_SLICES_HPP

#include <varve/report.hpp>

#include <vector>

#include "virtual_facts.hpp"

namespace virtual_device {

enum class device_state { compute, communication, copy, starved, device_gap, unrecorded };

struct slice {
  std::vector<std::size_t> running;  ///< works, from their clipped begins on
  device_state state = device_state::starved;
  std::size_t ended_by = SIZE_MAX;  ///< the work that ends the gap
};

/// A graph launch whose records are missing or fewer than its siblings'.
struct short_launch {
  ref call = none;
  bool empty = false;
  std::uint32_t device = 0;
  time_ns begin = 0;  ///< of the time in which its work may have run
  time_ns end = 0;
};

std::vector<short_launch> short_launches(const facts& f);

/// One entry a slice. Sets `ambiguous` where two works end a gap together.
std::vector<slice> slices_of(const facts& f, std::uint32_t device, const std::vector<short_launch>& missing,
                             bool& ambiguous);

/// Adds the slice's length by what `thread` did in it.
void add_starved(const facts& f, std::size_t slice, ref thread, varve::starved_time& to);

}  // namespace virtual_device

#endif  // VARVE_TESTS_SUPPORT_VIRTUAL_SLICES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Engines made up from a seed: threads, devices, passes, layers, graphs and everything else that the virtual
// device knows, in proportions that make the odd cases common.
#ifndef VARVE_TESTS_SUPPORT_VIRTUAL_SCENARIOS_HPP
#define VARVE_TESTS_SUPPORT_VIRTUAL_SCENARIOS_HPP

#include <cstdint>

#include "virtual_recording.hpp"

namespace virtual_device {

/// The same for the same seed, on every machine. Some 20 to 100 activities.
recording random_scenario(std::uint64_t seed);

/// Damages a recording in some of the ways that collectors do.
void damage(recording& r, random_source& random);

}  // namespace virtual_device

#endif  // VARVE_TESTS_SUPPORT_VIRTUAL_SCENARIOS_HPP

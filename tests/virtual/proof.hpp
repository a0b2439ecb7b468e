// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// analyze() against the truth.
#ifndef VARVE_TESTS_VIRTUAL_PROOF_HPP
#define VARVE_TESTS_VIRTUAL_PROOF_HPP

#include <varve/report.hpp>

#include <string>

#include "support/virtual_recording.hpp"

namespace virtual_device {

/// The report of the recording's trace. Fails the test where it is not what the truth says, whatever the
/// order of the records.
varve::report proved(const recording& r);

/// The row of `layers` with this path, phase and device; fails the test and gives an empty one where it is
/// missing.
const varve::row& layer_of(const varve::report& r, const std::string& path,
                           const std::string& phase = "decode", std::uint32_t device = 0,
                           const std::string& model = {});
/// Likewise among `phases`.
const varve::phase_row& phase_of(const varve::report& r, const std::string& phase = "decode",
                                 std::uint32_t device = 0, const std::string& model = {});

}  // namespace virtual_device

#endif  // VARVE_TESTS_VIRTUAL_PROOF_HPP

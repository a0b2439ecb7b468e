// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_TESTS_VIRTUAL_REPORT_DIFFERENCE_HPP
#define VARVE_TESTS_VIRTUAL_REPORT_DIFFERENCE_HPP

#include <varve/report.hpp>

#include <string>

namespace virtual_device {

/// The values in which a report differs from the truth, one a line, and what is wrong with the trees of its
/// rows; the first twenty. Empty when all is well. With
/// `ambiguous`, what is charged to single rows is not compared, nor how starved time splits.
std::string report_difference(const varve::report& expected, const varve::report& actual, bool ambiguous);

}  // namespace virtual_device

#endif  // VARVE_TESTS_VIRTUAL_REPORT_DIFFERENCE_HPP

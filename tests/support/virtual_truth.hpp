// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a report of a recording must say, counted slice by slice from what the machine knows: it joins nothing
// and looks at no trace. Quadratic: for scenarios of some hundred activities.
#ifndef VARVE_TESTS_SUPPORT_VIRTUAL_TRUTH_HPP
#define VARVE_TESTS_SUPPORT_VIRTUAL_TRUTH_HPP

#include <varve/report.hpp>

#include "virtual_recording.hpp"

namespace virtual_device {

struct truth {
  /// Rows in no particular order and without parents.
  varve::report expected;
  /// The definitions leave something open here: two activities end one gap, or two passes of several threads
  /// share an idle tail. Times charged to single rows, and how starved time splits, may differ.
  bool ambiguous = false;
};

truth truth_of(const recording& r);

}  // namespace virtual_device

#endif  // VARVE_TESTS_SUPPORT_VIRTUAL_TRUTH_HPP

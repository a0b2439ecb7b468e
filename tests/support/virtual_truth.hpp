// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a report of a recording must say, counted slice by slice from what the machine knows: it joins nothing
// and looks at no trace. Quadratic: for scenarios of some hundred activities.
//
// Where the definitions of docs/metrics.md leave room, the truth takes them so:
//  - A call that launched nothing, and a range in which nothing ran, count on the lowest device that their
//  row
//    is on, else on the lowest that passes of their kind run on, else on the lowest of all.
//  - A replay of a path inside a range with that same path is no call of its own: the range is.
//  - Work outside any layer has its passes for calls.
//  - Latency and queue delay belong to the row that the launch was made in, for kernels to the first one's.
//  - Captured calls count as building the graph where they keep the device waiting.
//  - In the idle tail of the implicit pass the thread is that which launched the last work.
#ifndef VARVE_TESTS_SUPPORT_VIRTUAL_TRUTH_HPP
#define VARVE_TESTS_SUPPORT_VIRTUAL_TRUTH_HPP

#include <varve/report.hpp>

#include "virtual_recording.hpp"

namespace virtual_device {

struct truth {
  /// Rows in no particular order and without parents.
  varve::report expected;
  /// The definitions give no single answer here: two activities end one gap, or passes of several threads
  /// share an idle tail. Times charged to single rows, and how starved time splits, may differ.
  bool ambiguous = false;
};

truth truth_of(const recording& r);

}  // namespace virtual_device

#endif  // VARVE_TESTS_SUPPORT_VIRTUAL_TRUTH_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A session that counts on a GPU, for the tests of counters.
#ifndef VARVE_TESTS_GPU_COUNTING_HPP
#define VARVE_TESTS_GPU_COUNTING_HPP

#include <algorithm>
#include <array>
#include <string>

#include "gpu/session_test.hpp"

namespace varve_gpu {

/// More than the sets of metrics that any chip's take turns at.
inline constexpr int counted_passes = 16;

inline varve::session_options counting(bool operations) {
  varve::session_options options;
  options.counters.enabled = true;
  options.counters.operations = operations;
  return options;
}

inline std::string detail_of(const varve::session& session) {
  for (const varve::collector_status& c : session.status().collectors) {
    if (c.name == "counters") {
      return c.detail;
    }
  }
  return {};
}

/// Whether this machine does not let a process count, as known from the first pass on: no privilege, a
/// virtual GPU or one without its licence, confidential computing, an instance of a partitioned GPU.
inline bool may_not_count(const std::string& detail) {
  constexpr std::array<const char*, 5> refusals{
      "CUPTI error 35:", "CUPTI error 33:", "CUPTI error 40:", "CUPTI error 41:", "CUPTI error 43:"};
  return std::any_of(refusals.begin(), refusals.end(),
                     [&](const char* text) { return detail.find(text) != std::string::npos; });
}

/// All passes and ranges were counted.
inline void expect_nothing_lost(const varve::trace& t) {
  for (const varve::loss& l : t.losses) {
    if (l.where == "counters") {
      ADD_FAILURE() << l.count << " " << l.what;
    }
  }
}

}  // namespace varve_gpu

#endif  // VARVE_TESTS_GPU_COUNTING_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Sessions over the stand-in libcupti, and what their traces say of a launch.
#ifndef VARVE_TESTS_CUDA_STANDIN_SESSION_HPP
#define VARVE_TESTS_CUDA_STANDIN_SESSION_HPP

#include "standin_cupti/control.hpp"

#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace varve_test {

inline constexpr const char* standin_library = "libcupti.so.13";

/// The stand-in as of the CUPTI that this process is to meet: there is one in a process.
inline standin::config standin_config() {
  standin::config c;
  const char* const version = std::getenv("VARVE_STANDIN_VERSION");
  c.version = version != nullptr ? static_cast<std::uint32_t>(std::atoi(version)) : c.version;
  return c;
}

inline varve::session_options on_standin() {
  varve::session_options options;
  options.gpu.cupti_library = standin_library;
  return options;
}

/// What "cupti" says of itself; empty when it is not there.
template <class Has>
varve::collector_status cupti_in(const Has& all) {
  const auto found = std::find_if(all.collectors.begin(), all.collectors.end(),
                                  [](const varve::collector_status& c) { return c.name == "cupti"; });
  return found != all.collectors.end() ? *found : varve::collector_status{};
}

/// Rows of trace::activities that this launch made, by begin.
inline std::vector<std::size_t> work_of(const varve::trace& t, const standin::done& launch) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < t.activities.size(); ++i) {
    if (t.activities.correlation[i] == launch.outer_correlation) {
      rows.push_back(i);
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return t.activities.begin[a] < t.activities.begin[b];
  });
  return rows;
}

/// The label path of each of its activities' nodes, in order: "capture / attention 0"; "" without one.
inline std::vector<std::string> labels_of(const varve::trace& t, const standin::done& launch) {
  std::vector<std::string> out;
  for (const std::size_t i : work_of(t, launch)) {
    const std::uint32_t node = t.activities.node[i];
    out.push_back(node != varve::none ? varve::label_text(t, t.graph_nodes[node].label) : "no node");
  }
  return out;
}

/// How many of its activities have a label that may be of an older version.
inline std::size_t stale_of(const varve::trace& t, const standin::done& launch) {
  const auto rows = work_of(t, launch);
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [&](std::size_t i) {
    return t.activities.node[i] != varve::none && t.graph_nodes[t.activities.node[i]].stale;
  }));
}

/// The path of the range that the call was made in.
inline std::string range_of(const varve::trace& t, std::uint32_t correlation) {
  for (std::size_t i = 0; i < t.calls.size(); ++i) {
    if (t.calls.correlation[i] == correlation) {
      return t.calls.range[i] != varve::none ? varve::label_text(t, t.ranges[t.calls.range[i]].label)
                                             : "no range";
    }
  }
  return "no call";
}

/// Each test on a fresh stand-in, armed or not; nothing is armed after it.
class over_standin : public testing::Test {
 protected:
  over_standin() { ::setenv("VARVE_CUPTI_LIBRARY", standin_library, 1); }
  ~over_standin() override {
    varve::disarm();
    EXPECT_THAT(standin::misuses(), testing::IsEmpty());
    EXPECT_FALSE(standin::subscribed());
  }
};

}  // namespace varve_test

#endif  // VARVE_TESTS_CUDA_STANDIN_SESSION_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Small traces by hand. Thread 0 and stream 0 of device 0 unless said otherwise.
#ifndef VARVE_TESTS_ANALYZE_TRACE_BUILDER_HPP
#define VARVE_TESTS_ANALYZE_TRACE_BUILDER_HPP

#include <varve/report.hpp>
#include <varve/trace.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace varve_test {

using varve::no_index;
using varve::none;
using varve::time_ns;

class trace_builder {
 public:
  trace_builder() {
    t.intern_thread(100);
    t.intern_stream({0, 1, 7});
  }

  std::uint32_t range(varve::range_kind kind, std::uint32_t parent, std::string_view name, std::int32_t index,
                      time_ns begin, time_ns end, std::uint16_t thread = 0) {
    const std::uint32_t above = parent == none ? none : t.ranges[parent].label;
    varve::range r;
    r.begin = begin;
    r.end = end;
    r.label = t.labels.intern({above, t.strings.intern(name), index, kind});
    r.parent = parent;
    r.thread = thread;
    r.kind = kind;
    t.ranges.push_back(r);
    return static_cast<std::uint32_t>(t.ranges.size() - 1);
  }
  std::uint32_t phase(std::string_view name, time_ns begin, time_ns end, std::uint32_t parent = none,
                      std::uint16_t thread = 0) {
    return range(varve::range_kind::phase, parent, name, no_index, begin, end, thread);
  }
  std::uint32_t layer(std::uint32_t parent, std::string_view name, std::int32_t index, time_ns begin,
                      time_ns end, std::uint16_t thread = 0) {
    return range(varve::range_kind::layer, parent, name, index, begin, end, thread);
  }

  /// A call and its correlation, which is new.
  std::uint32_t call(varve::call_kind kind, std::uint32_t in, time_ns begin, time_ns end,
                     std::uint16_t thread = 0, bool captured = false) {
    t.add_call({begin, end, ++correlation_, in, thread, kind, captured});
    return correlation_;
  }
  std::uint32_t launch(std::uint32_t in, time_ns begin, time_ns end, std::uint16_t thread = 0) {
    return call(varve::call_kind::launch, in, begin, end, thread);
  }

  void activity(varve::activity_kind kind, std::uint32_t correlation, time_ns begin, time_ns end,
                std::string_view name, std::uint16_t stream = 0, std::uint32_t node = none,
                std::uint32_t detail = none) {
    t.add_activity({begin, end, correlation, t.strings.intern(name), node, detail, stream, kind});
  }
  void kernel(std::uint32_t correlation, time_ns begin, time_ns end, std::string_view name = "k",
              std::uint16_t stream = 0, std::uint32_t node = none) {
    activity(varve::activity_kind::kernel, correlation, begin, end, name, stream, node);
  }
  void copy(std::uint32_t correlation, time_ns begin, time_ns end, std::int64_t bytes = 0,
            std::uint16_t stream = 0) {
    activity(varve::activity_kind::copy, correlation, begin, end, "memcpy", stream, none,
             t.intern_bytes(bytes));
  }

  /// A kernel with a launch [begin, end) of its own, on thread 0.
  void launched_kernel(std::uint32_t in, time_ns call_begin, time_ns call_end, time_ns begin, time_ns end,
                       std::string_view name = "k", std::uint16_t stream = 0) {
    kernel(launch(in, call_begin, call_end), begin, end, name, stream);
  }

  std::uint32_t label(std::uint32_t parent, std::string_view name, std::int32_t index = no_index,
                      varve::range_kind kind = varve::range_kind::layer) {
    return t.labels.intern({parent, t.strings.intern(name), index, kind});
  }
  std::uint32_t node(std::uint64_t id, std::uint32_t label, bool stale = false, varve::work declared = {}) {
    t.graph_nodes.push_back({id, label, stale, declared});
    return static_cast<std::uint32_t>(t.graph_nodes.size() - 1);
  }
  std::uint16_t stream(std::uint32_t device, std::uint64_t stream) {
    return t.intern_stream({device, 1, stream});
  }

  [[nodiscard]] varve::report analyze(const varve::analyze_options& options = {}) const {
    return varve::analyze(t, options);
  }

  varve::trace t;

 private:
  std::uint32_t correlation_ = 0;
};

/// The row of `rows` with this path, phase and device; fails the test and returns an empty one when there
/// is none, or more than one.
inline const varve::row& row_of(const std::vector<varve::row>& rows, std::string_view path,
                                std::string_view phase, std::uint32_t device = 0) {
  static const varve::row nothing;
  const varve::row* found = nullptr;
  for (const varve::row& r : rows) {
    if (r.path == path && r.phase == phase && r.device == device) {
      EXPECT_EQ(found, nullptr) << "two rows: " << path;
      found = &r;
    }
  }
  EXPECT_NE(found, nullptr) << "no row: " << phase << ": " << path;
  return found != nullptr ? *found : nothing;
}

inline const varve::phase_row& phase_of(const varve::report& r, std::string_view phase,
                                        std::uint32_t device = 0) {
  static const varve::phase_row nothing;
  for (const varve::phase_row& p : r.phases) {
    if (p.phase == phase && p.device == device) {
      return p;
    }
  }
  ADD_FAILURE() << "no phase: " << phase;
  return nothing;
}

}  // namespace varve_test

#endif  // VARVE_TESTS_ANALYZE_TRACE_BUILDER_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Windows of a virtual machine's time, cut where no pass is open: their reports added up are the report of
// the whole. Engines are made up from seeds; each window is one, after the one before.
#include <varve/report.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyze/report_values.hpp"
#include "support/virtual_recording.hpp"
#include "support/virtual_scenarios.hpp"

namespace varve_test {
namespace {

using virtual_device::recording;
using virtual_device::ref;

varve::time_ns end_of(const recording& r) {
  varve::time_ns end = 0;
  const auto look = [&](const auto& records) {
    for (const auto& x : records) {
      end = std::max(end, x.end);
    }
  };
  look(r.ranges);
  look(r.calls);
  look(r.activities);
  return end;
}

/// Appends what comes later on the same threads and streams.
void append(recording& to, const recording& from) {
  const auto moved = [](ref r, std::size_t by) { return r != varve::none ? r + static_cast<ref>(by) : r; };
  const std::size_t ranges = to.ranges.size();
  const std::size_t calls = to.calls.size();
  const std::size_t nodes = to.nodes.size();
  const std::size_t streams = to.streams.size();
  for (const std::uint32_t device : from.devices) {
    if (std::find(to.devices.begin(), to.devices.end(), device) == to.devices.end()) {
      to.devices.push_back(device);
    }
  }
  std::sort(to.devices.begin(), to.devices.end());
  to.streams.insert(to.streams.end(), from.streams.begin(), from.streams.end());
  to.threads = std::max(to.threads, from.threads);
  for (auto r : from.ranges) {
    r.parent = moved(r.parent, ranges);
    for (ref& request : r.serves) {
      request = moved(request, ranges);
    }
    to.ranges.push_back(std::move(r));
  }
  for (auto c : from.calls) {
    c.range = moved(c.range, ranges);
    c.outer = moved(c.outer, calls);
    c.stream = moved(c.stream, streams);
    to.calls.push_back(c);
  }
  for (auto a : from.activities) {
    a.stream = moved(a.stream, streams);
    a.call = moved(a.call, calls);
    a.node = moved(a.node, nodes);
    to.activities.push_back(std::move(a));
  }
  to.nodes.insert(to.nodes.end(), from.nodes.begin(), from.nodes.end());
}

/// Ids that no other window has.
void rename_ids(recording& r, std::uint32_t window) {
  for (auto& c : r.calls) {
    c.correlation += window * 1'000'000;
  }
  for (auto& n : r.nodes) {
    n.id += window * std::uint64_t{1'000'000};
  }
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}
bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string starved = std::to_string(static_cast<double>(varve::bound::starved));

/// What is of histograms, or of single windows (docs/metrics.md, "Reports that add up").
bool is_excepted(const std::string& name, const std::string& line) {
  return ends_with(name, ".p50") || ends_with(name, ".p95") || ends_with(name, ".p99") ||
         // positions, where rows stand in another order
         ends_with(name, ".parent") || (holds(name, ".findings") && ends_with(name, ".layer")) ||
         // host time of passes in no layer, where a window's passes ran nothing there
         (name.compare(0, 9, ".layers.|") == 0 && ends_with(name, ".host_time")) ||
         // starved time after a window's last activity: charged to no row, nor is known which thread's it is;
         // and what rests on it
         holds(name, ".starved") || (holds(name, ".verdict") && holds(line, "starved")) ||
         (ends_with(name, ".verdict.by") && holds(line, starved)) || holds(line, "is held up by") ||
         // of a window's shapes only the commonest is known, of a row's kernels only the longest
         ends_with(name, ".shapes") || holds(name, ".shape.") || holds(name, ".occupied") ||
         ends_with(name, ".main_kernel") || ends_with(name, ".next_step");
}

/// An engine on one device, the same in all windows: where several ran, what ran nothing counts on the lowest
/// that its kind of pass used, which differs between windows.
recording scenario_on_one_device(std::uint64_t& seed) {
  for (;;) {
    recording r = virtual_device::random_scenario(seed++);
    if (r.devices.size() == 1) {
      r.devices = {0};
      for (auto& s : r.streams) {
        s.device = 0;
      }
      return r;
    }
  }
}

class windows : public testing::TestWithParam<std::uint64_t> {};

TEST_P(windows, add_up_to_the_whole) {
  constexpr std::uint32_t count = 4;
  recording whole;
  varve::report total;
  varve::time_ns begin = 0;
  std::uint64_t seed = GetParam() * 100;
  const varve::analyze_options options = [] {
    varve::analyze_options o;
    o.histograms = true;
    return o;
  }();
  for (std::uint32_t w = 0; w < count; ++w) {
    recording r = scenario_on_one_device(seed);
    rename_ids(r, w);
    virtual_device::shift_clock(r, begin + 1000);
    append(whole, r);
    varve::trace t = virtual_device::to_trace(r);
    t.begin = begin;
    t.end = begin = end_of(r) + 500;
    varve::add_report(total, varve::analyze(t, options));
  }
  varve::trace t = virtual_device::to_trace(whole);
  t.begin = 0;
  t.end = begin;
  const varve::report expected = varve::analyze(t, options);
  EXPECT_EQ(difference(expected, total, is_excepted), "");
}

INSTANTIATE_TEST_SUITE_P(seeds, windows, testing::Range<std::uint64_t>(1, 61));

}  // namespace
}  // namespace varve_test

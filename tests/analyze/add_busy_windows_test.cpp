// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Windows that are cut where no pass is open, but the device still runs the last ones.
#include <varve/report.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "analyze/report_values.hpp"
#include "support/virtual_device.hpp"
#include "support/virtual_recording.hpp"

namespace varve_test {
namespace {

using virtual_device::recording;

/// An engine on one stream that prepares a pass while the device is busy with the one before: it waits for
/// the pass before that. After ten passes it rests.
recording running_ahead(int passes) {
  virtual_device::machine m;
  m.device(0);
  const virtual_device::stream s = m.new_stream(0);
  virtual_device::host& h = m.new_host();
  std::vector<virtual_device::event> done;
  for (int p = 0; p < passes; ++p) {
    virtual_device::scope pass = h.phase(p % 4 == 3 ? "prefill" : "decode");
    for (int i = 0; i < 2; ++i) {
      const virtual_device::scope layer = h.layer("layer", i);
      h.launch(s, "k", 20'000 + 1000 * p);
    }
    h.record(done.emplace_back(m.new_event()), s);
    if (p > 0) {
      h.synchronise(done[done.size() - 2]);
    }
    pass.end();
    h.spend(p == 9 ? virtual_device::ms : 3000);
  }
  return m.run();
}

/// Of a recording the passes from `first` to before `last`, with what they launched.
recording passes_of(recording r, std::size_t first, std::size_t last) {
  std::vector<bool> inside;
  std::size_t passes = 0;
  for (auto& x : r.ranges) {
    passes += x.parent == varve::none ? 1 : 0;
    inside.push_back(first < passes && passes <= last);
    x.recorded = inside.back();
  }
  for (auto& c : r.calls) {
    c.recorded = inside.at(c.range);
  }
  for (auto& a : r.activities) {
    a.recorded = r.calls.at(a.call).recorded;
  }
  return r;
}

bool ends_with_any(const std::string& text, const std::vector<std::string>& ends) {
  return std::any_of(ends.begin(), ends.end(), [&](const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
  });
}

/// By how much what has one of the names is larger in `sum` than in `whole`: least and most.
std::pair<double, double> more_in(const varve::report& sum, const varve::report& whole,
                                  const std::vector<std::string>& ends) {
  const report_values of_sum{sum};
  std::pair<double, double> out{0, 0};
  for (const auto& [name, value] : report_values{whole}.numbers) {
    if (ends_with_any(name, ends)) {
      const double more = of_sum.numbers.at(name) - value;
      out = {std::min(out.first, more), std::max(out.second, more)};
    }
  }
  return out;
}

// While the device runs on with the last pass before, a window takes it as idle.
TEST(windows_cut_while_the_device_is_busy, add_up_but_for_the_time_that_it_runs_on) {
  const recording all = running_ahead(20);
  const auto report_of = [](const recording& r, varve::time_ns begin, varve::time_ns end) {
    varve::trace t = virtual_device::to_trace(r);
    t.begin = begin;
    t.end = end;
    varve::analyze_options options;
    options.histograms = true;
    return varve::analyze(t, options);
  };
  varve::report sum;
  varve::time_ns running_on = 0;
  const std::size_t cuts[] = {0, 4, 6, 13, 20};  // the first after prefill, the others after decode
  for (std::size_t w = 0; w + 1 < std::size(cuts); ++w) {
    const auto begin = static_cast<varve::time_ns>(w);
    const varve::report window = report_of(passes_of(all, cuts[w], cuts[w + 1]), begin, begin + 1);
    if (w > 0) {
      const varve::time_ns more = sum.devices.at(0).passes_end - window.devices.at(0).passes_begin;
      EXPECT_GT(more, 0);
      running_on += more;
    }
    varve::add_report(sum, window);
  }
  const varve::report whole = report_of(all, 0, sum.end);
  const std::vector<std::string> larger{".starved.launching", ".starved.synchronising", ".starved.other",
                                        ".device_gap", "||0.wall"};
  const std::vector<std::string> smaller{".no_pass", "||0.partition.compute"};
  const std::vector<std::string> percentiles{".p50", ".p95", ".p99"};
  const auto is_excepted = [&](const std::string& name, const std::string&) {
    return ends_with_any(name, larger) || ends_with_any(name, smaller) || ends_with_any(name, percentiles) ||
           name.find(".quality.losses") != std::string::npos;
  };
  EXPECT_EQ(difference(whole, sum, is_excepted), "");
  const auto [none_less, more] = more_in(sum, whole, larger);
  EXPECT_EQ(none_less, 0);
  EXPECT_GT(more, 0);
  EXPECT_LE(more, running_on);
  const auto [less, none_more] = more_in(sum, whole, smaller);
  EXPECT_EQ(none_more, 0);
  EXPECT_LT(less, 0);
  EXPECT_GE(less, -running_on);
  const auto idle = [](const varve::report& r) {
    const varve::wall_partition& p = r.devices.at(0).partition;
    return p.starved.total() + p.device_gap;
  };
  EXPECT_GT(idle(sum), idle(whole));
  EXPECT_LE(idle(sum), idle(whole) + running_on);
  ASSERT_EQ(sum.quality.losses.size(), 1U);
  EXPECT_EQ(sum.quality.losses[0].count, 3U);
}

}  // namespace
}  // namespace varve_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Windows of a virtual machine's time, cut where no pass is open: their reports added up are the report of
// the whole. Engines are made up from seeds; each window is one, after the one before.
#include <varve/report.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyze/report_values.hpp"
#include "support/virtual_device.hpp"
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
         // starved time after a window's last activity: charged to no row; and what rests on it
         holds(name, "clusive.starved.") || holds(name, ".total.starved.") ||
         (holds(name, ".verdict") && holds(line, "starved")) ||
         (ends_with(name, ".verdict.by") && holds(line, starved)) || holds(line, "is held up by") ||
         // of a window's shapes only the commonest is known, of a row's kernels only the longest
         ends_with(name, ".shapes") || holds(name, ".shape.") || holds(name, ".occupied") ||
         ends_with(name, ".main_kernel") || ends_with(name, ".next_step");
}

/// All starved time by what it is of: ".phases.decode||0.partition".
std::map<std::string, double> starved_in(const varve::report& r) {
  std::map<std::string, double> out;
  for (const auto& [name, value] : report_values{r}.numbers) {
    const std::size_t part = name.find(".starved.");
    if (part != std::string::npos) {
      out[name.substr(0, part)] += value;
    }
  }
  return out;
}

/// That of phases and devices adds up, whichever part it is; rows have no more than in the whole.
void expect_starved_as_in(const varve::report& whole, const varve::report& sum) {
  const std::map<std::string, double> expected = starved_in(whole);
  for (const auto& [name, time] : starved_in(sum)) {
    if (ends_with(name, ".partition")) {
      EXPECT_EQ(time, expected.at(name)) << name;
    } else {
      EXPECT_LE(time, expected.at(name)) << name;
    }
  }
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

/// Analyzes windows one after another, and all of it at once.
class session {
 public:
  void add(recording r) {
    rename_ids(r, ++windows_);
    virtual_device::shift_clock(r, end_ + 1000);
    append(whole_, r);
    const varve::time_ns begin = end_;
    end_ = end_of(r) + 500;
    varve::add_report(sum, analyze(r, begin));
  }
  [[nodiscard]] varve::report whole() const { return analyze(whole_, 0); }
  [[nodiscard]] ref threads() const { return whole_.threads; }

  varve::report sum;

 private:
  [[nodiscard]] varve::report analyze(const recording& r, varve::time_ns begin) const {
    varve::trace t = virtual_device::to_trace(r);
    t.begin = begin;
    t.end = end_;
    varve::analyze_options options;
    options.histograms = true;
    return varve::analyze(t, options);
  }

  recording whole_;
  varve::time_ns end_ = 0;
  std::uint32_t windows_ = 0;
};

class windows : public testing::TestWithParam<std::uint64_t> {};

TEST_P(windows, add_up_to_the_whole) {
  session s;
  std::uint64_t seed = GetParam() * 100;
  for (int w = 0; w < 4; ++w) {
    s.add(scenario_on_one_device(seed));
  }
  const varve::report whole = s.whole();
  // With several threads it isn't known which one's starved time it is.
  const auto is_excepted_here = [&](const std::string& name, const std::string& line) {
    return is_excepted(name, line) || (s.threads() > 1 && holds(name, ".partition.starved."));
  };
  EXPECT_EQ(difference(whole, s.sum, is_excepted_here), "");
  expect_starved_as_in(whole, s.sum);
}

INSTANTIATE_TEST_SUITE_P(seeds, windows, testing::Range<std::uint64_t>(1, 61));

/// Passes of two layers on two devices that reduce after each; the second device is always 5 µs behind.
recording tensor_parallel(int passes) {
  virtual_device::machine m;
  m.device(0);
  m.device(1);
  const virtual_device::stream streams[] = {m.new_stream(0), m.new_stream(1)};
  virtual_device::host& h = m.new_host();
  for (int p = 0; p < passes; ++p) {
    virtual_device::scope pass = h.phase(p % 3 == 2 ? "prefill" : "decode", "target");
    pass.attribute(VARVE_DECODE_TOKENS, 16);
    for (int i = 0; i < 2; ++i) {
      const virtual_device::scope layer = h.layer("layer", i);
      for (const virtual_device::stream& s : streams) {
        h.launch(s, "ampere_sgemm_128x64_tn", 40'000 + 1000 * p);
      }
      for (const virtual_device::stream& s : streams) {
        h.launch(s, {"ncclDevKernel_AllReduce_Sum_bf16", 9000, 0, -1, "collective"});
      }
    }
    h.synchronise_device(0);
    h.synchronise_device(1);
  }
  return m.run();
}

// All but percentiles and what the 5 µs are charged to for which the first device waits in each window's last
// pass.
TEST(windows_of_two_devices, add_up_to_the_whole) {
  session s;
  for (const int passes : {1, 5, 2, 3}) {
    s.add(tensor_parallel(passes));
  }
  const auto is_charged = [](const std::string& name, const std::string&) {
    const bool row = holds(name, "clusive.starved") || holds(name, ".total.starved");
    return row || ends_with(name, ".p50") || ends_with(name, ".p95") || ends_with(name, ".p99");
  };
  const varve::report whole = s.whole();
  EXPECT_EQ(whole.devices.size(), 2U);
  EXPECT_EQ(whole.collectives.size(), 4U);
  EXPECT_EQ(difference(whole, s.sum, is_charged), "");
  expect_starved_as_in(whole, s.sum);
}

}  // namespace
}  // namespace varve_test

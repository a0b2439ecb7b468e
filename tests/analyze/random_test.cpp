// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Random traces: against the definitions taken literally, sums that must agree, and records in any order.
#include "analyze/random_trace.hpp"
#include "analyze/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace {

using namespace varve_test;

time_ns starved_of(const varve::starved_time& s, const std::string& what) {
  return what == "launching"       ? s.launching
         : what == "building"      ? s.graph_building
         : what == "synchronising" ? s.synchronising
         : what == "allocating"    ? s.allocating
                                   : s.other;
}

void expect_parts(const varve::wall_partition& p, std::map<std::string, time_ns> expected) {
  EXPECT_EQ(p.compute, expected["compute"]);
  EXPECT_EQ(p.exposed_communication, expected["communication"]);
  EXPECT_EQ(p.exposed_copy, expected["copy"]);
  for (const char* what : {"launching", "building", "synchronising", "allocating", "other"}) {
    EXPECT_EQ(starved_of(p.starved, what), expected[what]) << what;
  }
  EXPECT_EQ(p.device_gap, expected["gap"]);
  EXPECT_EQ(p.unrecorded, expected["unrecorded"]);
  EXPECT_EQ(p.no_pass, expected["no pass"]);
}

// A trace whose launching calls carry the correlation of the call that the kernel is joined to.
varve::trace joined(varve::trace t) {
  // The reference joins by correlation alone: an inner call's correlation moves to the outer one.
  for (std::uint32_t c = 1; c < t.calls.size(); ++c) {
    if (t.calls.correlation[c - 1] == 0 && t.calls.thread[c] == t.calls.thread[c - 1] &&
        t.calls.begin[c] > t.calls.begin[c - 1] && t.calls.end[c] < t.calls.end[c - 1]) {
      std::swap(t.calls.correlation[c], t.calls.correlation[c - 1]);
    }
  }
  return t;
}

TEST(random, every_instant_counts_as_the_definitions_say) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const random_trace b{seed};
    const varve::report r = b.analyze();
    if (r.quality.implicit_pass) {
      continue;
    }
    const varve::trace simple = joined(b.t);
    const reference expected{simple, horizon};
    for (const varve::row& row : r.layers) {
      SCOPED_TRACE(row.phase + ": " + row.path);
      const auto found = expected.rows.find({row.phase, row.path, row.device});
      const reference_row e = found != expected.rows.end() ? found->second : reference_row{};
      EXPECT_EQ(row.exclusive.gpu_time, e.own);
      EXPECT_EQ(row.inclusive.gpu_time, e.all);
      EXPECT_NEAR(row.exclusive.shared_time, e.shared, 1e-6);
      EXPECT_EQ(row.exclusive.alone_time, e.alone);
      EXPECT_EQ(row.inclusive.alone_time, e.alone_all);
      for (const auto& [what, time] : e.idle) {
        EXPECT_EQ(what == "gap" ? row.exclusive.device_gap : starved_of(row.exclusive.starved, what), time)
            << what;
      }
      time_ns charged = 0;
      for (const auto& [what, time] : e.idle) {
        charged += time;
      }
      EXPECT_EQ(row.exclusive.starved.total() + row.exclusive.device_gap, charged);
    }
    for (const auto& [key, e] : expected.rows) {
      EXPECT_EQ(row_of(r.layers, std::get<1>(key), std::get<0>(key), std::get<2>(key)).inclusive.gpu_time,
                e.all);
    }
    for (const auto& [key, e] : expected.labels) {
      const varve::row& row = row_of(r.labels, std::get<1>(key), std::get<0>(key), std::get<2>(key));
      EXPECT_EQ(row.inclusive.gpu_time, e.all);
      EXPECT_EQ(row.inclusive.alone_time, e.alone_all);
      EXPECT_NEAR(row.inclusive.shared_time, e.shared, 1e-6);
    }
    for (const varve::phase_row& phase : r.phases) {
      SCOPED_TRACE(phase.phase);
      const auto found = expected.walls.find({phase.phase, phase.device});
      expect_parts(phase.partition,
                   found != expected.walls.end() ? found->second : std::map<std::string, time_ns>{});
    }
    for (const varve::device_row& device : r.devices) {
      expect_parts(device.partition, expected.whole.at(device.device.id));
    }
  }
}

TEST(random, single_passes_are_as_the_definitions_say) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const random_trace b{seed};
    varve::analyze_options options;
    options.most_samples = 1 + seed % 4;
    const varve::report r = b.analyze(options);
    if (r.quality.implicit_pass) {
      continue;
    }
    const varve::trace simple = joined(b.t);
    const reference expected{simple, horizon};
    for (const varve::phase_row& phase : r.phases) {
      SCOPED_TRACE(phase.phase);
      const std::vector<std::uint32_t> passes = expected.passes_of(phase.phase, phase.device);
      const std::size_t stride = (passes.size() + options.most_samples - 1) / options.most_samples;
      const auto times_of = [&](const std::string& path) {
        std::vector<time_ns> out;
        for (std::size_t p = 0; p < passes.size(); p += stride) {
          const auto found = expected.in_pass.find({passes[p], path, phase.device});
          out.push_back(found != expected.in_pass.end() ? found->second : 0);
        }
        return out;
      };
      std::vector<time_ns> steps;
      for (std::size_t p = 0; p < passes.size(); p += stride) {
        steps.push_back(expected.length_of(passes[p]));
      }
      EXPECT_EQ(phase.samples.stride, static_cast<std::int64_t>(stride));
      EXPECT_EQ(phase.samples.step, steps);
      EXPECT_EQ(phase.samples.gpu_time, times_of("*"));
      for (const varve::row& row : r.layers) {
        if (row.phase == phase.phase && row.device == phase.device) {
          EXPECT_EQ(row.per_pass, times_of(row.path)) << row.path;
        }
      }
    }
  }
}

TEST(random, sums_agree) {
  for (std::uint64_t seed = 1000; seed < 1400; ++seed) {
    SCOPED_TRACE(seed);
    const random_trace b{seed};
    const varve::report r = b.analyze();
    for (const varve::phase_row& phase : r.phases) {
      EXPECT_EQ(phase.partition.wall(), phase.wall);
      varve::measures sum;
      for (const varve::row& row : r.layers) {
        if (row.phase != phase.phase || row.device != phase.device) {
          continue;
        }
        sum.kernel_time += row.exclusive.kernel_time;
        sum.kernels += row.exclusive.kernels;
        sum.copies += row.exclusive.copies;
        sum.sets += row.exclusive.sets;
        sum.overlap += row.exclusive.overlap;
        sum.launches += row.exclusive.launches;
        sum.launch_time += row.exclusive.launch_time;
        sum.synchronise_time += row.exclusive.synchronise_time;
        sum.graph_build_time += row.exclusive.graph_build_time;
        sum.allocate_time += row.exclusive.allocate_time;
        sum.shared_time += row.exclusive.shared_time;
        sum.device_gap += row.exclusive.device_gap;
        sum.starved.launching += row.exclusive.starved.launching;
        sum.starved.other += row.exclusive.starved.other;
      }
      EXPECT_EQ(sum.kernel_time, phase.total.kernel_time);
      EXPECT_EQ(sum.kernels, phase.total.kernels);
      EXPECT_EQ(sum.copies, phase.total.copies);
      EXPECT_EQ(sum.sets, phase.total.sets);
      EXPECT_EQ(sum.overlap, phase.total.overlap);
      EXPECT_EQ(sum.launches, phase.total.launches);
      EXPECT_EQ(sum.launch_time, phase.total.launch_time);
      EXPECT_EQ(sum.synchronise_time, phase.total.synchronise_time);
      EXPECT_EQ(sum.graph_build_time, phase.total.graph_build_time);
      EXPECT_EQ(sum.allocate_time, phase.total.allocate_time);
      EXPECT_NEAR(sum.shared_time, phase.total.shared_time, 1e-6);
      EXPECT_EQ(sum.device_gap, phase.total.device_gap);
      EXPECT_EQ(sum.starved.launching, phase.total.starved.launching);
      EXPECT_EQ(sum.starved.other, phase.total.starved.other);
    }
    for (const varve::device_row& device : r.devices) {
      double layers = 0;
      double kernels = 0;
      double categories = 0;
      time_ns kernel_time = 0;
      std::int64_t count = 0;
      for (const varve::row& row : r.layers) {
        layers += row.device == device.device.id ? row.exclusive.shared_time : 0;
      }
      for (const varve::row& row : r.kernels) {
        kernels += row.device == device.device.id ? row.inclusive.shared_time : 0;
        kernel_time += row.device == device.device.id ? row.inclusive.kernel_time : 0;
        count += row.device == device.device.id ? row.inclusive.kernels : 0;
        EXPECT_EQ(row.per_call.count, row.inclusive.calls);
      }
      for (const varve::row& row : r.categories) {
        categories += row.device == device.device.id ? row.inclusive.shared_time : 0;
      }
      const auto busy = static_cast<double>(device.busy);
      EXPECT_NEAR(layers, busy, 1e-6);
      EXPECT_NEAR(kernels, busy, 1e-6);
      EXPECT_NEAR(categories, busy, 1e-6);
      EXPECT_EQ(kernel_time, device.kernel_time);
      EXPECT_EQ(count, device.kernels);
    }
    for (const varve::row& row : r.layers) {
      EXPECT_EQ(row.per_call.count, row.inclusive.calls);
      EXPECT_GE(row.inclusive.gpu_time, row.exclusive.gpu_time);
      EXPECT_LE(row.inclusive.gpu_time, row.inclusive.span);
      EXPECT_LE(row.launch_latency.count, row.inclusive.launches);
    }
  }
}

bool operator_equal(const varve::distribution& a, const varve::distribution& b) {
  return a.count == b.count && a.total == b.total && a.min == b.min && a.max == b.max && a.p50 == b.p50 &&
         a.p95 == b.p95 && a.p99 == b.p99 && a.mean == b.mean && a.deviation == b.deviation;
}

void expect_equal(const varve::measures& a, const varve::measures& b) {
  EXPECT_EQ(a.calls, b.calls);
  EXPECT_EQ(a.gpu_time, b.gpu_time);
  EXPECT_EQ(a.kernel_time, b.kernel_time);
  EXPECT_EQ(a.span, b.span);
  EXPECT_EQ(a.shared_time, b.shared_time);  // to the last bit
  EXPECT_EQ(a.alone_time, b.alone_time);
  EXPECT_EQ(a.overlap, b.overlap);
  EXPECT_EQ(a.host_time, b.host_time);
  EXPECT_EQ(a.launches, b.launches);
  EXPECT_EQ(a.launch_time, b.launch_time);
  EXPECT_EQ(a.starved.total(), b.starved.total());
  EXPECT_EQ(a.device_gap, b.device_gap);
}

void expect_equal(const std::vector<varve::row>& a, const std::vector<varve::row>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    SCOPED_TRACE(a[k].path);
    EXPECT_EQ(a[k].path, b[k].path);
    EXPECT_EQ(a[k].phase, b[k].phase);
    EXPECT_EQ(a[k].device, b[k].device);
    expect_equal(a[k].inclusive, b[k].inclusive);
    expect_equal(a[k].exclusive, b[k].exclusive);
    EXPECT_TRUE(operator_equal(a[k].per_call, b[k].per_call));
    EXPECT_TRUE(operator_equal(a[k].launch_latency, b[k].launch_latency));
    EXPECT_TRUE(operator_equal(a[k].queue_delay, b[k].queue_delay));
    EXPECT_EQ(a[k].per_pass, b[k].per_pass);
    EXPECT_EQ(a[k].main_kernel, b[k].main_kernel);
  }
}

/// The records of a trace in another order.
varve::trace shuffled(const varve::trace& t, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  varve::trace out = t;
  std::vector<std::size_t> order(t.calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  out.calls = {};
  for (const std::size_t c : order) {
    out.add_call({t.calls.begin[c], t.calls.end[c], t.calls.correlation[c], t.calls.range[c],
                  t.calls.thread[c], t.calls.kind[c], t.calls.captured[c] != 0});
  }
  order.resize(t.activities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  out.activities = {};
  for (const std::size_t i : order) {
    const varve::activity_columns& a = t.activities;
    out.add_activity(
        {a.begin[i], a.end[i], a.correlation[i], a.name[i], a.node[i], a.detail[i], a.stream[i], a.kind[i]});
  }
  return out;
}

TEST(random, the_order_of_the_records_does_not_matter) {
  for (std::uint64_t seed = 2000; seed < 2300; ++seed) {
    SCOPED_TRACE(seed);
    const random_trace b{seed};
    const varve::report one = b.analyze();
    const varve::report other = varve::analyze(shuffled(b.t, seed));
    expect_equal(one.layers, other.layers);
    expect_equal(one.labels, other.labels);
    expect_equal(one.kernels, other.kernels);
    expect_equal(one.categories, other.categories);
    ASSERT_EQ(one.phases.size(), other.phases.size());
    for (std::size_t p = 0; p < one.phases.size(); ++p) {
      EXPECT_EQ(one.phases[p].partition.starved.other, other.phases[p].partition.starved.other);
      EXPECT_EQ(one.phases[p].partition.device_gap, other.phases[p].partition.device_gap);
      EXPECT_EQ(one.phases[p].wall, other.phases[p].wall);
      expect_equal(one.phases[p].total, other.phases[p].total);
    }
    EXPECT_EQ(one.quality.matched, other.quality.matched);
    EXPECT_EQ(one.quality.negative_delays, other.quality.negative_delays);
    EXPECT_EQ(one.quality.attributed, other.quality.attributed);
  }
}

// A longer trace, so that records in a random order are worth sorting first.
TEST(random, scattered_records_change_nothing) {
  trace_builder b;
  std::mt19937_64 random{7};
  const auto side = b.stream(0, 8);
  for (time_ns step = 0; step < 40; ++step) {
    const time_ns at = 1 + 1000000 * step;
    const auto pass = b.phase("decode", at, at + 900000);
    for (int l = 0; l < 20; ++l) {
      const time_ns begin = at + 40000 * l;
      const auto layer = b.layer(pass, "layer", l, begin, begin + 30000);
      for (int k = 0; k < 25; ++k) {
        const time_ns launch = begin + 1000 * k;
        const auto start = launch + 500 + static_cast<time_ns>(random() % 3000);
        b.launched_kernel(layer, launch, launch + 400, start, start + static_cast<time_ns>(random() % 2000),
                          "k", random() % 3 == 0 ? side : std::uint16_t{0});
      }
    }
  }
  const varve::report one = b.analyze();
  const varve::report other = varve::analyze(shuffled(b.t, 8));
  ASSERT_EQ(one.layers.size(), 20U);
  EXPECT_EQ(one.layers[0].launch_latency.count, 40 * 25);
  expect_equal(one.layers, other.layers);
  expect_equal(one.kernels, other.kernels);
  EXPECT_EQ(one.phases.at(0).partition.busy(), other.phases.at(0).partition.busy());
  EXPECT_EQ(one.phases.at(0).partition.device_gap, other.phases.at(0).partition.device_gap);
}

}  // namespace

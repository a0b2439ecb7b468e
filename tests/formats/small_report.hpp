// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A report of one decode phase, small enough to check a table of it by hand.
#ifndef VARVE_TESTS_FORMATS_SMALL_REPORT_HPP
#define VARVE_TESTS_FORMATS_SMALL_REPORT_HPP

#include <varve/report.hpp>

#include <string>

namespace testing_support {

/// A distribution of `count` times of which only what tables print is set.
inline varve::distribution times(std::int64_t count, double mean, varve::time_ns p50, varve::time_ns p95,
                                 varve::time_ns max) {
  varve::distribution d;
  d.count = count;
  d.total = static_cast<varve::time_ns>(mean * static_cast<double>(count));
  d.mean = mean;
  d.p50 = p50;
  d.p95 = p95;
  d.max = max;
  return d;
}

/// A row of two calls whose GPU time is `gpu` µs, the longer call taking 60 %.
inline varve::row layer(std::string path, std::string label, std::int32_t index, std::uint32_t parent,
                        std::int64_t gpu, std::int64_t launches) {
  varve::row r;
  r.path = std::move(path);
  r.label = std::move(label);
  r.index = index;
  r.parent = parent;
  r.depth = parent == varve::none ? 0 : 1;
  r.phase = "decode";
  r.inclusive.calls = 2;
  r.inclusive.gpu_time = gpu * 1000;
  r.inclusive.kernel_time = gpu * 1000;
  r.inclusive.launches = launches;
  r.inclusive.launch_time = launches * 5000;
  r.exclusive = r.inclusive;
  const auto total = static_cast<double>(gpu) * 1000;
  r.per_call = times(2, total / 2, static_cast<varve::time_ns>(total * 0.4),
                     static_cast<varve::time_ns>(total * 0.6), static_cast<varve::time_ns>(total * 0.6));
  return r;
}

/// Two passes of 5 ms: 7.5 ms busy (6 compute, 1 communication, 0.5 copy), 1.5 ms starved (1 launching, 0.5
/// other), 1 ms device gap. Layers: 4.5 ms (attention 1.5, mlp 3) and 2.94 ms (attention 0.9, mlp 2.04);
/// embedding and sampling 0.03 ms each: 4.5 + 2.94 + 0.06 = 7.5 ms.
inline varve::report small_report() {
  varve::report r;
  r.source = "session";
  r.begin = 1000000;
  r.end = 13000000;
  varve::device_row device;
  device.device.name = "GPU X";
  device.busy = 7500000;
  device.kernel_time = 7200000;
  device.kernel_union = 7000000;
  device.gpu_span = 9800000;
  device.kernels = 1400;
  r.devices.push_back(device);

  varve::phase_row phase;
  phase.phase = "decode";
  phase.passes = 2;
  phase.wall = 10000000;
  phase.step = times(2, 5e6, 4900000, 5100000, 5100000);
  phase.partition.compute = 6000000;
  phase.partition.exposed_communication = 1000000;
  phase.partition.exposed_copy = 500000;
  phase.partition.starved.launching = 1000000;
  phase.partition.starved.other = 500000;
  phase.partition.device_gap = 1000000;
  phase.gpu_span = 9800000;
  phase.decode_tokens = 8;
  phase.total.gpu_time = 7500000;
  phase.total.kernel_time = 7500000;
  phase.total.launches = 1400;
  phase.total.launch_time = 7000000;
  phase.queue_delay = times(1400, 20000, 12000, 80000, 90000);
  r.phases.push_back(phase);

  r.layers = {layer("embedding", "embedding", varve::no_index, varve::none, 30, 10),
              layer("layer 0", "layer", 0, varve::none, 4500, 700),
              layer("layer 0 / attention", "attention", varve::no_index, 1, 1500, 500),
              layer("layer 0 / mlp", "mlp", varve::no_index, 1, 3000, 200),
              layer("layer 1", "layer", 1, varve::none, 2940, 680),
              layer("layer 1 / attention", "attention", varve::no_index, 4, 900, 480),
              layer("layer 1 / mlp", "mlp", varve::no_index, 4, 2040, 200),
              layer("sampling", "sampling", varve::no_index, varve::none, 30, 10)};
  for (const std::size_t parent : {1U, 4U}) {
    r.layers[parent].exclusive = {};  // all of it runs in the ranges inside
  }
  r.quality.attributed = 1;
  r.quality.activities = 1400;
  r.quality.matched = 1400;
  r.quality.clock = "test clock";
  return r;
}

}  // namespace testing_support

#endif  // VARVE_TESTS_FORMATS_SMALL_REPORT_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Reports made by hand: one phase "decode" and layers in it.
#ifndef VARVE_TESTS_PREDICT_DECODE_REPORT_HPP
#define VARVE_TESTS_PREDICT_DECODE_REPORT_HPP

#include <varve/report.hpp>

#include <cstdint>
#include <string>

namespace testing_support {

/// `passes` of a wall in which the device was busy for `busy` and starved while the host launched.
inline varve::report decode(std::int64_t passes, varve::time_ns busy, varve::time_ns starved) {
  varve::report r;
  varve::phase_row& p = r.phases.emplace_back();
  p.phase = "decode";
  p.passes = passes;
  p.wall = busy + starved;
  p.partition.compute = busy;
  p.partition.starved.launching = starved;
  p.total.gpu_time = busy;
  return r;
}

/// A row of decode without anything inside.
inline varve::row& add_layer(varve::report& r, const std::string& label, std::int32_t index,
                             std::int64_t calls, varve::time_ns gpu_time,
                             std::uint32_t parent = varve::none) {
  varve::row& layer = r.layers.emplace_back();
  layer.phase = "decode";
  layer.label = label;
  layer.index = index;
  layer.parent = parent;
  const std::string step = index == varve::no_index ? label : label + " " + std::to_string(index);
  layer.path = parent == varve::none ? step : r.layers[parent].path + " / " + step;
  layer.inclusive.calls = calls;
  layer.inclusive.kernels = calls;
  layer.inclusive.gpu_time = gpu_time;
  layer.exclusive = layer.inclusive;
  return layer;
}

}  // namespace testing_support

#endif  // VARVE_TESTS_PREDICT_DECODE_REPORT_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "proof.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "report_difference.hpp"
#include "support/virtual_truth.hpp"

namespace virtual_device {

varve::report proved(const recording& r) {
  const truth known = truth_of(r);
  const varve::report report = varve::analyze(to_trace(r));
  const std::string as_recorded = report_difference(known.expected, report, known.ambiguous);
  EXPECT_TRUE(as_recorded.empty()) << as_recorded;
  random_source order{1};
  const varve::report shuffled = varve::analyze(to_trace(r, &order));
  const std::string in_another_order = report_difference(known.expected, shuffled, known.ambiguous);
  EXPECT_TRUE(in_another_order.empty()) << "with the records in another order:\n" << in_another_order;
  return report;
}

const varve::row& layer_of(const varve::report& r, const std::string& path, const std::string& phase,
                           std::uint32_t device, const std::string& model) {
  static const varve::row missing;
  const auto found = std::find_if(r.layers.begin(), r.layers.end(), [&](const varve::row& row) {
    return row.path == path && row.phase == phase && row.device == device && row.model == model;
  });
  if (found == r.layers.end()) {
    ADD_FAILURE() << "no row \"" << path << "\" in phase \"" << phase << "\" on device " << device;
    return missing;
  }
  return *found;
}

const varve::phase_row& phase_of(const varve::report& r, const std::string& phase, std::uint32_t device,
                                 const std::string& model) {
  static const varve::phase_row missing;
  const auto found = std::find_if(r.phases.begin(), r.phases.end(), [&](const varve::phase_row& row) {
    return row.phase == phase && row.device == device && row.model == model;
  });
  if (found == r.phases.end()) {
    ADD_FAILURE() << "no phase \"" << phase << "\" on device " << device;
    return missing;
  }
  return *found;
}

}  // namespace virtual_device

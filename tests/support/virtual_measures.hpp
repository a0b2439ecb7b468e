// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Sums over slices: what a selection of works and calls adds up to on a device.
#ifndef VARVE_TESTS_SUPPORT_VIRTUAL_MEASURES_HPP
#define VARVE_TESTS_SUPPORT_VIRTUAL_MEASURES_HPP

#include <varve/report.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "virtual_facts.hpp"
#include "virtual_slices.hpp"

namespace virtual_device {

/// Calls whose time is measured: not those of events, host functions and the like, nor copies and sets.
bool is_measured(const facts& f, const call_fact& c);

varve::distribution distribution_of(std::vector<time_ns> values);

/// What decides whether something counts in a row.
struct selection {
  std::function<bool(const work_fact&)> work;
  std::function<bool(const call_fact&)> call;
  /// What shares the device with what.
  std::function<std::string(const work_fact&)> sharer;
};

class measuring {
 public:
  explicit measuring(const recording& r);

  [[nodiscard]] const activity_record& activity(const work_fact& w) const {
    return f.source.activities[w.activity];
  }
  /// Length of the union of the intervals of the works that `chosen` takes.
  [[nodiscard]] time_ns union_of(std::uint32_t device,
                                 const std::function<bool(const work_fact&)>& chosen) const;
  /// Likewise, kernels by their whole intervals.
  [[nodiscard]] time_ns kernel_union(const std::function<bool(const work_fact&)>& chosen) const;
  /// All but calls, host time and declared work.
  [[nodiscard]] varve::measures measure(std::uint32_t device, const selection& chosen) const;
  /// Of each launch to its first work.
  void delays(std::uint32_t device, const selection& chosen, varve::distribution& latency,
              varve::distribution& queue) const;
  /// Of the union of the passes that count.
  void partition_of(std::uint32_t device, const std::function<bool(const pass_fact&)>& counts,
                    varve::wall_partition& p);

  facts f;
  std::vector<short_launch> missing;
  bool ambiguous = false;

 private:
  void measure_works(std::uint32_t device, const selection& chosen, varve::measures& m) const;
  void measure_calls(std::uint32_t device, const selection& chosen, varve::measures& m) const;
  [[nodiscard]] ref last_thread(std::uint32_t device) const;
  [[nodiscard]] bool in_wall(std::size_t k, const group& key, std::uint32_t device) const;

  std::map<std::uint32_t, std::vector<slice>> slices_;  // by device
};

}  // namespace virtual_device

#endif  // VARVE_TESTS_SUPPORT_VIRTUAL_MEASURES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The parts of the truth (virtual_truth.hpp).
#ifndef VARVE_TESTS_SUPPORT_VIRTUAL_COUNTING_HPP
#define VARVE_TESTS_SUPPORT_VIRTUAL_COUNTING_HPP

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "virtual_measures.hpp"
#include "virtual_truth.hpp"

namespace virtual_device {

/// Rows of layers share the device with one another.
inline std::string sharer_by_path(const work_fact& w) {
  return w.key.phase + '\1' + w.key.model + '\1' + w.path;
}

class counting : measuring {
 public:
  explicit counting(const recording& r) : measuring{r}, tree_{tree()} {}

  truth count() {
    count_phases();
    count_layers();
    count_labels();
    count_names([&](const work_fact& w) { return activity(w).name; }, true, out_.kernels);
    count_names([&](const work_fact& w) { return activity(w).category; }, false, out_.categories);
    count_devices();
    count_requests();
    count_quality();
    return {std::move(out_), ambiguous};
  }

 private:
  void count_phases();
  struct tree_row {
    std::vector<step> path;
    std::set<std::uint32_t> devices;
  };
  [[nodiscard]] std::map<std::pair<group, std::string>, tree_row> tree() const;
  [[nodiscard]] time_ns own_time(ref range) const;
  [[nodiscard]] time_ns host_time(const instance_fact& i) const;
  [[nodiscard]] bool has_work(const instance_fact& i) const;
  void count_layers();
  void count_layer(const group& g, const std::string& text, const std::vector<step>& path,
                   std::uint32_t device);
  void count_labels();
  void count_label(const group& g, const std::string& name, std::uint32_t device);
  void count_shapes(std::uint32_t device, const selection& chosen, varve::row& r) const;
  void count_names(const std::function<std::string(const work_fact&)>& name_of, bool shapes,
                   std::vector<varve::row>& rows);
  void count_devices();
  void count_requests();
  void count_quality();

  /// Whether the row that an instance is a call of is on a device.
  [[nodiscard]] bool is_on(const instance_fact& i, std::uint32_t device) const {
    return i.range == none ? i.device == device : f.places_of(i.range).count(device) != 0;
  }

  std::map<std::pair<group, std::string>, tree_row> tree_;
  varve::report out_;
};

}  // namespace virtual_device

#endif  // VARVE_TESTS_SUPPORT_VIRTUAL_COUNTING_HPP

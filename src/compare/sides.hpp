// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The runs of one side, seen through the phases and layers of the first. Numbers are read so that whatever a
// file holds, nothing here is negative or infinite.
#ifndef VARVE_COMPARE_SIDES_HPP
#define VARVE_COMPARE_SIDES_HPP

#include "compare/change.hpp"

#include <varve/report.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace comparing {

/// A length or number as it may be used: 0 where it is negative.
[[nodiscard]] inline double amount(std::int64_t value) noexcept {
  return value > 0 ? static_cast<double>(value) : 0;
}
[[nodiscard]] inline double amount(double value) noexcept {
  constexpr double most = 1e30;
  return value > 0 ? (value < most ? value : most) : 0;
}

/// What names a phase on either side.
struct phase_key {
  std::string phase;
  std::string model;
  std::string batch;
  std::uint32_t device = 0;  ///< in which order the report names it
  friend bool operator<(const phase_key& a, const phase_key& b) {
    return std::tie(a.phase, a.model, a.batch, a.device) < std::tie(b.phase, b.model, b.batch, b.device);
  }
};

/// One report, with its phases, layers and kernels by phase.
class run {
 public:
  explicit run(const report& r);

  [[nodiscard]] const report& of() const noexcept { return *report_; }
  /// Of each entry of report::phases.
  [[nodiscard]] const std::vector<phase_key>& keys() const noexcept { return keys_; }
  /// In report::phases, or none.
  [[nodiscard]] std::uint32_t find(const phase_key& key) const;
  /// In report::layers, or none.
  [[nodiscard]] std::uint32_t find(std::uint32_t phase, std::string_view path) const;
  /// Layers of a phase, parents before children, without the work outside any.
  [[nodiscard]] const std::vector<std::uint32_t>& layers(std::uint32_t phase) const { return layers_[phase]; }
  [[nodiscard]] const std::vector<std::uint32_t>& kernels(std::uint32_t phase) const {
    return kernels_[phase];
  }
  /// No device was seen: times are the host's.
  [[nodiscard]] bool host_only() const noexcept { return host_only_; }
  [[nodiscard]] double passes(std::uint32_t phase) const noexcept;

  [[nodiscard]] run_times times_of(std::uint32_t phase, std::uint32_t layer) const;
  [[nodiscard]] run_times step_of(std::uint32_t phase) const;
  [[nodiscard]] run_times gpu_time_of(std::uint32_t phase) const;
  /// Time of a layer that no layer inside it shares, a pass.
  [[nodiscard]] double own_time(std::uint32_t phase, std::uint32_t layer) const;

 private:
  const report* report_;
  bool host_only_;
  std::vector<phase_key> keys_;
  std::map<phase_key, std::uint32_t> phases_;
  std::vector<std::vector<std::uint32_t>> layers_;
  std::vector<std::vector<std::uint32_t>> kernels_;
  std::vector<std::map<std::string_view, std::uint32_t>> paths_;
};

/// The runs of a side and, of a phase of the first, the phase of each (none where it has none).
struct side {
  std::vector<run> runs;
  [[nodiscard]] std::vector<std::uint32_t> phases(std::uint32_t of_first) const;
};

}  // namespace comparing
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_SIDES_HPP

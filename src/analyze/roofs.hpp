// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What work takes at least, by the ceilings of the device that does it.
#ifndef VARVE_ANALYZE_ROOFS_HPP
#define VARVE_ANALYZE_ROOFS_HPP

#include <varve/device.hpp>
#include <varve/report.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

inline constexpr double ns_per_second = 1e9;

void add_to(roof_times& to, const roof_times& part) noexcept;
/// That takes most of the compute time.
[[nodiscard]] math_pipe main_pipe(const roof_times& roof) noexcept;

struct roof_sums {
  roof_times times;

  void add(const roof_sums& other) noexcept { add_to(times, other.times); }
  /// Of one operator.
  void add(const work& w, const ceilings& device) noexcept;
};

/// The roofs of the rows' own work. Takes no memory where none is declared.
class roof_ledger {
 public:
  void know(std::vector<std::optional<ceilings>> by_device) { devices_ = std::move(by_device); }
  void add(std::uint32_t row, std::uint32_t device, const work& w);

  /// Or nullptr.
  [[nodiscard]] const ceilings* device(std::uint32_t index) const noexcept {
    return index < devices_.size() && devices_[index] ? &*devices_[index] : nullptr;
  }
  [[nodiscard]] const roof_sums* own(std::uint32_t row) const noexcept {
    return row < rows_.size() ? &rows_[row] : nullptr;
  }
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

 private:
  std::vector<std::optional<ceilings>> devices_;
  std::vector<roof_sums> rows_;
};

/// Those of the options, else of the table of GPUs; at the clock of the options, else of the trace's gauges.
[[nodiscard]] std::optional<ceilings> ceilings_of(const trace& t, std::uint32_t device,
                                                  const analyze_options& options);
/// Of all devices of the trace, where they are the same.
[[nodiscard]] std::optional<ceilings> common_ceilings(const trace& t, const analyze_options& options);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_ROOFS_HPP

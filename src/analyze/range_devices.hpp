// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// On which devices ranges count: on each on which ran what was launched in them; else on one.
#ifndef VARVE_ANALYZE_RANGE_DEVICES_HPP
#define VARVE_ANALYZE_RANGE_DEVICES_HPP

#include "analyze/rows.hpp"
#include "analyze/structure.hpp"

#include <varve/trace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Takes memory only where there are several devices.
class range_devices {
 public:
  range_devices(const trace& t, const structure& s, row_table& rows)
      : trace_{t}, structure_{s}, rows_{rows} {}

  /// How many devices something ran on. Comes first.
  void expect(std::size_t devices);
  /// What was launched in the range ran on the device.
  void note(std::uint32_t range, std::uint32_t device) noexcept {
    if (words_ != 0) {
      launched_[range * words_ + device / 64] |= std::uint64_t{1} << (device % 64);
    }
  }
  /// Once all is noted: gives ranges the devices of those inside, and makes the rows of what ran.
  void settle();

  /// Calls `count(device)` for each device on which a range counts.
  template <class Count>
  void each(std::uint32_t range, const Count& count) const {
    if (words_ == 0) {
      count(0U);
    } else if (around_[range] != range) {
      count(home_[range]);
    } else {
      for (std::uint32_t d = 0; d < devices_; ++d) {
        if (ran_on(range, d)) {
          count(d);
        }
      }
    }
  }
  /// The lowest of those.
  [[nodiscard]] std::uint32_t lowest(std::uint32_t range) const {
    std::uint32_t out = none;
    each(range, [&](std::uint32_t device) { out = std::min(out, device); });
    return out;
  }
  /// The same for a pass; the implicit one counts on all.
  template <class Count>
  void each_of(const pass& p, const Count& count) const {
    if (p.range != none) {
      each(p.range, count);
      return;
    }
    for (std::uint32_t d = 0; d < devices_; ++d) {
      count(d);
    }
  }
  /// Of what has a path and was made in a range, or in none, but is on no device: the lowest on which both
  /// ran, the innermost range around it of which anything ran and its row; else the lowest of that range;
  /// else of the row, of its kind of pass, of all.
  [[nodiscard]] std::uint32_t home(std::uint32_t range, std::uint32_t path, std::uint32_t key) const;

 private:
  [[nodiscard]] bool ran_on(std::uint32_t range, std::uint32_t device) const noexcept {
    return (launched_[range * words_ + device / 64] >> (device % 64) & 1U) != 0;
  }

  const trace& trace_;
  const structure& structure_;
  row_table& rows_;
  std::uint32_t devices_ = 1;
  std::size_t words_ = 0;                // 0: one device
  std::vector<std::uint64_t> launched_;  // a bit a device, by range
  std::vector<std::uint32_t> around_;    // innermost range of which anything ran: this or one around it
  std::vector<std::uint32_t> home_;
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_RANGE_DEVICES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The walls of all kinds of pass on one device, divided in one walk along the time.
#ifndef VARVE_ANALYZE_WALL_HPP
#define VARVE_ANALYZE_WALL_HPP

#include "analyze/numbers.hpp"
#include "analyze/range_devices.hpp"
#include "analyze/structure.hpp"

#include <varve/report.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// What an instant counts as.
enum class instant : std::uint8_t {
  compute,
  communication,
  copy,
  launching,
  graph_building,
  synchronising,
  allocating,
  other,
  device_gap,
  unrecorded
};

using wall_parts = std::array<time_ns, 10>;

[[nodiscard]] wall_partition to_partition(const wall_parts& parts) noexcept;

/// Where the passes of a kind begin to be open and end to be.
struct boundary {
  time_ns at = 0;
  std::uint32_t key = no_pass_key;
  bool opens = false;
};

struct pass_walls {
  std::vector<boundary> boundaries;  ///< in order of time; those of key `keys`: of all passes, on any device
  std::vector<time_ns> length;       ///< by key: of the union of the passes' intervals
  time_ns begin = 0;                 ///< of the first pass
  time_ns end = 0;                   ///< of the last
};

/// One a device.
[[nodiscard]] std::vector<pass_walls> read_walls(const structure& s, const range_devices& devices,
                                                 std::size_t count);

/// Takes stretches of time in order and sums them up for every kind of pass that is open meanwhile.
class wall_clock {
 public:
  wall_clock(const pass_walls& walls, std::size_t keys);

  /// The stretch [begin, end) is `what`. Returns how much of it lies in the wall of `key`.
  time_ns add(time_ns begin, time_ns end, instant what, std::uint32_t key) {
    if (end <= next_at_) {
      sums_[static_cast<std::size_t>(what)] += end - begin;
      return open_[key] != 0 ? end - begin : 0;
    }
    return add_across(begin, end, what, key);
  }
  /// True when no pass is open in any of [begin, end): what it is does not matter.
  [[nodiscard]] bool is_idle(time_ns end) const noexcept { return open_count_ == 0 && end <= next_at_; }
  void finish();

  [[nodiscard]] const wall_parts& parts(std::uint32_t key) const noexcept { return parts_[key]; }
  /// Of all instants in which any pass is open.
  [[nodiscard]] const wall_parts& parts() const noexcept { return parts_.back(); }

 private:
  time_ns add_across(time_ns begin, time_ns end, instant what, std::uint32_t key);
  void pass_boundary();

  const std::vector<boundary>& boundaries_;
  std::size_t next_ = 0;
  time_ns next_at_ = far;
  wall_parts sums_{};  // since the start, of time in passes and out of them
  std::vector<wall_parts> parts_;
  std::vector<std::uint8_t> open_;
  std::uint32_t open_count_ = 0;
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_WALL_HPP

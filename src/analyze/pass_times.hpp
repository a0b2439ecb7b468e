// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What rows ran in single passes: of each kind of pass on a device all passes, or every stride-th.
#ifndef VARVE_ANALYZE_PASS_TIMES_HPP
#define VARVE_ANALYZE_PASS_TIMES_HPP

#include "analyze/flat_map.hpp"
#include "analyze/numbers.hpp"
#include "analyze/range_devices.hpp"
#include "analyze/rows.hpp"
#include "analyze/structure.hpp"

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Numbers that a report keeps of all rows and passes together.
inline constexpr std::size_t most_numbers = std::size_t{1} << 23;

class pass_times {
 public:
  /// Samples at most `most` passes a group, fewer where rows times passes would be too many numbers. Before
  /// activities are swept.
  pass_times(const trace& t, const structure& s, const range_devices& devices, const row_table& rows,
             std::size_t most);

  /// An activity of the call that overlaps others of its device; these come in order of begin.
  void add_joint(std::uint32_t slot, time_ns begin, time_ns end);
  /// Once activities are swept and all rows are made.
  void settle(bool any_activity);

  /// Of a group, in order of begin; and 0, or of how many passes each is one.
  [[nodiscard]] std::span<const std::uint32_t> passes(std::uint32_t group) const noexcept;
  [[nodiscard]] std::int64_t stride(std::uint32_t group) const noexcept;
  /// Of a row in each of its group's passes: GPU time with the rows below; the host's where nothing ran.
  [[nodiscard]] std::span<const time_ns> of_row(std::uint32_t row) const noexcept;

 private:
  struct group_passes {
    std::vector<std::uint32_t> passes;
    std::int64_t stride = 0;
  };

  /// Which of the passes of its group, or none.
  std::uint32_t find(std::uint32_t pass, std::uint32_t group) noexcept;
  void add_slots();
  void add_ranges();

  static constexpr std::size_t npos = ~std::size_t{0};
  const trace& trace_;
  const structure& structure_;
  const row_table& rows_;
  std::vector<group_passes> groups_;
  flat_map numbers_;                      // of a pass and group
  std::vector<std::size_t> joint_first_;  // by row: in joint_, or npos
  std::vector<union_length> joint_;
  std::vector<std::size_t> first_;  // by row: in times_
  std::vector<time_ns> times_;
  // What was looked for last: the next is mostly in the same.
  std::uint32_t last_pass_ = none;
  std::uint32_t last_group_ = none;
  std::uint32_t last_number_ = none;
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_PASS_TIMES_HPP

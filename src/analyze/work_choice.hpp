// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Whose word counts where several sources tell the work of the same ranges.
#ifndef VARVE_ANALYZE_WORK_CHOICE_HPP
#define VARVE_ANALYZE_WORK_CHOICE_HPP

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

struct range_place {
  std::uint32_t owner = none;  ///< innermost range (this or one around) that is a call of a row, or a pass
  std::uint32_t pass = none;   ///< in structure::passes
  std::uint8_t depth = 0;      ///< owners between it and its pass
  bool declares = false;       ///< work was declared for it
  bool has_work = false;       ///< or for something inside
};

/// FLOPs of one range by a source that counts, and by one that is trusted less.
struct work_difference {
  std::uint32_t range = none;
  work_source counted = work_source::engine;
  work_source other = work_source::engine;
  double flops = 0;
  double other_flops = 0;
};

struct work_choice {
  static constexpr std::uint8_t nobody = work_sources;

  std::vector<std::uint8_t> source;  ///< by range that is a call of a row or a pass; nobody: no work counts
  std::vector<work_difference> differences;

  /// The range that an entry counts for, or none.
  [[nodiscard]] std::uint32_t owner_of(const range_work& w,
                                       const std::vector<range_place>& ranges) const noexcept {
    const std::uint32_t owner = w.range < ranges.size() ? ranges[w.range].owner : none;
    const auto from = static_cast<std::uint8_t>(w.source);
    return owner != none && from < nobody && source[owner] == from ? owner : none;
  }
};

/// Of the sources of a range the most trusted counts; shapes that miss some of its time do not count where
/// the description tells more. None counts inside of a range that a more trusted one tells, unless by shapes,
/// which are of the operators directly in it; nor does one whose range holds, by more trusted ones, half as
/// much work or more: theirs is part of the same. What is told of a pass itself stands beside its layers.
[[nodiscard]] work_choice choose_works(const trace& t, const std::vector<range_place>& ranges);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_WORK_CHOICE_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Why records may be missing from a report, as budgets and matchers ask. Not an interface.
#ifndef VARVE_TESTING_MISSING_HPP
#define VARVE_TESTING_MISSING_HPP

#include <varve/report.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace testing_detail {

inline bool mentions(std::string_view text, std::initializer_list<std::string_view> words) noexcept {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view w) { return text.find(w) != std::string_view::npos; });
}

/// Why the records of a run are not all there; empty when they are, up to 1 % of the activities. Losses that
/// only repair or replace something do not count.
inline std::string missing_records(const report& r) {
  constexpr double most = 0.01;
  double lost = 0;
  const loss* largest = nullptr;
  for (const loss& l : r.quality.losses) {
    if (mentions(l.what, {"file ends", "stream ends"})) {
      return "records are missing: " + l.what.substr(0, 300);
    }
    if (mentions(l.what,
                 {"dropped", "not kept", "nothing is kept", "skipped", "lost", "not read", "missing"})) {
      lost += static_cast<double>(l.count);
      largest = largest == nullptr || l.count > largest->count ? &l : largest;
    }
  }
  if (largest == nullptr || lost <= most * static_cast<double>(r.quality.activities)) {
    return {};
  }
  return "records are missing, more than 1 % of the activities: " + largest->what.substr(0, 300) + " (" +
         std::to_string(largest->count) + ")";
}

/// Why kernels may be missing, by the launches that were recorded; empty when none are. Each launch runs one
/// activity at least.
inline std::string missing_work(const measures& m) {
  constexpr double noticeable = 0.05;  // as for verdicts
  const double ran =
      static_cast<double>(m.kernels) + static_cast<double>(m.copies) + static_cast<double>(m.sets);
  const auto launches = static_cast<double>(m.launches);
  const bool counted = m.kernels > 0 || m.gpu_time == 0;  // else the report tells times and no counts
  if (!counted || launches - ran <= noticeable * launches) {
    return {};
  }
  return std::to_string(m.launches) + " launches ran " + std::to_string(static_cast<std::int64_t>(ran)) +
         " kernels, copies and sets: the records of others are missing";
}

}  // namespace testing_detail
}  // namespace v0
}  // namespace varve

#endif  // VARVE_TESTING_MISSING_HPP

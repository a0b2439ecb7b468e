// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which records of a running session are finished, so that they can be handed over as a window of their own.
#ifndef VARVE_RECORD_CUT_HPP
#define VARVE_RECORD_CUT_HPP

#include <varve/trace.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace varve::record {

/// How a cut is looked for.
struct cut_options {
  std::vector<std::uint32_t> held;   ///< ranges that threads have adopted, or that a source will tell more of
  double memory_used = 0;            ///< share of what there is
  time_ns settling = 1'000'000'000;  ///< how long further records of a graph may be on their way
};

/// Of a trace that was just copied. What is handed over are whole outermost ranges, with what was called and
/// launched in them; launches outside of ranges count as ranges do. A range is ready once it has ended and
/// each of its launches has an activity. How many records graphs make is not known: they have settled some
/// time after the last, when records of a later launch have come too, which lie behind theirs in CUPTI's
/// buffers. Records may be missing: no longer than `lag` behind those of later launches, or than `patience`,
/// are they waited for.
///
/// The cut is the latest moment at which no range was open and devices had done all before it. After
/// `patience_for_quiet` without one, the latest at which no range was open on the host. Where some were open
/// at all times for `patience_with_overlap`, what is ready goes, and windows overlap. Where a quarter of the
/// memory is used, there is no such patience, and with three quarters none with missing records.
class cut {
 public:
  static constexpr time_ns lag = 5'000'000'000;
  static constexpr time_ns patience = 30'000'000'000;  ///< longer than any pass runs
  static constexpr time_ns patience_for_quiet = 5'000'000'000;
  static constexpr time_ns patience_with_overlap = 10'000'000'000;

  cut(const trace& t, const cut_options& options);

  /// End of the window.
  [[nodiscard]] time_ns at() const noexcept { return at_; }
  [[nodiscard]] bool overlaps() const noexcept { return overlaps_; }
  [[nodiscard]] const std::vector<bool>& ranges() const noexcept { return ranges_; }
  [[nodiscard]] const std::vector<bool>& calls() const noexcept { return calls_; }
  /// Whether this activity goes: with its launch, or by its begin.
  [[nodiscard]] bool takes(std::uint32_t correlation, time_ns begin) const noexcept;
  /// The call with this correlation, the last one of several; none where there is none.
  [[nodiscard]] std::uint32_t call_of(std::uint32_t correlation) const noexcept;

 private:
  struct root;
  [[nodiscard]] std::vector<root> roots_of(const trace& t, const cut_options& options);
  void choose(const std::vector<root>& roots, const trace& t, double memory_used);

  std::vector<std::uint32_t> root_of_;                           // by range, in roots
  std::vector<std::pair<std::uint32_t, std::uint32_t>> called_;  // correlations, with their calls
  std::vector<bool> ranges_;
  std::vector<bool> calls_;
  time_ns at_;
  bool overlaps_ = false;
};

}  // namespace varve::record

#endif  // VARVE_RECORD_CUT_HPP

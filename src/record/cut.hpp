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

/// Of a trace that was just copied. What is handed over are whole outermost ranges, with what was called and
/// launched in them. A range is ready once it has ended and each of its launches has an activity, and one of
/// a later launch has come too, so that none of a graph's is to come; or after `patience`, since records may
/// be missing.
///
/// The cut is the latest moment at which no outermost range was open, all before it being ready; if there is
/// one, a moment at which devices had done all of that too. Launches outside of ranges count as ranges do.
/// Where ranges were open at all times for `patience_with_overlap`, or memory runs short, what is ready goes,
/// and windows overlap.
class cut {
 public:
  static constexpr time_ns settling = 1'000'000'000;   ///< without a later launch to go by
  static constexpr time_ns patience = 30'000'000'000;  ///< longer than any pass runs
  static constexpr time_ns patience_with_overlap = 10'000'000'000;

  /// `held`: ranges that threads have adopted, and may launch in although they have ended.
  cut(const trace& t, const std::vector<std::uint32_t>& held, bool memory_is_short = false);

  /// End of the window.
  [[nodiscard]] time_ns at() const noexcept { return at_; }
  [[nodiscard]] bool overlaps() const noexcept { return overlaps_; }
  [[nodiscard]] const std::vector<bool>& ranges() const noexcept { return ranges_; }
  [[nodiscard]] const std::vector<bool>& calls() const noexcept { return calls_; }
  /// Whether this activity goes: with its launch, or by its begin.
  [[nodiscard]] bool takes(std::uint32_t correlation, time_ns begin) const noexcept;
  [[nodiscard]] bool knows(std::uint32_t correlation) const noexcept { return call_of(correlation) != none; }

 private:
  struct root;
  [[nodiscard]] std::uint32_t call_of(std::uint32_t correlation) const noexcept;
  [[nodiscard]] std::vector<root> roots_of(const trace& t, const std::vector<std::uint32_t>& held);
  void choose(const std::vector<root>& roots, const trace& t, bool memory_is_short);

  std::vector<std::uint32_t> root_of_;                           // by range, in roots
  std::vector<std::pair<std::uint32_t, std::uint32_t>> called_;  // correlations, with their calls
  std::vector<bool> ranges_;
  std::vector<bool> calls_;
  time_ns at_;
  bool overlaps_ = false;
};

}  // namespace varve::record

#endif  // VARVE_RECORD_CUT_HPP

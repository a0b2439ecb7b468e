// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the host marked: label paths below their pass, passes and their kinds, and for each range where its
// work belongs.
#ifndef VARVE_ANALYZE_STRUCTURE_HPP
#define VARVE_ANALYZE_STRUCTURE_HPP

#include "analyze/numbers.hpp"
#include "analyze/path_works.hpp"
#include "analyze/steady.hpp"
#include "analyze/work_choice.hpp"

#include <varve/report.hpp>
#include <varve/trace.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Deepest path that gets a row of its own; what is deeper counts for the row at this depth.
inline constexpr std::uint32_t max_depth = 64;

/// A label path below its pass. Parents have smaller ids.
struct path_node {
  std::uint32_t parent = none;
  std::uint32_t name = none;
  std::int32_t index = no_index;
  range_kind kind = range_kind::phase;
  std::uint32_t depth = 0;  ///< steps; 1 for `outside` too
};

inline constexpr std::uint32_t whole_pass = 0;  ///< the root: everything in a pass
inline constexpr std::uint32_t outside = 1;     ///< below the root: what is in no layer, the empty path

/// Kind of pass, model and batch: what phases are told apart by. Key 0 is "in no pass".
struct phase_key {
  std::string phase;
  std::uint32_t model = none;  ///< in trace::strings
  std::string batch;
};
inline constexpr std::uint32_t no_pass_key = 0;

struct pass {
  std::uint32_t range = none;  ///< none: the implicit pass
  std::uint32_t key = no_pass_key;
  time_ns begin = 0;
  time_ns host_end = 0;
  time_ns end = 0;  ///< later of the host's end and that of the last activity
  std::uint16_t thread = narrow_none;
  bool has_work = false;
};

struct structure {
  std::vector<path_node> paths;
  std::vector<std::uint32_t> path_of_label;
  std::vector<std::uint8_t> label_is_cut;  ///< deeper than max_depth
  std::vector<phase_key> keys;
  std::vector<pass> passes;
  std::vector<std::array<std::int64_t, attribute_count>> attributes;  ///< one a pass, or empty: none given
  std::vector<range_place> ranges;
  work_choice works;
  path_works described;  ///< of replays
  interval window;       ///< of the trace
  bool implicit_pass = false;
  ramps_found ramps;
  std::vector<std::string> unsized_names;  ///< of kinds of pass in which ramps can't be told

  std::uint64_t deep_ranges = 0;
  std::uint64_t broken_ranges = 0;  ///< end before they begin, or name a parent or label that is not there

  /// The pass of what was done in no range.
  [[nodiscard]] std::uint32_t default_pass() const noexcept { return implicit_pass ? 0 : none; }
  /// The path of a range that is an owner, or of none.
  [[nodiscard]] std::uint32_t path_of(const trace& t, std::uint32_t owner) const noexcept {
    return owner == none || t.ranges[owner].kind == range_kind::phase ? whole_pass
                                                                      : path_of_label[t.ranges[owner].label];
  }
  [[nodiscard]] std::uint32_t key_of(std::uint32_t pass_index) const noexcept {
    return pass_index < passes.size() ? passes[pass_index].key : no_pass_key;
  }
};

[[nodiscard]] structure read_structure(const trace& t, const analyze_options& options);

inline interval extent(const range& r) noexcept {
  const time_ns begin = clamp_time(r.begin);
  return {begin, std::max(begin, clamp_time(r.end))};
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_STRUCTURE_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/calibrate_layers.hpp"

#include <varve/io.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace varve::cli {

namespace {

/// Why a run that could have counted has not.
std::string what_was_missing(const trace& t, const counter_options& asked) {
  if (t.ranges.empty()) {
    return "the engine marks nothing: mark its passes and layers, by varve's markers or by NVTX";
  }
  const auto phases = std::count_if(t.ranges.begin(), t.ranges.end(),
                                    [](const range& r) { return r.kind == range_kind::phase; });
  if (phases == 0) {
    return "none of its " + std::to_string(t.ranges.size()) +
           " ranges is a pass, and nothing is counted outside of passes: mark them as phases, or say which "
           "they are (--phase-rule)";
  }
  const bool refused = std::any_of(t.losses.begin(), t.losses.end(), [](const loss& l) {
    return l.where == "counters" && l.what.rfind("passes not counted", 0) == 0;
  });
  if (refused) {
    return "none of its passes could be counted";
  }
  return asked.labels.empty() ? "no range lies " + std::to_string(asked.depth) +
                                    " levels below its passes: count with another --depth"
                              : "no range in its passes has a name that --label gives";
}

}  // namespace

counts_found counts_in(const std::filesystem::path& file, const counter_options& asked) {
  read_options options;
  options.max_unpacked = std::numeric_limits<std::uint64_t>::max();  // it is our own
  const trace t = read_pytorch(file.string(), options);
  counts_found out;
  for (const loss& l : t.losses) {
    if (l.where == "counters") {
      const bool too_few = l.what.rfind("quantities not counted", 0) == 0;
      out.losses.push_back(
          std::to_string(l.count) + ' ' + l.what +
          (too_few ? ": let the engine run more passes of each kind, or use --bytes-only" : ""));
    }
  }
  const auto status = std::find_if(t.collectors.begin(), t.collectors.end(),
                                   [](const collector_status& c) { return c.name == "counters"; });
  if (status == t.collectors.end()) {
    out.missing = "nothing was asked to count: is the libvarve_inject.so that runs of another version?";
  } else if (!t.counts.empty()) {
    out.counted = status->detail;
  } else if (status->state == collector_state::unavailable) {
    out.missing = status->detail;
  } else {
    out.missing = "nothing is counted: " + what_was_missing(t, asked);
  }
  return out;
}

std::string next_step(const std::string& file) {
  return "counts are in " + file + ": varve report TIMES.json --counters " + file +
         " puts them beside what varve run --trace TIMES.json records of the same passes";
}

}  // namespace varve::cli

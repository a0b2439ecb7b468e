// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What happened on a virtual machine (virtual_device.hpp), in its own records: they point straight at one
// another, so nothing has to be joined. to_trace() writes them as a trace, where correlation ids, label
// paths and node ids are all that is left; truth_of() (virtual_truth.hpp) says what a report must find.
//
// The functions below damage a recording as real collectors do. They mark what the trace no longer shows;
// the times that the machine spent stay as they were.
#ifndef VARVE_TESTS_SUPPORT_VIRTUAL_RECORDING_HPP
#define VARVE_TESTS_SUPPORT_VIRTUAL_RECORDING_HPP

#include <varve/trace.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace virtual_device {

using varve::none;
using varve::time_ns;

/// A record by its index, or `none`.
using ref = std::uint32_t;

/// Seeded and the same everywhere: only its raw numbers are used, never a standard distribution.
using random_source = std::mt19937_64;

/// One step of a label path.
struct step {
  varve::range_kind kind = varve::range_kind::layer;
  std::string name;
  std::int32_t index = varve::no_index;

  friend bool operator==(const step&, const step&) = default;
};

struct range_record {
  step label;
  std::string model;
  ref parent = none;
  ref thread = none;  ///< none for requests
  time_ns begin = 0;
  time_ns end = 0;
  std::vector<std::pair<varve_attribute, std::int64_t>> attributes;
  varve::work declared;
  std::vector<ref> serves;  ///< requests
  bool clipped = false;     ///< open when the window began
  bool recorded = true;
};

struct call_record {
  time_ns begin = 0;
  time_ns end = 0;
  varve::call_kind kind = varve::call_kind::launch;
  ref thread = 0;
  ref range = none;   ///< innermost open range
  ref outer = none;   ///< the call that it was made in
  ref stream = none;  ///< of a graph launch
  std::uint32_t correlation = 0;
  bool captured = false;
  bool recorded = true;
};

struct activity_record {
  time_ns begin = 0;
  time_ns end = 0;
  varve::activity_kind kind = varve::activity_kind::kernel;
  std::string name;
  std::string category = "other";
  std::int64_t bytes = 0;  ///< of a copy or set
  std::uint32_t grid = 1;  ///< of a kernel
  ref stream = 0;
  ref call = none;
  ref node = none;
  bool recorded = true;
  bool untimed = false;  ///< the trace has start = end = 0
};

struct node_record {
  std::uint64_t id = 0;
  std::vector<step> path;  ///< whole, from the outermost open range
  varve::work declared;    ///< of the range that it was captured in
  time_ns made = 0;        ///< instantiated or updated
  bool label_known = true;
  bool stale = false;
};

struct stream_record {
  std::uint32_t device = 0;  ///< its id
  std::uint64_t id = 0;
};

struct recording {
  std::vector<std::uint32_t> devices;
  std::vector<stream_record> streams;
  ref threads = 0;
  std::vector<range_record> ranges;  ///< parents before children
  std::vector<call_record> calls;    ///< in order of begin
  std::vector<activity_record> activities;
  std::vector<node_record> nodes;
};

/// The recording as a trace, its records in the order of the machine's, or in any order that a trace may
/// have, drawn from `order`.
varve::trace to_trace(const recording& r, random_source* order = nullptr);

/// The trace's clock counts from another moment.
void shift_clock(recording& r, time_ns by);
/// Correlation ids begin again at 1 after `ids`. False, and nothing done, where an id would come again before
/// the work of its last launch has begun: then nobody could tell which of the two launched it.
bool wrap_correlations(recording& r, std::uint32_t ids);
/// Device times are early by `by`: clocks disagree.
void skew_devices(recording& r, time_ns by);
/// Each activity of graph launches is lost with probability `share`; with 1, whole launches.
void drop_graph_records(recording& r, double share, random_source& random);
/// Each activity loses its times with probability `share`.
void lose_times(recording& r, double share, random_source& random);
/// The session began at `at`: calls and work that began before left no record, ranges open then are
/// clipped. Kernels that were launched before and began after have no launch in the trace.
void start_window(recording& r, time_ns at);
/// Graphs captured before `at` have no labels.
void forget_labels(recording& r, time_ns at);
/// One record for each graph launch instead of one a node.
void merge_graph_records(recording& r);

}  // namespace virtual_device

#endif  // VARVE_TESTS_SUPPORT_VIRTUAL_RECORDING_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a recording shows, each thing with its place: the ground on which virtual_truth.hpp counts. Time is
// cut at every moment at which anything begins or ends; between two cuts nothing changes, so every measure is
// a sum over the slices between them. Slow and plain on purpose; it shares nothing with src/analyze.
#ifndef VARVE_TESTS_SUPPORT_VIRTUAL_FACTS_HPP
#define VARVE_TESTS_SUPPORT_VIRTUAL_FACTS_HPP

#include "virtual_recording.hpp"

#include <set>
#include <string>
#include <vector>

namespace virtual_device {

/// Phase and model: what rows are apart by, besides their path and device.
struct group {
  std::string phase;
  std::string model;

  friend bool operator<(const group& a, const group& b) {
    return a.phase != b.phase ? a.phase < b.phase : a.model < b.model;
  }
  friend bool operator==(const group&, const group&) = default;
};

/// Where something belongs: a pass, and the steps below it.
struct place {
  ref pass = none;
  std::vector<step> path;
};

struct pass_fact {
  group key;
  ref range = none;  ///< none for the implicit pass
  ref thread = none;
  time_ns host_end = 0;
  time_ns begin = 0;
  time_ns end = 0;                  ///< with its last work
  std::set<std::uint32_t> devices;  ///< on which it counts
};

/// Work with a record and times.
struct work_fact {
  ref activity = none;
  ref call = none;  ///< none when the launch left no record
  std::uint32_t device = 0;
  place where;
  bool replayed = false;  ///< its path is that of its graph node
  group key;
  std::string path;  ///< as text
  time_ns begin = 0;
  time_ns clipped = 0;  ///< begin, or the end of what was before it on its stream
  time_ns end = 0;
};

/// An outermost call that was not captured.
struct call_fact {
  ref call = none;
  bool ran = false;          ///< something that it launched is there
  std::uint32_t device = 0;  ///< of what it launched, else the lowest on which its range counts
  place where;
  group key;
  std::string path;
};

/// One call of a row: a range, or the replay of a captured path.
struct instance_fact {
  place where;
  group key;
  std::string path;
  ref range = none;
  ref call = none;
  std::uint32_t device = 0;  ///< of a replay
  varve::work declared;
};

struct facts {
  explicit facts(const recording& r);

  const recording& source;
  std::vector<pass_fact> passes;
  std::vector<work_fact> works;  ///< in order of begin, of two that begin together the shorter first
  std::vector<call_fact> calls;
  std::vector<instance_fact> instances;
  std::vector<std::uint32_t> devices;  ///< on which something ran, ascending; never empty where there are any
  bool implicit_pass = false;

  std::vector<time_ns> cuts;
  [[nodiscard]] std::size_t slices() const { return cuts.empty() ? 0 : cuts.size() - 1; }
  [[nodiscard]] time_ns length(std::size_t slice) const { return cuts[slice + 1] - cuts[slice]; }
  [[nodiscard]] bool in(std::size_t slice, time_ns begin, time_ns end) const {
    return begin <= cuts[slice] && cuts[slice + 1] <= end;
  }

  [[nodiscard]] place place_of(ref range) const;
  [[nodiscard]] bool within(ref range, ref outer) const;
  /// Whether work was launched in a range that is this call.
  [[nodiscard]] bool around(const work_fact& w, const instance_fact& i) const;
  /// Whether work belongs to this call.
  [[nodiscard]] bool holds(const instance_fact& i, const work_fact& w) const;
  /// Whether one call of a row was made in the other, or is the same.
  [[nodiscard]] bool inside(const instance_fact& inner, const instance_fact& outer) const;
  [[nodiscard]] group key_of(ref pass) const { return pass == none ? group{} : passes[pass].key; }
  /// Where a range counts: where ran what was launched in it or in a range inside. One of which nothing ran
  /// counts on the lowest device on which both its row and the range around it ran; else that range; else its
  /// row; else its kind of pass.
  [[nodiscard]] std::set<std::uint32_t> places_of(ref range) const;
  /// Where work of the row, and what its calls launched, ran.
  [[nodiscard]] std::set<std::uint32_t> devices_of(const group& key, const std::string& path) const;
  /// The lowest device that passes of this kind are known to run on.
  [[nodiscard]] std::uint32_t lowest_device(const group& key) const;
  [[nodiscard]] std::uint32_t lowest_device() const { return devices.empty() ? 0 : devices.front(); }

 private:
  std::vector<std::set<std::uint32_t>> launched_;  // by range: where what was launched in it ran

  void find_passes();
  void find_launched();
  void find_works();
  void find_calls();
  void find_instances();
  void cut();
};

/// "layer 3 / attention"
std::string path_text(const std::vector<step>& path);
/// Whether `path` is `top` or lies below it.
bool below(const std::string& path, const std::string& top);

}  // namespace virtual_device

#endif  // VARVE_TESTS_SUPPORT_VIRTUAL_FACTS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the matchers of testing.hpp expect of a layer or phase, and how they tell what they found. Not an
// interface.
#ifndef VARVE_TESTING_JUDGES_HPP
#define VARVE_TESTING_JUDGES_HPP

#include <varve/report.hpp>
#include <varve/testing/missing.hpp>
#include <varve/testing/passes.hpp>
#include <varve/testing/subject.hpp>
#include <varve/testing/text.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace testing_detail {

inline std::string next_text(const std::string& step) { return "\n    next: " + step; }

/// The phase that a layer is in; of a phase itself.
inline const phase_row* phase_around(const subject& s) noexcept {
  if (s.phase != nullptr || s.in == nullptr) {
    return s.phase;
  }
  for (const phase_row& p : s.in->phases) {
    if (same_phase(p, *s.layer)) {
      return &p;
    }
  }
  return nullptr;
}

constexpr double noticeable = 0.05;  // as for verdicts

/// Why what ran on the device cannot be counted; empty when it can.
inline std::string unknown_work(const subject& s) {
  const phase_row* p = phase_around(s);
  if (p != nullptr && p->wall > 0 &&
      static_cast<double>(p->partition.unrecorded) > noticeable * static_cast<double>(p->wall)) {
    return "what the GPU did is not recorded for " + time_text(p->partition.unrecorded) + " of the passes' " +
           time_text(p->wall);
  }
  if (s.in == nullptr || s.in->quality.live_cpu) {
    return {};
  }
  constexpr double least_attributed = 0.95;  // as of budgets
  const double attributed = s.in->quality.attributed;
  if (s.layer != nullptr && !(attributed >= least_attributed)) {
    return "only " + percent_text(attributed) + " of the GPU time belongs to a layer, " +
           percent_text(least_attributed) + " are needed";
  }
  std::string missing = p != nullptr ? missing_work(p->total) : "";
  return missing.empty() ? missing_work(s.all()) : missing;
}

/// Why a GPU time cannot be told; empty when it can.
inline std::string unknown_gpu_time(const subject& s) {
  return s.all().gpu_time > 0
             ? unknown_work(s)
             : "nothing of it ran on a device; graphs that were captured before varve::arm() have no layers";
}

/// Why there may be more calls than were recorded; empty when there aren't.
inline std::string unknown_calls(const subject& s) {
  if (s.in != nullptr) {
    const report_quality& q = s.in->quality;
    if (static_cast<double>(q.unmatched) > noticeable * static_cast<double>(q.activities)) {
      return "the launches of " + std::to_string(q.unmatched) + " of " +
             count_text(q.activities, "activity", "activities") +
             " were not recorded, so other calls may be missing too";
    }
  }
  const phase_row* p = phase_around(s);
  if (p != nullptr && p->total.kernels > 0 && p->total.launches == 0) {
    return "kernels of " + phase_text(p->phase, p->model) + " ran, and none of their launches was recorded";
  }
  if (p == nullptr && s.in == nullptr && s.all().kernels > 0 && s.all().launches == 0) {
    return "it ran kernels without a launch; varve::layer_of(report, {\u2026}) says whether launches were "
           "recorded";
  }
  return {};
}

/// A time of a call or pass, and over what it was taken.
struct typical_time {
  double ns = 0;
  std::string over;
};

inline typical_time median_of(const distribution& d, const char* one, const char* many) {
  return {static_cast<double>(d.p50), "median of " + count_text(d.count, one, many) + ", " +
                                          time_text(d.min) + " to " + time_text(d.max) + ", mean " +
                                          time_text(d.mean)};
}

inline typical_time mean_over(time_ns total, std::int64_t n, const char* one, const char* many) {
  return {static_cast<double>(total) / static_cast<double>(n), "mean of " + count_text(n, one, many)};
}

inline typical_time time_of_pass(const phase_row& p) {
  const distribution d = statistics_of(p.samples.gpu_time);
  return d.count > 0 ? median_of(d, "pass", "passes")
                     : mean_over(p.total.gpu_time, p.passes, "pass", "passes");
}

inline typical_time time_of_call(const row& r) {
  return r.per_call.count > 0 ? median_of(r.per_call, "call", "calls")
                              : mean_over(r.inclusive.gpu_time, r.inclusive.calls, "call", "calls");
}

/// What a finding of the report says to do about the layer, or where to look.
inline std::string next_for_time(const subject& s) {
  if (s.in == nullptr) {
    return next_text("print the report (std::cout << report), which shows its parts and kernels");
  }
  for (const finding& f : s.in->findings) {
    if (s.layer != nullptr && f.layer < s.in->layers.size() && &s.in->layers[f.layer] == s.layer &&
        !f.next_step.empty()) {
      return next_text(name_text(f.next_step, 400));
    }
  }
  return next_text(
      "see whether kernels changed (varve::same_kernels_as an earlier report), then profile the longest "
      "(ncu)");
}

struct gpu_time_limit {
  std::chrono::nanoseconds below;
  bool in_a_pass;

  [[nodiscard]] std::string what() const {
    return "GPU time below " + time_text(below.count()) +
           (in_a_pass ? " in a pass (median of the passes)"
                      : " (median of a layer's calls, of a phase's passes)");
  }

  judgement operator()(const subject& s) const {
    if (std::string unknown = unknown_gpu_time(s); !unknown.empty()) {
      return {false, std::move(unknown)};
    }
    typical_time time;
    if (s.phase != nullptr) {
      time = time_of_pass(*s.phase);
    } else if (!in_a_pass) {
      time = time_of_call(*s.layer);
    } else if (!s.layer->per_pass.empty()) {
      time = median_of(statistics_of(s.layer->per_pass), "pass", "passes");
    } else if (const phase_row* p = phase_around(s); p != nullptr && p->passes > 0) {
      time = mean_over(s.layer->inclusive.gpu_time, p->passes, "pass", "passes");
    } else {
      return {false, "its passes are not known; varve::layer_of(report, {\u2026}) knows them"};
    }
    const auto limit = static_cast<double>(below.count());
    const bool holds = time.ns < limit;
    std::string text = "GPU time " + time_text(time.ns) +
                       (in_a_pass ? " a pass" : std::string{' '} + s.each()) + " (" + time.over + ')';
    if (!holds) {
      text += ": " + time_text(time.ns - limit) + " (" + percent_text((time.ns - limit) / limit) +
              ") above the limit" +
              parts_text(s, &measures::gpu_time, [](time_ns t) { return time_text(t) + " in all"; }) +
              next_for_time(s);
    }
    return {holds, text};
  }
};

struct launch_limit {
  double most;

  [[nodiscard]] std::string what() const {
    return "at most " + number_text(most) + " launches a call (of a phase: a pass)";
  }

  judgement operator()(const subject& s) const {
    const std::int64_t launches = s.all().launches;
    const double each = static_cast<double>(launches) / static_cast<double>(s.count());
    const bool holds = each <= most;
    if (std::string unknown = unknown_calls(s); holds && !unknown.empty()) {
      return {false, std::move(unknown)};
    }
    std::string text = count_text(launches, "launch", "launches") + " in " + s.count_text() + ", " +
                       number_text(each) + ' ' + s.each();
    if (!holds) {
      text += parts_text(s, &measures::launches, [](std::int64_t n) { return number_text(n); }) +
              next_text("fuse kernels, or capture them in a graph, whose launch counts one");
    }
    return {holds, text};
  }
};

/// Expects none of what a measure counts.
struct none_of {
  std::int64_t measures::*count;
  const char* one;
  const char* many;
  const char* next;

  [[nodiscard]] std::string what() const { return std::string{"no "} + many; }

  judgement operator()(const subject& s) const {
    const std::int64_t found = s.all().*count;
    if (found == 0) {
      std::string unknown = count == &measures::copies ? unknown_work(s) : unknown_calls(s);
      return unknown.empty() ? judgement{true, "none in " + s.count_text()}
                             : judgement{false, std::move(unknown)};
    }
    std::string text = count_text(found, one, many);
    if (count == &measures::copies && s.all().copy_bytes > 0) {
      text += " of " + std::to_string(s.all().copy_bytes) + " bytes";
    }
    return {false, text + " in " + s.count_text() +
                       parts_text(s, count, [](std::int64_t n) { return number_text(n); }) + next_text(next)};
  }
};

inline std::string why_text(const verdict& v) {
  return v.why.empty() ? "no verdict, since no work is known" : name_text(v.why, 500);
}

inline const char* how_to_know() {
  return "declare the work (layer.work(\u2026)) and see that the device's ceilings are known "
         "(analyze_options::ceilings)";
}

struct expected_bound {
  bound by;

  [[nodiscard]] std::string what() const { return std::string{"bound by "} + bound_name(by); }

  judgement operator()(const subject& s) const {
    const verdict& v = s.verdict();
    const bool holds = v.by == by;
    if (std::string unknown = unknown_work(s); holds && !unknown.empty()) {
      return {false, std::move(unknown)};
    }
    std::string text = why_text(v);
    if (v.by != bound::unknown) {
      text = std::string{"bound by "} + bound_name(v.by) + ": " + text;
      if (!holds) {
        text += parts_text(s, &measures::gpu_time, [](time_ns t) { return time_text(t) + " in all"; }) +
                next_for_time(s);
      }
    } else if (!holds) {
      text += next_text(how_to_know());
    }
    return {holds, text};
  }
};

struct least_efficiency {
  double share;

  [[nodiscard]] std::string what() const { return "at least " + percent_text(share) + " of the roof"; }

  judgement operator()(const subject& s) const {
    const verdict& v = s.verdict();
    if (!(v.roof_share > 0)) {
      return {false, "its share of the roof is not known: " + why_text(v) + next_text(how_to_know())};
    }
    const bool holds = v.roof_share >= share;
    if (std::string unknown = unknown_work(s); holds && !unknown.empty()) {
      return {false, std::move(unknown)};
    }
    std::string text = percent_text(v.roof_share) + " of the roof (" + percent_text(v.compute_share) +
                       " of compute, " + percent_text(v.memory_share) + " of memory): " + why_text(v);
    return {holds, holds ? text : text + next_for_time(s)};
  }
};

struct overhead_limit {
  double below;

  [[nodiscard]] std::string what() const {
    return "an overhead ratio (wall \u00f7 GPU busy) below " + number_text(below);
  }

  judgement operator()(const subject& s) const {
    if (s.phase == nullptr) {
      return {false, "an overhead ratio is of passes, not of a layer: varve::phase_of(report, \u2026)"};
    }
    if (std::string unknown = unknown_gpu_time(s); !unknown.empty()) {
      return {false, std::move(unknown)};
    }
    const phase_row& p = *s.phase;
    const double ratio = p.overhead_ratio();
    const bool holds = ratio > 0 && ratio < below;
    std::string text = "overhead ratio " + number_text(ratio) + " (wall " + time_text(p.wall) +
                       ", GPU busy " + time_text(p.partition.busy()) + ')';
    return {holds, holds ? text : text + idle_text(p.partition)};
  }

 private:
  static std::string idle_text(const wall_partition& w) {
    struct part {
      time_ns time;
      const char* name;
      const char* next;
    };
    const std::vector<part> parts{
        {w.starved.launching, "starved while the host launched",
         "fewer launches: fused kernels, CUDA graphs"},
        {w.starved.graph_building, "starved while the host built graphs",
         "capture and update graphs less often"},
        {w.starved.synchronising, "starved while the host synchronised",
         "launch the next pass before waiting for this one"},
        {w.starved.allocating, "starved while the host allocated", "allocate before the passes"},
        {w.starved.other, "starved while the host ran its own code",
         "a profile of the host between launches"},
        {w.device_gap, "device gap", "the timeline: dependencies between streams, gaps between graph nodes"},
        {w.unrecorded, "unrecorded", "the report's quality: what was dropped"}};
    std::string out;
    const part* most = &parts.front();
    for (const part& p : parts) {
      if (p.time > 0) {
        out += (out.empty() ? "\n    idle: " : ", ") + std::string{p.name} + ' ' + time_text(p.time);
      }
      most = p.time > most->time ? &p : most;
    }
    return out + next_text(most->next);
  }
};

}  // namespace testing_detail
}  // namespace v0
}  // namespace varve

#endif  // VARVE_TESTING_JUDGES_HPP

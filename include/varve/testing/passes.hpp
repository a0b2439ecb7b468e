// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// run_passes(): forward passes of an engine under a session. Part of testing.hpp.
#ifndef VARVE_TESTING_PASSES_HPP
#define VARVE_TESTING_PASSES_HPP

#include <varve/marker.hpp>
#include <varve/report.hpp>
#include <varve/session.hpp>
#include <varve/testing/find.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {

/// Of any times, in nanoseconds: of row::per_pass, pass_samples::step, or the user's own.
[[nodiscard]] inline distribution statistics_of(std::vector<time_ns> times) {
  distribution out;
  if (times.empty()) {
    return out;
  }
  std::sort(times.begin(), times.end());
  out.count = static_cast<std::int64_t>(times.size());
  const auto n = static_cast<double>(times.size());
  double sum = 0;
  for (const time_ns t : times) {
    sum += static_cast<double>(t);
  }
  double squares = 0;
  out.mean = sum / n;
  for (const time_ns t : times) {
    squares += (static_cast<double>(t) - out.mean) * (static_cast<double>(t) - out.mean);
  }
  out.deviation = std::sqrt(squares / n);
  out.total = static_cast<time_ns>(sum);
  out.min = times.front();
  out.max = times.back();
  const auto rank = [&](std::size_t percent) { return times[(times.size() * percent + 99) / 100 - 1]; };
  out.p50 = rank(50);
  out.p95 = rank(95);
  out.p99 = rank(99);
  return out;
}

/// How run_passes() records.
struct pass_options {
  int warm_up = 3;  ///< passes that run first, under a session of their own whose records are thrown away
  int passes = 20;  ///< passes that are measured
  /// Marks each pass, for an engine that has no phase of its own.
  std::optional<phase_kind> phase{};
  session_options session{};  ///< of both sessions: their collectors are started twice
  analyze_options analysis{};
};

/// What run_passes() recorded.
struct measured_passes {
  trace records;  ///< to be written to a file, say, when a test fails
  varve::report report;
  session_status status;  ///< of the session, after its end
  std::string error;      ///< why nothing was recorded; empty when it was

  /// The passes of a kind, from their host's begin to the end of their work on the device.
  [[nodiscard]] distribution step(std::string_view phase) const {
    const found_phase found = phase_of(report, phase);
    return found ? found->step : distribution{};
  }
  /// GPU time of each of them; count is 0 where the report has no samples.
  [[nodiscard]] distribution gpu_time(std::string_view phase) const {
    const found_phase found = phase_of(report, phase);
    return found ? statistics_of(found->samples.gpu_time) : distribution{};
  }
};

inline void PrintTo(const measured_passes& m, std::ostream* out) { PrintTo(m.report, out); }

/// Calls `pass()` for `warm_up` passes, then for `passes` ones under a session, and analyzes these. `pass` is
/// to wait for its work on the device before it returns; what it throws is passed on. Where no session can be
/// had (another one runs) the test fails, `pass` is not called, and every matcher fails on the empty report.
/// After a fatal failure of an assertion in `pass` no more of them run. The process stays armed
/// (varve::arm()), so that graphs captured in warm-up passes, or in an earlier run, keep their layers.
template <class Pass>
[[nodiscard]] measured_passes run_passes(const pass_options& options, Pass&& pass) {
  measured_passes out;
  const auto record = [&](int count) {
    session recorded{options.session};
    if (!recorded) {
      out.status = recorded.status();
      out.error = out.status.error;
      ADD_FAILURE() << "varve::run_passes(): nothing was recorded: " << out.error;
      return trace{};
    }
    for (int i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
      if (options.phase) {
        const phase marked{*options.phase};
        pass();
      } else {
        pass();
      }
    }
    trace records = recorded.stop();
    out.status = recorded.status();
    return records;
  };
  arm();
  if (options.warm_up > 0) {
    static_cast<void>(record(options.warm_up));
  }
  if (out.error.empty()) {
    out.records = record(options.passes);
    out.report = analyze(out.records, options.analysis);
  }
  return out;
}
template <class Pass>
[[nodiscard]] measured_passes run_passes(Pass&& pass) {
  return run_passes(pass_options{}, std::forward<Pass>(pass));
}

}  // namespace v0
}  // namespace varve

#endif  // VARVE_TESTING_PASSES_HPP

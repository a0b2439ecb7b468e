// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// For Google Benchmark: what a session recorded, as counters of a benchmark, and manual timing by GPU time.
// Link varve::benchmark. docs/testing.md has an example.
//
//     void decode_step(benchmark::State& state) {
//       engine e;
//       varve::benchmark_session recorded{state};
//       for (auto _ : state) {
//         e.decode_step();
//       }
//     }
//     BENCHMARK(decode_step)->UseManualTime();  // iterations last their GPU time; without, their wall
#ifndef VARVE_BENCHMARK_HPP
#define VARVE_BENCHMARK_HPP

#include <varve/report.hpp>
#include <varve/session.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace varve {
inline namespace v0 {

/// What an iteration did, on average over `iterations`: sums over all passes but those of kinds load, capture
/// and warm-up (over the whole trace where no pass is marked), of the device with the most GPU time. An
/// iteration may be any number of passes. Times in seconds.
struct iteration_figures {
  double passes = 0;
  double gpu_time = 0;
  double launch_time = 0;  ///< of the host, in launching calls
  double starved = 0;
  double launches = 0;
  double flop_rate = 0;   ///< FLOP a second of GPU time; 0 unless work is known of 99 % of that
  double byte_rate = 0;   ///< likewise
  double efficiency = 0;  ///< roof time ÷ GPU time; 0 unless it is known of all of these passes
};

[[nodiscard]] inline iteration_figures figures_of(const report& r, std::int64_t iterations) {
  iteration_figures best;
  double best_time = -1;
  for (const phase_row& any : r.phases) {
    iteration_figures sum;
    double flops = 0;
    double bytes = 0;
    double roof = 0;
    double unknown_work = 0;
    bool rated = true;
    for (const phase_row& p : r.phases) {
      const std::string_view kind = p.phase;
      if (p.device != any.device || kind == VARVE_LOAD || kind == VARVE_CAPTURE || kind == VARVE_WARM_UP) {
        continue;
      }
      const auto time = static_cast<double>(p.total.gpu_time);
      sum.passes += static_cast<double>(p.passes);
      sum.gpu_time += time;
      sum.launch_time += static_cast<double>(p.total.launch_time);
      sum.starved += static_cast<double>(p.partition.starved.total());
      sum.launches += static_cast<double>(p.total.launches);
      flops += static_cast<double>(p.total.declared.flops);
      bytes += static_cast<double>(p.total.declared.bytes());
      unknown_work += static_cast<double>(p.total.unknown_work_time);
      roof += p.verdict.roof_share * time;
      rated = rated && (p.verdict.roof_share > 0 || time <= 0);
    }
    if (sum.gpu_time <= best_time || iterations <= 0) {
      continue;
    }
    best_time = sum.gpu_time;
    best = sum;
    if (sum.gpu_time > 0) {
      const bool known = unknown_work <= sum.gpu_time / 100;  // as for figures of budgets
      best.flop_rate = known ? flops / sum.gpu_time * 1e9 : 0;
      best.byte_rate = known ? bytes / sum.gpu_time * 1e9 : 0;
      best.efficiency = rated ? roof / sum.gpu_time : 0;
    }
    const auto n = static_cast<double>(iterations);
    best.passes /= n;
    best.launches /= n;
    for (double* time : {&best.gpu_time, &best.launch_time, &best.starved}) {
      *time /= n * 1e9;
    }
  }
  return best;
}

/// Sets the counters gpu_time, launch_time and starved (seconds), launches, passes, and where work is known
/// FLOP/s, byte/s and efficiency, all of one iteration.
inline void set_counters(::benchmark::State& state, const iteration_figures& figures) {
  const auto set = [&](const char* name, double value) {
    state.counters[name] = ::benchmark::Counter{value};
  };
  set("gpu_time", figures.gpu_time);
  set("launch_time", figures.launch_time);
  set("starved", figures.starved);
  set("launches", figures.launches);
  set("passes", figures.passes);
  if (figures.flop_rate > 0) {
    set("FLOP/s", figures.flop_rate);
  }
  if (figures.byte_rate > 0) {
    set("byte/s", figures.byte_rate);
  }
  if (figures.efficiency > 0) {
    set("efficiency", figures.efficiency);
  }
}

/// A session around a benchmark's loop: construct it right before, and let it end after. Then the counters
/// are set, and the GPU time of all iterations is their manual time, for benchmarks that UseManualTime(). Of
/// a benchmark with threads it records all of them; only thread 0 has the session, counters are of an
/// iteration of any of them. The loop's last iteration is to wait for its work on the device.
///
/// The benchmark fails with an error where no session can be had, where no work of a device was recorded, and
/// where records were lost: sums would be too small.
class benchmark_session {
 public:
  explicit benchmark_session(::benchmark::State& state, session_options options = {},
                             analyze_options analysis = {})
      : state_{state}, analysis_{std::move(analysis)} {
    if (state.thread_index() != 0) {
      return;
    }
    session_.emplace(std::move(options));
    if (!*session_) {
      fail("no session: " + session_->status().error);
      session_.reset();
    }
  }
  benchmark_session(const benchmark_session&) = delete;
  benchmark_session& operator=(const benchmark_session&) = delete;
  ~benchmark_session() {
    try {
      static_cast<void>(finish());
    } catch (...) {
      state_.SkipWithError("varve: no memory for the report");
    }
  }

  /// What the destructor does, earlier: the report, for more counters. Empty on other threads than 0 and when
  /// called again.
  report finish() {
    if (!session_) {
      return {};
    }
    report out = analyze(session_->stop(), analysis_);
    session_.reset();
    const iteration_figures figures =
        figures_of(out, state_.iterations() * static_cast<std::int64_t>(state_.threads()));
    if (!out.quality.losses.empty()) {
      const loss& first = out.quality.losses.front();
      fail("records were lost: " + first.what + " (" + std::to_string(first.count) +
           "); run fewer iterations, or raise session_options::trace_memory");
    } else if (!(figures.gpu_time > 0)) {
      fail("no work of a device was recorded in a pass" + unavailable(out));
    } else {
      set_counters(state_, figures);
      state_.SetIterationTime(figures.gpu_time * static_cast<double>(state_.iterations()));
    }
    return out;
  }

 private:
  void fail(const std::string& why) { state_.SkipWithError(("varve: " + why).c_str()); }
  static std::string unavailable(const report& r) {
    for (const collector_status& c : r.quality.collectors) {
      if (c.state == collector_state::unavailable) {
        return ": " + c.name + ": " + c.detail;
      }
    }
    return {};
  }

  ::benchmark::State& state_;
  analyze_options analysis_;
  std::optional<session> session_;
};

}  // namespace v0
}  // namespace varve

#endif  // VARVE_BENCHMARK_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What markers cost the engine's thread (goals 1 to 3), in nanoseconds a pair.
#include <varve/session.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <optional>

#include "goals.hpp"
#include "loops.hpp"

namespace {

using varve_bench::loops;

constexpr int rounds = 100;  // of 10 pairs, each time
constexpr int iterations = 400;
constexpr int repetitions = 7;

/// Times `loop`; with `record`, under a session whose memory holds all of it, so that none is dropped.
void time_loop(benchmark::State& state, void (*loop)(int), bool record) {
  if (loop == nullptr) {
    state.SkipWithError("built without the NVTX headers");
    return;
  }
  static std::optional<varve::session> session;
  if (record && state.thread_index() == 0) {
    varve::session_options options;
    options.marker_memory = std::size_t{96} << 20U;
    session.emplace(options);
  }
  double nanoseconds = 0;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    loop(rounds);
    nanoseconds += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  }
  state.counters["ns"] =
      benchmark::Counter(nanoseconds / (10.0 * rounds * iterations), benchmark::Counter::kAvgThreads);
  if (record && state.thread_index() == 0) {
    const varve::trace t = session->stop();
    for (const varve::loss& l : t.losses) {
      state.SkipWithError((l.what + ": not a measure of recording").c_str());
    }
    session.reset();
  }
}

void add(const char* name, void (*loop)(int), bool record, int threads = 1) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) { time_loop(state, loop, record); })
      ->Iterations(iterations)
      ->Repetitions(repetitions)
      ->Threads(threads)
      ->ReportAggregatesOnly(false);
}

}  // namespace

int main(int argc, char** argv) {
  const loops own = varve_bench::loops_in_executable();
  const loops shared = varve_bench::loops_in_shared_object();
  add("two clock reads", own.two_clock_reads, false);
  add("pair, session, executable", own.nested_markers, true);
  add("two clock reads, shared object", shared.two_clock_reads, false);
  add("pair, session, shared object", shared.nested_markers, true);
  add("next, session", own.sequence_next, true);
  add("pair, session, two threads", own.nested_markers, true, 2);
  add("two clock reads, two threads", own.two_clock_reads, false, 2);
  add("pair, no session, executable", own.nested_markers, false);
  add("pair, no session, shared object", shared.nested_markers, false);
  add("pair, disabled", varve_bench::loops_disabled().nested_markers, false);
  add("NVTX push and pop, no tool", own.nvtx_push_pop, false);
  return varve_bench::run(
      argc, argv,
      {{"1 pair with a session, executable", "pair, session, executable", "two clock reads", "ns", 1.15},
       {"1 pair with a session, shared object", "pair, session, shared object",
        "two clock reads, shared object", "ns", 1.15},
       {"1 two threads against one", "pair, session, two threads", "pair, session, executable", "ns", 1.10},
       {"  the machine's own: clock reads on two threads", "two clock reads, two threads", "two clock reads",
        "ns", 0},
       {"  pair against clock reads, both on two threads", "pair, session, two threads",
        "two clock reads, two threads", "ns", 0},
       {"3 next() against a pair", "next, session", "pair, session, executable", "ns", 0.6},
       {"  pair without a session against NVTX without a tool", "pair, no session, executable",
        "NVTX push and pop, no tool", "ns", 0}});
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What markers cost the engine's thread (goals 1 to 3): nanoseconds a pair, page faults.
#include <varve/session.hpp>

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <chrono>
#include <optional>

#include "goals.hpp"
#include "loops.hpp"

namespace {

using varve_bench::loops;

constexpr int rounds = 100;  // of 10 pairs, each time
constexpr int iterations = 400;
constexpr int repetitions = 7;

void fail_on_losses(benchmark::State& state, const varve::trace& t) {
  for (const varve::loss& l : t.losses) {
    state.SkipWithError((l.what + ": not a measure of recording").c_str());
  }
}

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
    fail_on_losses(state, session->stop());
    session.reset();
  }
}

long minor_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

/// Page faults of the marking thread while a session has run for a while, and its reader with it.
void count_faults(benchmark::State& state, void (*loop)(int)) {
  varve::session session;
  loop(rounds);
  long faults = 0;
  for (auto _ : state) {
    const long before = minor_faults();
    loop(rounds);
    faults += minor_faults() - before;
  }
  state.counters["faults"] = static_cast<double>(faults);
  fail_on_losses(state, session.stop());
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
  using varve_bench::no_goal;
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
  benchmark::RegisterBenchmark("faults, session",
                               [=](benchmark::State& state) { count_faults(state, own.nested_markers); })
      ->Iterations(iterations)
      ->Repetitions(repetitions);
  return varve_bench::run(
      argc, argv,
      {{"1 pair with a session, executable", "pair, session, executable", "two clock reads", "ns", 1.15},
       {"1 pair with a session, shared object", "pair, session, shared object",
        "two clock reads, shared object", "ns", 1.15},
       {"1 two threads against one", "pair, session, two threads", "pair, session, executable", "ns", 1.10},
       {"1 page faults in 400,000 pairs", "faults, session", "", "faults", 0},
       {"  the machine's own: clock reads on two threads", "two clock reads, two threads", "two clock reads",
        "ns", no_goal},
       {"  pair against clock reads, both on two threads", "pair, session, two threads",
        "two clock reads, two threads", "ns", no_goal},
       {"3 next() against a pair", "next, session", "pair, session, executable", "ns", 0.6},
       {"  pair without a session against NVTX without a tool", "pair, no session, executable",
        "NVTX push and pop, no tool", "ns", no_goal}});
}

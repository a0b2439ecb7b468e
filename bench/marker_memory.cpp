// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What markers cost in memory (goal 1): bytes of its log that a thread writes a pair. Read from the log
// itself, so this links the library's objects, and no session runs whose reader would take the bytes away.
#include <benchmark/benchmark.h>

#include "goals.hpp"
#include "record/registry.hpp"

namespace {

using namespace varve::record;  // NOLINT(google-build-using-namespace)

constexpr int pairs = 10'000;

void bytes_of_pairs(benchmark::State& state, std::int32_t index) {
  pool.open(std::size_t{4} << 20U);
  ++current_epoch;
  thread_log& log = this_log != nullptr ? *this_log : *registry.acquire();
  log.pop(log.push(VARVE_KIND_LAYER, "first", index, true), true);  // says which session it belongs to
  log_cursor before{log};
  while (const slot* e = before.next()) {
    before.advance(slots_of(*e));
  }
  for (auto _ : state) {
    for (int i = 0; i < pairs; ++i) {
      log.pop(log.push(VARVE_KIND_LAYER, "attention", index, true), true);
    }
    std::uint64_t slots = 0;
    std::uint64_t ends = 0;
    log_cursor written{log};
    while (const slot* e = written.next()) {
      ends += type_of(*e) == event::end ? 1U : 0U;
      slots += slots_of(*e);
      written.advance(slots_of(*e));
    }
    if (ends != pairs) {
      state.SkipWithError("pairs were dropped: not a measure of recording");
    }
    state.counters["bytes"] = static_cast<double>(slots * sizeof(slot)) / pairs;
  }
  pool.close();
}

}  // namespace

int main(int argc, char** argv) {
  using varve_bench::no_goal;
  const auto add = [](const char* name, std::int32_t index) {
    benchmark::RegisterBenchmark(name, [=](benchmark::State& state) { bytes_of_pairs(state, index); })
        ->Iterations(1)
        ->Repetitions(3);
  };
  add("pair, index below 65535", 31);
  add("pair, wide index", 1 << 20U);
  return varve_bench::run(
      argc, argv,
      {{"1 bytes a pair", "pair, index below 65535", "", "bytes", 32},
       {"  bytes a pair with an index of 65535 or more", "pair, wide index", "", "bytes", no_goal}});
}

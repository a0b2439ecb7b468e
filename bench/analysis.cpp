// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the join of activities to calls, ranges and rows, and the whole of analyze(), cost against a memcpy of
// the trace's columns into fresh memory (goal 5), in time and in memory. The trace is that of an engine that
// decodes: passes of 32 layers with 10 kernels each.
#include "analyze/activities.hpp"

#include <varve/report.hpp>
#include <varve/trace.hpp>

#include <benchmark/benchmark.h>

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <random>

#include "goals.hpp"

namespace {

std::size_t live = 0;  // bytes from operator new; this program has one thread
std::size_t peak = 0;

void* allocate(std::size_t size) {
  void* memory = std::malloc(size != 0 ? size : 1);
  if (memory == nullptr) {
    throw std::bad_alloc{};
  }
  live += ::malloc_usable_size(memory);
  peak = std::max(peak, live);
  return memory;
}

void release(void* memory) noexcept {
  live -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { release(memory); }

namespace {

constexpr int layers = 32;
constexpr int kernels_a_layer = 10;

varve::trace decode_trace(std::int64_t kernels) {
  varve::trace t;
  t.calls.reserve(static_cast<std::size_t>(kernels));
  t.activities.reserve(static_cast<std::size_t>(kernels));
  const std::uint16_t thread = t.intern_thread(1);
  const std::uint16_t stream = t.intern_stream({0, 1, 7});
  std::vector<std::uint32_t> names;
  for (int k = 0; k < kernels_a_layer; ++k) {
    names.push_back(t.strings.intern("kernel_" + std::to_string(k)));
  }
  const std::uint32_t decode =
      t.labels.intern({varve::none, t.strings.intern("decode"), varve::no_index, varve::range_kind::phase});
  varve::time_ns host = 1'000'000'000;
  varve::time_ns device = host;
  std::uint32_t correlation = 1;
  while (correlation <= kernels) {
    const auto pass = static_cast<std::uint32_t>(t.ranges.size());
    varve::range r;
    r.begin = host;
    r.label = decode;
    r.thread = thread;
    r.kind = varve::range_kind::phase;
    t.ranges.push_back(r);
    for (int layer = 0; layer < layers; ++layer) {
      varve::range l = r;
      l.begin = host;
      l.parent = pass;
      l.kind = varve::range_kind::layer;
      l.label = t.labels.intern({decode, t.strings.intern("layer"), layer, varve::range_kind::layer});
      const auto index = static_cast<std::uint32_t>(t.ranges.size());
      for (int k = 0; k < kernels_a_layer; ++k, ++correlation) {
        host += 500;
        varve::call c;
        c.begin = host;
        c.end = host + 4000;
        c.correlation = correlation;
        c.range = index;
        c.thread = thread;
        t.add_call(c);
        host = c.end;
        device = std::max(device + 800, host + 1000);  // a gap of 800 ns, or waiting for the host
        varve::activity a;
        a.begin = device;
        a.end = device + 3000 + varve::time_ns{100} * k;
        a.correlation = correlation;
        a.name = names[static_cast<std::size_t>(k)];
        a.stream = stream;
        t.add_activity(a);
        device = a.end;
      }
      l.end = host;
      t.ranges.push_back(l);
    }
    host += 20000;
    t.ranges[pass].end = host;
  }
  return t;
}

template <class Column>
void permute(Column& column, const std::vector<std::uint32_t>& order) {
  Column out;
  out.reserve(column.size());
  for (const std::uint32_t i : order) {
    out.push_back(column[i]);
  }
  column = std::move(out);
}

/// Records as buffers deliver them: runs of a few thousand in time order, the runs themselves shuffled.
void shuffle_buffers(varve::activity_columns& a) {
  constexpr std::size_t run = 4096;
  std::vector<std::size_t> runs((a.size() + run - 1) / run);
  std::iota(runs.begin(), runs.end(), std::size_t{0});
  std::shuffle(runs.begin(), runs.end(), std::mt19937{7});
  std::vector<std::uint32_t> order;
  for (const std::size_t r : runs) {
    for (std::size_t i = r * run; i < std::min((r + 1) * run, a.size()); ++i) {
      order.push_back(static_cast<std::uint32_t>(i));
    }
  }
  permute(a.begin, order);
  permute(a.end, order);
  permute(a.correlation, order);
  permute(a.name, order);
  permute(a.node, order);
  permute(a.detail, order);
  permute(a.stream, order);
  permute(a.kind, order);
}

/// All bytes of the columns and ranges, copied into memory that was not touched before.
void copy_columns(const varve::trace& t) {
  const auto copy = [](const auto& column) {
    const std::size_t bytes = column.size() * sizeof(column[0]);
    void* fresh = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(fresh, column.data(), bytes);
    benchmark::DoNotOptimize(fresh);
    ::munmap(fresh, bytes);
  };
  copy(t.calls.begin), copy(t.calls.end), copy(t.calls.correlation), copy(t.calls.range);
  copy(t.calls.thread), copy(t.calls.kind), copy(t.calls.captured);
  copy(t.activities.begin), copy(t.activities.end), copy(t.activities.correlation), copy(t.activities.name);
  copy(t.activities.node), copy(t.activities.detail), copy(t.activities.stream), copy(t.activities.kind);
  copy(t.ranges);
}

/// Each activity to its call, range, pass and row.
void join(const varve::trace& t) {
  varve::report_quality quality;
  varve::analysis::structure marks = varve::analysis::read_structure(t, {});
  varve::analysis::call_index calls{t};
  varve::analysis::row_table rows{t, marks};
  varve::analysis::range_devices devices{t, marks, rows};
  benchmark::DoNotOptimize(
      varve::analysis::attribute_activities(t, {}, marks, calls, rows, devices, quality));
}

void whole(const varve::trace& t) { benchmark::DoNotOptimize(varve::analyze(t)); }

void add(const std::string& name, std::int64_t kernels, bool shuffled, void (*work)(const varve::trace&)) {
  const auto run = [=](benchmark::State& state) {
    varve::trace t = decode_trace(kernels);
    if (shuffled) {
      shuffle_buffers(t.activities);
    }
    std::vector<double> times;
    const std::size_t before = live;
    peak = before;
    for (auto _ : state) {
      const auto begin = std::chrono::steady_clock::now();
      work(t);
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
      times.push_back(took.count());
    }
    std::sort(times.begin(), times.end());
    state.counters["ms"] = times[times.size() / 2];
    state.counters["bytes"] = static_cast<double>(peak - before) / static_cast<double>(kernels);
  };
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->Iterations(kernels > 2'000'000 ? 3 : 9)
      ->Repetitions(3)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  using varve_bench::no_goal;
  constexpr std::int64_t million = 1'000'000;
  add("memcpy of 1M", million, false, copy_columns);
  add("join 1M", million, false, join);
  add("join 1M, buffers out of order", million, true, join);
  add("report 1M", million, false, whole);
  add("report 1M, buffers out of order", million, true, whole);
  add("memcpy of 5M", 5 * million, false, copy_columns);
  add("join 5M", 5 * million, false, join);
  add("report 5M", 5 * million, false, whole);
  return varve_bench::run(
      argc, argv,
      {{"5 memcpy against join, 1M kernels (ms)", "memcpy of 1M", "join 1M", "ms", 0.4, true},
       {"5 memcpy against join, 5M kernels (ms)", "memcpy of 5M", "join 5M", "ms", 0.25, true},
       {"5 join out of order against sorted, 1M (ms)", "join 1M, buffers out of order", "join 1M", "ms",
        1.25},
       {"5 join: bytes a kernel beyond the input", "join 1M", "", "bytes", 16},
       {"  memcpy against the whole report, 1M (ms)", "memcpy of 1M", "report 1M", "ms", no_goal},
       {"  memcpy against the whole report, 5M (ms)", "memcpy of 5M", "report 5M", "ms", no_goal},
       {"  report out of order against sorted, 1M (ms)", "report 1M, buffers out of order", "report 1M", "ms",
        no_goal},
       {"  report: bytes a kernel beyond the input", "report 1M", "", "bytes", no_goal}});
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// One session, longer than its memory lasts: 16 threads launch, capture, clone, instantiate, update and
// destroy graphs on streams that come and go, on the stand-in for CUPTI, whose calls nest with ids of their
// own. What records of the past need is retired some thousand times a minute. First all is kept until the
// trace's memory is full; from then on everything is counted, for SECONDS. Every call, kernel and range is in
// the trace or in a loss, once; the tables empty themselves; resident memory levels off.
//
//     soak_session [SECONDS]
#include "record/graph_labels.hpp"
#include "record/recording.hpp"
#include "standin_cupti/control.hpp"

#include <varve/varve.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "soak/memory.hpp"

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int threads = 16;
constexpr int layers = 8;
constexpr varve::time_ns retire_interval = 15'000'000;  // up to 4000 times a minute
constexpr std::size_t most_labels = 1U << 15U;
constexpr std::size_t most_aliases = 16U << 20U;  // bytes
constexpr double most_growth = 4e6;               // of resident memory, over the second half

#ifdef VARVE_SANITIZED
constexpr bool sanitized = true;  // what is freed is held for a while
#else
constexpr bool sanitized = false;
#endif

std::atomic<bool> enough{false};
std::atomic<int> pause_us{20'000};  // between passes: slow until the memory is full

/// What the engines did: the truth.
struct truth {
  std::atomic<std::uint64_t> ranges{0};
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> kernels{0};
  std::atomic<std::uint64_t> rounds{0};
} made;

/// What a call did, counted.
void count(const standin::done& d) {
  ++made.calls;
  made.kernels += d.times.size();
}

void run_layers(standin::stream s) {
  static const char* const names[] = {"gemm", "rope", "norm", "silu", "attention"};
  for (int i = 0; i < layers; ++i) {
    const varve::layer layer{"layer", i};
    ++made.ranges;
    count(standin::launch(s, names[i % 5]));
  }
}

standin::graph capture(standin::stream s) {
  standin::begin_capture(s);
  run_layers(s);
  made.calls += 2;
  return standin::end_capture(s);
}

standin::executable make(standin::graph g) {
  ++made.calls;
  return standin::instantiate(g);
}

template <class Graph>
void remove(Graph g) {
  ++made.calls;
  standin::destroy(g);
}

void decode(standin::stream s, standin::executable e, int times) {
  for (int i = 0; i < times; ++i) {
    const varve::phase pass{varve::decode};
    ++made.ranges;
    count(standin::launch(s, e));
  }
}

void engine() {
  while (!enough) {
    const standin::stream s = standin::create_stream();
    const standin::graph g = capture(s);
    const standin::graph copy = standin::clone(g);
    ++made.calls;
    const standin::executable e = make(g);
    const standin::executable of_copy = make(copy);
    remove(copy);
    for (int i = 0; i < 10; ++i) {
      const varve::phase pass{varve::prefill};
      ++made.ranges;
      run_layers(s);
      std::this_thread::sleep_for(std::chrono::microseconds{pause_us});
    }
    decode(s, e, 4);
    decode(s, of_copy, 4);
    remove(of_copy);
    remove(g);
    const standin::graph again = capture(s);
    ++made.calls;
    standin::update(e, again);
    decode(s, e, 4);
    remove(e);
    const standin::executable anew = make(again);
    remove(again);
    decode(s, anew, 4);
    remove(anew);
    standin::destroy_stream(s);
    ++made.rounds;
  }
}

std::uint64_t lost(const std::vector<varve::loss>& losses, const char* what) {
  std::uint64_t sum = 0;
  for (const varve::loss& l : losses) {
    sum += l.what.find(what) != std::string::npos ? l.count : 0;
  }
  return sum;
}

class judge {
 public:
  void check(bool right, const std::string& what) {
    if (!right) {
      std::printf("wrong: %s\n", what.c_str());
      ++wrong_;
    }
  }
  void equal(std::uint64_t is, std::uint64_t should, const std::string& what) {
    check(is == should, what + ": " + std::to_string(is) + " instead of " + std::to_string(should));
  }
  [[nodiscard]] int wrong() const noexcept { return wrong_; }

 private:
  int wrong_ = 0;
};

/// How much the straight line through these grows from the first to the last; they are equally spaced.
double growth(const std::vector<double>& all) {
  const auto n = static_cast<double>(all.size());
  double weighted = 0;
  double squares = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double x = static_cast<double>(i) - (n - 1) / 2;
    weighted += x * all[i];
    squares += x * x;
  }
  return squares != 0 ? weighted / squares * (n - 1) : 0;
}

void check_numbers(judge& j, const varve::trace& t) {
  const auto& l = t.losses;
  j.equal(t.ranges.size() + lost(l, "ranges dropped") + lost(l, "ranges not kept"), made.ranges,
          "ranges kept and lost");
  j.equal(t.calls.size() + lost(l, "calls or activities dropped") + lost(l, "calls not kept"), made.calls,
          "calls kept and lost");
  j.equal(t.activities.size() + lost(l, "activities not kept") + lost(l, "activity records not kept") +
              lost(l, "dropped by CUPTI"),
          made.kernels, "kernels kept and lost");
  std::unordered_set<std::uint32_t> known;
  std::size_t outside = 0;
  for (std::size_t c = 0; c < t.calls.size(); ++c) {
    known.insert(t.calls.correlation[c]);
    const bool launches =
        t.calls.kind[c] == varve::call_kind::launch || t.calls.kind[c] == varve::call_kind::graph_launch;
    std::uint32_t r = t.calls.range[c];
    while (r != varve::none && t.ranges[r].kind != varve::range_kind::phase) {
      r = t.ranges[r].parent;
    }
    outside += launches && t.calls.captured[c] == 0 && r == varve::none ? 1U : 0U;
  }
  j.check(outside <= lost(l, "ranges dropped") + lost(l, "ranges not kept"),
          std::to_string(outside) + " launches kept without a pass");
  std::size_t unmatched = 0;
  for (const std::uint32_t c : t.activities.correlation) {
    unmatched += known.count(c) == 0 ? 1U : 0U;
  }
  std::size_t unlabelled = 0;
  for (const varve::graph_node& n : t.graph_nodes) {
    unlabelled += n.label == varve::none ? 1U : 0U;
  }
  // Of a launch that the scheduler stops for longer than ids are kept, and of calls at the moment when memory
  // ended.
  j.check(unmatched <= t.activities.size() / 100, "too many kernels without their call");
  j.check(unlabelled <= t.graph_nodes.size() / 100, "too many graph nodes without a layer");
  std::printf("%zu kernels whose call is not kept, %zu of %zu graph nodes without a layer\n", unmatched,
              unlabelled, t.graph_nodes.size());
}

}  // namespace

int main(int argc, char** argv) {
  const double length = argc > 1 ? std::strtod(argv[1], nullptr) : 60;
  judge j;
  standin::config settings;
  settings.correlation = standin::nested_correlation::inner;
  settings.records_per_buffer = 500;
  standin::reset(settings);
  varve::record::retire_after(retire_interval);
  varve::session_options options;
  options.gpu.cupti_library = "libcupti.so.13";  // this program links it: the stand-in
  options.gpu.buffer_bytes = std::size_t{256} << 10U;
  options.marker_memory = std::size_t{32} << 20U;
  options.trace_memory = static_cast<std::size_t>(std::clamp(length, 4.0, 128.0)) << 20U;
  varve::session session{options};
  std::vector<std::thread> engines;
  for (int i = 0; i < threads; ++i) {
    engines.emplace_back(engine);
  }

  std::size_t before = 0;
  std::size_t labels = 0;
  std::size_t aliases = 0;
  const auto look = [&] {
    labels = std::max(labels, varve::record::labels_of_graphs().size());
    const varve::record::recording_size size = varve::record::size_of_recording();
    aliases = std::max(aliases, size.aliases);
    j.check(size.used <= options.trace_memory, "more memory is used than allowed");
    const varve::trace t = session.snapshot();
    j.check(t.activities.size() >= before, "a snapshot holds less than the one before");
    before = t.activities.size();
    return lost(t.losses, "trace memory full") != 0;
  };
  const auto begin = steady_clock::now();
  while (!look()) {
    std::this_thread::sleep_for(milliseconds{100});
  }
  const auto filled = steady_clock::now();
  pause_us = 500;
  const std::uint32_t retired = varve::record::size_of_recording().retired;
  const double filling = std::chrono::duration<double>(filled - begin).count();
  std::printf(
      "full after %.1f s: %.0f times a minute was retired, %zu labels of graph nodes and %.0f KB of ids at "
      "most\n",
      filling, retired / filling * 60, labels, static_cast<double>(aliases) / 1e3);
  std::vector<double> resident;
  while (steady_clock::now() - filled < std::chrono::duration<double>{length}) {
    look();
    resident.push_back(soak::memory("VmRSS:"));
    std::this_thread::sleep_for(milliseconds{100});
  }
  enough = true;
  for (std::thread& t : engines) {
    t.join();
  }
  // Nothing is left of what is gone.
  const auto idle = steady_clock::now();
  while ((varve::record::labels_of_graphs().size() != 0 || varve::record::size_of_recording().aliases != 0) &&
         steady_clock::now() - idle < std::chrono::seconds{20}) {
    std::this_thread::sleep_for(milliseconds{20});
  }
  j.equal(varve::record::labels_of_graphs().size(), 0, "labels left");
  j.equal(varve::record::size_of_recording().aliases, 0, "bytes of ids left");
  for (const varve::collector_status& c : session.status().collectors) {
    j.check(c.name != "cupti" || c.detail.find("(0 in graphs and executables") != std::string::npos,
            "graphs left: " + c.detail);
  }

  const varve::trace t = session.stop();
  resident.erase(resident.begin(), resident.begin() + static_cast<std::ptrdiff_t>(resident.size() / 2));
  const double grown = growth(resident);
  std::printf("%llu rounds, %llu kernels, %zu kept; %.0f MB resident, %+.2f MB over the second half\n",
              static_cast<unsigned long long>(made.rounds), static_cast<unsigned long long>(made.kernels),
              t.activities.size(), resident.empty() ? 0 : resident.back() / 1e6, grown / 1e6);
  for (const varve::loss& l : t.losses) {
    std::printf("  %12llu %s\n", static_cast<unsigned long long>(l.count), l.what.c_str());
  }
  check_numbers(j, t);
  j.check(labels <= most_labels, "too many labels of graph nodes: " + std::to_string(labels));
  j.check(aliases <= most_aliases, "too many ids of nested calls");
  j.check(grown < most_growth || sanitized, "memory grows");
  for (const std::string& m : standin::misuses()) {
    j.check(false, "misuse of CUPTI: " + m);
  }
  return j.wrong() != 0 ? 1 : 0;
}

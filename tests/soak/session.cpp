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

#include "soak/engines.hpp"
#include "soak/memory.hpp"

namespace {

using namespace soak;  // NOLINT(google-build-using-namespace)
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr varve::time_ns retire_interval = 15'000'000;  // up to 4000 times a minute
constexpr std::size_t most_labels = 1U << 15U;
constexpr std::size_t most_aliases = 16U << 20U;  // bytes

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
  const varve::session_options options =
      soak::options(static_cast<std::size_t>(std::clamp(length, 4.0, 128.0)) << 20U);
  varve::record::retire_after(retire_interval);
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

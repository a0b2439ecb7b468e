// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// One session that goes on for SECONDS and is taken from every 20 ms, in a memory that a second of it would
// fill. Every call, kernel and range of 16 threads is in one of the traces or in a loss, once; what is used
// stays far below the cap, and resident memory levels off.
//
//     soak_taken [SECONDS]
#include "record/recording.hpp"

#include <algorithm>
#include <cstdlib>
#include <unordered_set>

#include "soak/engines.hpp"
#include "soak/memory.hpp"

namespace {

using namespace soak;  // NOLINT(google-build-using-namespace)
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// What the traces hold, and lost, together.
struct sums {
  std::uint64_t ranges = 0;
  std::uint64_t calls = 0;
  std::uint64_t kernels = 0;
  std::uint64_t lost_calls = 0;
  std::uint64_t late = 0;       // kernels whose call was in the window before
  std::uint64_t unmatched = 0;  // and that have none
  std::uint64_t unlabelled = 0;
  std::uint64_t overlapping = 0;
  varve::time_ns end = 0;
  std::unordered_set<std::uint32_t> before{};

  void add(judge& j, const varve::trace& t) {
    const auto& l = t.losses;
    ranges += t.ranges.size() + lost(l, "ranges dropped") + lost(l, "ranges not kept");
    const std::uint64_t gone = lost(l, "calls or activities dropped") + lost(l, "calls not kept");
    calls += t.calls.size() + gone;
    lost_calls += gone;
    kernels += t.activities.size() + lost(l, "activities not kept") + lost(l, "activity records not kept") +
               lost(l, "dropped by CUPTI") + lost(l, "came after their pass had been taken");
    j.check(end == 0 || t.begin == end, "a trace does not begin where the one before ended");
    end = t.end;
    std::unordered_set<std::uint32_t> known{t.calls.correlation.begin(), t.calls.correlation.end()};
    for (const std::uint32_t c : t.activities.correlation) {
      if (known.count(c) == 0) {
        ++(before.count(c) != 0 ? late : unmatched);
      }
    }
    if (!known.empty()) {
      before = std::move(known);
    }
    for (const std::uint32_t n : t.activities.node) {
      unlabelled += n != varve::none && t.graph_nodes.at(n).label == varve::none ? 1U : 0U;
    }
    for (const varve::range& r : t.ranges) {
      overlapping += r.begin < t.begin ? 1U : 0U;
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const double length = argc > 1 ? std::strtod(argv[1], nullptr) : 60;
  judge j;
  const varve::session_options options = soak::options(std::size_t{64} << 20U);
  varve::record::retire_after(2'000'000'000);
  varve::session session{options};
  pause_us = 2000;
  std::vector<std::thread> engines;
  for (int i = 0; i < threads; ++i) {
    engines.emplace_back(engine);
  }
  sums all;
  std::size_t most_used = 0;
  std::vector<double> resident;
  const auto begin = steady_clock::now();
  while (steady_clock::now() - begin < std::chrono::duration<double>{length}) {
    most_used = std::max(most_used, varve::record::size_of_recording().used);
    all.add(j, session.take());
    resident.push_back(memory("VmRSS:"));
    std::this_thread::sleep_for(milliseconds{20});
  }
  enough = true;
  for (std::thread& t : engines) {
    t.join();
  }
  all.add(j, session.take());
  all.add(j, session.stop());
  const std::size_t traces = resident.size() + 2;
  resident.erase(resident.begin(), resident.begin() + static_cast<std::ptrdiff_t>(resident.size() / 2));
  const double grown = growth(resident);
  std::printf(
      "%llu rounds, %llu kernels in %zu traces; %llu ranges in traces that overlap; %.1f MB kept at most; "
      "%.0f MB resident, %+.2f MB over the second half\n",
      static_cast<unsigned long long>(made.rounds), static_cast<unsigned long long>(made.kernels), traces,
      static_cast<unsigned long long>(all.overlapping), static_cast<double>(most_used) / 1e6,
      resident.empty() ? 0 : resident.back() / 1e6, grown / 1e6);
  j.equal(all.ranges, made.ranges, "ranges taken and lost");
  j.equal(all.calls, made.calls, "calls taken and lost");
  j.equal(all.kernels, made.kernels, "kernels taken and lost");
  // Of graphs whose records come later than it is waited for, on a machine that is busy with other things.
  j.check(all.late <= made.kernels / 100, std::to_string(all.late) + " kernels after their call");
  j.check(all.unmatched <= layers * all.lost_calls,
          std::to_string(all.unmatched) + " kernels without a call");
  j.equal(all.unlabelled, 0, "kernels of graphs without a layer");
  // What records of the past need is kept for some seconds: until then there is more of it each second.
  j.check(grown < most_growth || sanitized || length < 30, "memory grows");
  for (const std::string& m : standin::misuses()) {
    j.check(false, "misuse of CUPTI: " + m);
  }
  return j.wrong() != 0 ? 1 : 0;
}

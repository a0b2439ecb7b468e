// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_TESTS_ANALYZE_RANDOM_TRACE_HPP
#define VARVE_TESTS_ANALYZE_RANDOM_TRACE_HPP

#include "analyze/trace_builder.hpp"

#include <algorithm>
#include <random>

namespace varve_test {

using varve::call_kind;

/// All that random_trace makes ends before this time.
inline constexpr time_ns horizon = 240;

/// Two threads with passes and nested layers, four streams on two devices, calls of all kinds, some nested,
/// some captured, work without launches and launches without work, in times so short that all overlaps.
class random_trace : public trace_builder {
 public:
  explicit random_trace(std::uint64_t seed) : random_{seed} {
    t.intern_thread(101);
    stream(0, 8);
    stream(0, 9);
    stream(1, 7);
    const bool passes = !chance(10);
    for (std::uint16_t thread = 0; thread < 2; ++thread) {
      time_ns at = 1 + pick(20);
      while (at < 130) {
        const time_ns end = at + 10 + pick(50);
        const std::uint32_t pass =
            passes && !chance(6) ? phase(chance(2) ? "decode" : "prefill", at, end, none, thread) : none;
        fill(pass, at, end, thread, 0);
        at = end + pick(10);
      }
    }
    if (passes) {
      phase("decode", 1, 5, none, 1);
    }
  }

 private:
  time_ns pick(time_ns below) { return static_cast<time_ns>(random_() % static_cast<std::uint64_t>(below)); }
  bool chance(time_ns one_in) { return pick(one_in) == 0; }

  void fill(std::uint32_t in, time_ns begin, time_ns end, std::uint16_t thread, int depth) {
    time_ns at = begin;
    while (at + 2 < end) {
      const time_ns until = std::min(end, at + 1 + pick(12));
      const time_ns what = pick(10);
      if (what < 3 && depth < 3) {
        const char* const names[] = {"attention", "mlp", "block"};
        const std::uint32_t inner = layer(in, names[pick(3)], static_cast<std::int32_t>(pick(2)), at,
                                          std::min(end, until + 15), thread);
        fill(inner, at, std::min(end, until + 15), thread, depth + 1);
        at = std::min(end, until + 15);
        continue;
      }
      const call_kind kinds[] = {call_kind::launch,      call_kind::launch,   call_kind::launch,
                                 call_kind::copy,        call_kind::set,      call_kind::synchronise,
                                 call_kind::graph_build, call_kind::allocate, call_kind::other,
                                 call_kind::graph_launch};
      const call_kind kind = kinds[pick(10)];
      const bool captured = kind == call_kind::launch && chance(8);
      std::uint32_t c = call(kind, in, at, until, thread, captured);
      if (until - at > 2 && chance(4)) {  // the driver's call inside the runtime's
        t.add_call({at + 1, until - 1, chance(2) ? c : 0, in, thread, kind, captured});
        if (t.calls.correlation.back() == c) {
          t.calls.correlation[t.calls.size() - 2] = 0;  // the activity carries the inner one's
        }
      }
      const bool launches =
          !captured && (kind == call_kind::launch || kind == call_kind::copy || kind == call_kind::set ||
                        (kind == call_kind::graph_launch && chance(2)));
      for (time_ns n = launches ? (kind == call_kind::graph_launch ? 3 : 1) : 0; n-- > 0;) {
        run(chance(12) ? 0 : c, until, kind);
      }
      at = until + pick(4);
    }
  }

  void run(std::uint32_t c, time_ns submitted, call_kind kind) {
    const time_ns begin = std::max<time_ns>(1, submitted + pick(30) - 5);
    const time_ns end = chance(20) ? begin : begin + pick(15);
    const auto on = static_cast<std::uint16_t>(pick(4));
    if (kind == call_kind::copy) {
      copy(c, begin, end, 10, on);
    } else if (kind == call_kind::set) {
      activity(varve::activity_kind::set, c, begin, end, "memset", on);
    } else {
      const char* const names[] = {"gemm", "softmax", "ncclAllReduce"};
      kernel(c, begin, end, names[pick(3)], on);
    }
  }

  std::mt19937_64 random_;
};

}  // namespace varve_test

#endif  // VARVE_TESTS_ANALYZE_RANDOM_TRACE_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The source of GPU spans over the stand-in driver. Host and device read one simulated clock, which stands
// still unless it is advanced: so every time is exact.
#include "events/event_spans.hpp"

#include "standin_cuda/control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace standin_cuda;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using varve::cuda::event_limits;
using varve::cuda::event_spans;
using varve::record::device_span;

varve::time_ns simulated_time() noexcept { return static_cast<varve::time_ns>(now()); }

event_limits simulated() {
  event_limits l;
  l.patience = 0;
  l.ticks = now;
  l.monotonic = simulated_time;
  return l;
}

/// When a span was, on the simulated clock.
struct when {
  std::uint64_t pass;
  varve::time_ns begin;
  varve::time_ns end;
  bool operator==(const when& o) const { return pass == o.pass && begin == o.begin && end == o.end; }
  friend std::ostream& operator<<(std::ostream& out, const when& w) {
    return out << w.pass << " [" << w.begin << ", " << w.end << ')';
  }
};

class event_span_source : public testing::Test {
 protected:
  event_span_source() {
    reset();
    context = create_context();
    stream = create_stream();
  }
  ~event_span_source() override { EXPECT_THAT(misuses(), IsEmpty()); }

  std::vector<when> spans(event_spans& source) {
    handed_over.clear();
    source.hand_over(handed_over);
    std::vector<when> out;
    for (const device_span& s : handed_over) {
      const auto moment = static_cast<varve::time_ns>(s.ticks);
      out.push_back({s.pass, moment + s.begin, moment + s.end});
    }
    return out;
  }
  /// A pass that launches `busy` nanoseconds on the stream.
  void pass(event_spans& source, std::uint64_t token, std::uint64_t busy) {
    source.begin(token, stream);
    launch(stream, busy);
    source.end(token);
  }
  static std::uint64_t lost(const event_spans& source, const std::string& what) {
    std::uint64_t count = 0;
    for (const varve::loss& l : source.losses()) {
      count += l.what.find(what) != std::string::npos ? l.count : 0;
    }
    return count;
  }

  handle context = nullptr;
  handle stream = nullptr;
  std::vector<device_span> handed_over;
};

TEST_F(event_span_source, places_a_span_to_the_nanosecond) {
  event_spans source{simulated()};
  source.start();
  launch(stream, 5'000);     // of before the pass: [1,000,000, 1,005,000)
  pass(source, 7, 123'456);  // [1,005,000, 1,128,456)
  source.poll();
  EXPECT_THAT(spans(source), IsEmpty()) << "it has not run yet";
  advance(201'000);
  source.poll();
  EXPECT_THAT(spans(source), ElementsAre(when{7, 1'005'000, 1'128'456}));
  EXPECT_EQ(handed_over[0].stream.device, 0U);
  EXPECT_EQ(handed_over[0].stream.stream, reinterpret_cast<std::uintptr_t>(stream));
  // The moment: 1,201,000, seen at once; resolution 500; age 196,000 >> 13 = 23.
  EXPECT_EQ(source.error(), 500 + 23);
  EXPECT_THAT(spans(source), IsEmpty()) << "handed over twice";
  source.stop();
  EXPECT_THAT(source.losses(), IsEmpty());
}

TEST_F(event_span_source, measures_several_streams_and_passes) {
  const handle side = create_stream(false);
  event_spans source{simulated()};
  source.start();
  source.begin(1, stream);
  source.begin(1, side);
  source.begin(1, side);  // again: nothing new
  launch(stream, 1'000);
  launch(side, 3'000);
  source.end(1);
  advance(2'000);
  pass(source, 2, 4'000);
  source.begin(3, nullptr);  // the legacy stream, idle
  source.end(3);
  advance(10'000);
  source.poll();
  EXPECT_THAT(spans(source),
              testing::UnorderedElementsAre(when{1, 1'000'000, 1'001'000}, when{1, 1'000'000, 1'003'000},
                                            when{2, 1'002'000, 1'006'000}, when{3, 1'002'000, 1'002'000}));
  source.stop();
  EXPECT_EQ(source.status().detail, "GPU spans 4, of 4 streams that passes named");
}

TEST_F(event_span_source, takes_events_from_the_pool_again_and_gives_all_back_at_the_stop) {
  event_spans source{simulated()};
  source.start();
  for (std::uint64_t p = 0; p < 100; ++p) {
    pass(source, p, 1'000);
    advance(1'000);
    source.poll();
  }
  EXPECT_EQ(events_alive(), 2U + 3U);  // a pair, and those of known moments
  source.stop();
  EXPECT_EQ(events_alive(), 0U);
  EXPECT_EQ(streams_alive(), 1U);
  EXPECT_EQ(spans(source).size(), 100U);
}

TEST_F(event_span_source, counts_passes_beyond_the_pool) {
  event_limits limits = simulated();
  limits.events = 4;
  event_spans source{limits};
  source.start();
  for (const std::uint64_t p : {1U, 2U, 3U}) {
    pass(source, p, 1'000);
  }
  advance(10'000);
  source.poll();
  pass(source, 4, 1'000);
  advance(1'000);
  source.stop();
  EXPECT_THAT(spans(source),
              testing::UnorderedElementsAre(when{1, 1'000'000, 1'001'000}, when{2, 1'001'000, 1'002'000},
                                            when{4, 1'010'000, 1'011'000}));
  EXPECT_EQ(lost(source, "more were under way at once"), 1U);
  EXPECT_EQ(events_alive(), 0U);
}

TEST_F(event_span_source, leaves_a_capturing_stream_alone) {
  event_spans source{simulated()};
  source.start();
  begin_capture(stream);
  pass(source, 1, 0);  // within a capture
  end_capture(stream);
  source.begin(2, stream);
  begin_capture(stream);
  source.end(2);  // the capture goes on beyond the pass
  end_capture(stream);
  EXPECT_EQ(calls("cuEventRecord"), 1U);  // the begin of pass 2
  source.begin(3, stream);
  begin_capture(stream);  // begins and ends within the pass
  end_capture(stream);
  launch(stream, 1'000);
  source.end(3);
  advance(1'000);
  source.stop();
  EXPECT_THAT(spans(source), ElementsAre(when{3, 1'000'000, 1'001'000}));
  EXPECT_EQ(lost(source, "being captured"), 2U);
}

TEST_F(event_span_source, touches_the_legacy_stream_only_where_no_capture_depends_on_it) {
  event_spans source{simulated()};
  source.start();
  begin_capture(stream);  // a blocking stream: the legacy stream waits for it
  source.begin(1, nullptr);
  source.end(1);
  end_capture(stream);
  const handle apart = create_stream(false);
  begin_capture(apart);
  source.begin(2, nullptr);
  source.end(2);
  source.poll();
  end_capture(apart);
  source.stop();
  EXPECT_THAT(spans(source), ElementsAre(when{2, 1'000'000, 1'000'000}));
  EXPECT_EQ(lost(source, "being captured"), 1U);
}

// Capture in the global mode, the default, forbids much to all threads: the destructor finds what broke it.
TEST_F(event_span_source, works_beside_a_capture_of_another_stream) {
  const handle captured = create_stream();
  event_spans source{simulated()};
  source.start();
  begin_capture(captured);
  pass(source, 1, 1'000);
  advance(1'000);
  std::thread{[&] { source.poll(); }}.join();
  EXPECT_THAT(spans(source), ElementsAre(when{1, 1'000'000, 1'001'000}));
  source.stop();
  end_capture(captured);
  EXPECT_EQ(calls("cuThreadExchangeStreamCaptureMode") % 2, 0U) << "a thread's mode was not put back";
  EXPECT_EQ(calls("cuCtxPushCurrent"), calls("cuCtxPopCurrent"));
}

TEST_F(event_span_source, tells_contexts_and_devices_apart) {
  const handle other = create_context(1);
  const handle there = create_stream();
  event_spans source{simulated()};
  source.start();
  source.begin(1, there);
  set_current(context);  // an engine switches devices within a pass
  source.begin(1, stream);
  launch(stream, 1'000);
  launch(there, 2'000);
  source.end(1);
  set_current(other);
  source.begin(2, nullptr);  // the legacy stream of the context that is current
  set_current(context);
  source.end(2);
  advance(5'000);
  source.stop();
  const auto all = spans(source);
  ASSERT_EQ(all.size(), 3U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool second = handed_over[i].stream.device == 1;
    EXPECT_EQ(handed_over[i].stream.context, reinterpret_cast<std::uintptr_t>(second ? other : context));
    if (all[i].pass == 1) {
      EXPECT_EQ(all[i].end - all[i].begin, second ? 2'000 : 1'000);
    } else {
      EXPECT_TRUE(second);
    }
  }
  EXPECT_EQ(events_alive(), 0U);
  EXPECT_EQ(streams_alive(), 2U);
  EXPECT_THAT(source.losses(), IsEmpty());
}

TEST_F(event_span_source, counts_contexts_beyond_those_that_it_keeps) {
  event_limits limits = simulated();
  limits.contexts = 1;
  event_spans source{limits};
  source.start();
  pass(source, 1, 0);
  create_context(1);
  source.begin(2, nullptr);
  source.end(2);
  source.stop();
  EXPECT_EQ(spans(source).size(), 1U);
  EXPECT_EQ(lost(source, "more were under way at once"), 1U);
}

TEST_F(event_span_source, counts_a_pass_whose_stream_is_gone_before_its_end) {
  event_spans source{simulated()};
  source.start();
  source.begin(1, stream);
  destroy_stream(stream);
  source.end(1);
  source.stop();
  EXPECT_THAT(spans(source), IsEmpty());
  EXPECT_EQ(lost(source, "error 400"), 1U);
  EXPECT_EQ(events_alive(), 0U);
}

TEST_F(event_span_source, counts_passes_whose_context_is_gone) {
  event_spans source{simulated()};
  source.start();
  pass(source, 1, 1'000);
  destroy_context(context);
  const handle other = create_context(1);
  stream = create_stream();
  pass(source, 2, 1'000);
  advance(1'000);
  source.poll();
  source.stop();
  EXPECT_THAT(spans(source), ElementsAre(when{2, 1'000'000, 1'001'000}));
  EXPECT_EQ(handed_over[0].stream.context, reinterpret_cast<std::uintptr_t>(other));
  EXPECT_EQ(lost(source, "error 201"), 1U);
}

// A context that is destroyed takes its events and streams along, and another one may get its address.
TEST_F(event_span_source, takes_nothing_of_a_context_that_is_gone_for_another_at_its_address) {
  event_limits limits = simulated();
  limits.events = 2;  // so that those that are gone must not count
  limits.contexts = 1;
  event_spans source{limits};
  source.start();
  for (std::uint64_t p = 1; p <= 3; ++p) {
    pass(source, p, 1'000);
    advance(1'000);
    source.poll();  // its events are in the pool, and an idle stream is there
    destroy_context(context);
    create_context_again(context, static_cast<int>(p % 2));
    stream = create_stream();
  }
  EXPECT_THAT(spans(source), ElementsAre(when{1, 1'000'000, 1'001'000}, when{2, 1'001'000, 1'002'000},
                                         when{3, 1'002'000, 1'003'000}));
  EXPECT_EQ(handed_over[0].stream.device, 0U);
  EXPECT_EQ(handed_over[1].stream.device, 1U);
  source.stop();
  EXPECT_THAT(source.losses(), IsEmpty());
  EXPECT_EQ(events_alive(), 0U);
}

TEST_F(event_span_source, counts_passes_that_are_under_way_or_wait_where_their_context_is_another_now) {
  event_spans source{simulated()};
  source.start();
  pass(source, 1, 1'000);
  source.begin(2, stream);
  destroy_context(context);
  create_context_again(context);
  source.end(2);
  source.poll();
  stream = create_stream();
  pass(source, 3, 1'000);
  advance(1'000);
  source.stop();
  EXPECT_THAT(spans(source), ElementsAre(when{3, 1'000'000, 1'001'000}));
  EXPECT_EQ(lost(source, "error 709"), 2U);
  EXPECT_EQ(events_alive(), 0U);
}

// Drivers before CUDA 12.0 do not tell contexts of one address apart: that one is gone is seen when it is
// used.
TEST_F(event_span_source, forgets_a_context_that_the_driver_says_is_gone) {
  fail("cuCtxGetId", 1);
  event_spans source{simulated()};
  source.start();
  pass(source, 1, 1'000);
  create_context(1);
  destroy_context(context);
  source.poll();
  create_context_again(context);
  stream = create_stream();
  pass(source, 2, 1'000);
  advance(1'000);
  source.stop();
  EXPECT_THAT(spans(source), ElementsAre(when{2, 1'000'000, 1'001'000}));
  EXPECT_EQ(lost(source, "error 201"), 1U);
  EXPECT_EQ(events_alive(), 0U);
}

struct refusal {
  const char* function;
  std::size_t after;
  bool asked_again = false;  // at the stop, when the driver works again
};

class event_span_failures : public event_span_source, public testing::WithParamInterface<refusal> {};

TEST_P(event_span_failures, cost_the_span_and_nothing_else) {
  event_spans source{simulated()};
  source.start();
  fail(GetParam().function, 719, GetParam().after);
  pass(source, 1, 1'000);
  advance(1'000);
  source.poll();
  EXPECT_THAT(spans(source), IsEmpty());
  fail(GetParam().function, 0);
  source.stop();
  EXPECT_EQ(spans(source).size(), GetParam().asked_again ? 1U : 0U);
  EXPECT_EQ(source.losses().size(), GetParam().asked_again ? 0U : 1U);
  EXPECT_EQ(lost(source, "passes without a GPU span"), GetParam().asked_again ? 0U : 1U);
  EXPECT_EQ(events_alive(), 0U);
  EXPECT_EQ(streams_alive(), 1U);
  EXPECT_EQ(calls("cuCtxPopCurrent"),
            calls("cuCtxPushCurrent") - (std::string{GetParam().function} == "cuCtxPushCurrent"));
}

INSTANTIATE_TEST_SUITE_P(of_each_function, event_span_failures,
                         testing::Values(refusal{"cuStreamIsCapturing", 0}, refusal{"cuStreamIsCapturing", 1},
                                         refusal{"cuStreamGetCtx", 0}, refusal{"cuCtxPushCurrent", 0},
                                         refusal{"cuCtxPushCurrent", 1}, refusal{"cuEventCreate", 0},
                                         refusal{"cuEventCreate", 1}, refusal{"cuEventCreate", 2, true},
                                         refusal{"cuEventRecord", 0}, refusal{"cuEventRecord", 1},
                                         refusal{"cuEventRecord", 2, true}, refusal{"cuEventQuery", 0},
                                         refusal{"cuEventQuery", 1, true}, refusal{"cuStreamCreate", 0, true},
                                         refusal{"cuEventElapsedTime", 0}, refusal{"cuEventElapsedTime", 1},
                                         refusal{"cuThreadExchangeStreamCaptureMode", 0},
                                         refusal{"cuThreadExchangeStreamCaptureMode", 4, true}),
                         [](const auto& tested) {
                           return std::string{tested.param.function} + "_after_" +
                                  std::to_string(tested.param.after);
                         });

TEST_F(event_span_source, takes_no_nonsense_for_a_time) {
  event_spans source{simulated()};
  source.start();
  for (const float said :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -1.0F, 1e30F}) {
    say_elapsed([said] { return said; });
    pass(source, 1, 0);
    source.poll();
  }
  source.stop();
  EXPECT_THAT(spans(source), IsEmpty());
  EXPECT_EQ(lost(source, "passes without a GPU span"), 4U);
}

TEST_F(event_span_source, is_stopped_with_passes_that_are_open_or_still_run) {
  event_spans source{simulated()};
  source.start();
  pass(source, 1, 1'000);
  source.begin(2, stream);
  source.stop();  // at the same instant: neither is over
  source.end(2);
  source.poll();
  EXPECT_THAT(spans(source), IsEmpty());
  EXPECT_EQ(lost(source, "had not ended when the session stopped"), 2U);
  EXPECT_EQ(events_alive(), 0U);

  source.start();  // the next session begins anew
  pass(source, 3, 1'000);
  advance(10'000);
  source.stop();
  EXPECT_THAT(spans(source), ElementsAre(when{3, 1'001'000, 1'002'000}));
  EXPECT_THAT(source.losses(), IsEmpty());
}

// Its clock goes on by itself, so that waiting ends.
TEST_F(event_span_source, waits_at_the_stop_for_what_ends_soon) {
  static std::atomic<std::uint64_t> clock{0};
  clock = 1'000'000;
  use_clock([]() noexcept { return clock.fetch_add(1'000) + 1'000; });
  event_limits limits = simulated();
  limits.patience = 1'000'000'000;
  event_spans source{limits};
  source.start();
  pass(source, 1, 50'000);
  source.stop();
  const auto all = spans(source);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_GE(all[0].end - all[0].begin, 50'000);
  EXPECT_THAT(source.losses(), IsEmpty());
}

// The device is done with the pass, and too busy for an event on a stream of its own: later.
TEST_F(event_span_source, measures_later_where_the_device_is_busy) {
  event_spans source{simulated()};
  source.start();
  pass(source, 1, 1'000);
  advance(1'000);
  hold_events();
  source.poll();
  EXPECT_THAT(spans(source), IsEmpty());
  release_events();
  advance(8'192'000);
  source.poll();
  EXPECT_THAT(spans(source), ElementsAre(when{1, 1'000'000, 1'001'000}));
  // 8,193,000 >> 13 = 1000: the older, the less exact.
  EXPECT_EQ(source.error(), 500 + 1000);
  source.stop();
}

TEST_F(event_span_source, does_nothing_unless_it_was_started) {
  event_spans source{simulated()};
  pass(source, 1, 1'000);
  source.poll();
  source.stop();
  EXPECT_EQ(calls(), 0U);
}

TEST_F(event_span_source, does_nothing_in_a_child_forked_while_the_driver_was_in_use) {
  event_spans source{simulated()};
  source.start();
  source.before_fork(true);
  source.leave_to_parent();
  const std::size_t before = calls();
  pass(source, 1, 1'000);
  source.stop();
  source.start();
  EXPECT_FALSE(source.running());
  EXPECT_THAT(spans(source), IsEmpty());
  EXPECT_EQ(calls(), before);
}

// A driver that is loaded and not initialised, as varve itself loads it: nothing to wait for.
TEST_F(event_span_source, asks_an_uninitialised_driver_for_nothing) {
  reset();
  event_limits limits = simulated();
  limits.patience = std::numeric_limits<varve::time_ns>::max() / 2;
  event_spans source{limits};
  source.start();
  source.poll();
  source.stop();
  EXPECT_EQ(calls(), 0U);
  EXPECT_THAT(source.losses(), IsEmpty());
}

TEST_F(event_span_source, counts_passes_whose_thread_ended_in_them) {
  event_spans source{simulated()};
  source.start();
  source.begin(1, stream);
  source.abandon(1);
  source.refuse();
  source.stop();
  EXPECT_EQ(lost(source, "their thread ended in them"), 1U);
  EXPECT_EQ(lost(source, "no open pass"), 1U);
  EXPECT_EQ(events_alive(), 0U);
}

TEST_F(event_span_source, counts_spans_that_nobody_takes) {
  event_limits limits = simulated();
  limits.spans = 2;
  event_spans source{limits};
  source.start();
  for (const std::uint64_t p : {1U, 2U, 3U}) {
    pass(source, p, 0);
  }
  source.stop();
  EXPECT_EQ(spans(source).size(), 2U);
  EXPECT_EQ(lost(source, "passes without a GPU span"), 1U);
}

TEST_F(event_span_source, takes_passes_of_many_threads_while_it_is_polled_and_stopped) {
  constexpr int threads = 8;
  constexpr int passes = 200;
  event_limits limits = simulated();
  limits.events = 64;
  event_spans source{limits};
  source.start();
  std::vector<std::thread> engine;
  for (int t = 0; t < threads; ++t) {
    engine.emplace_back([&, t] {
      set_current(context);
      const handle own = create_stream();
      for (int i = 0; i < passes; ++i) {
        const auto token = static_cast<std::uint64_t>(t) * passes + static_cast<std::uint64_t>(i) + 1;
        source.begin(token, own);
        launch(own, 10);
        source.end(token);
        advance(5);
        if (i % 16 == 0) {
          source.poll();
        }
      }
    });
  }
  for (std::thread& t : engine) {
    t.join();
  }
  advance(1'000'000);
  source.stop();
  std::uint64_t known = spans(source).size();
  for (const varve::loss& l : source.losses()) {
    known += l.count;
  }
  EXPECT_EQ(known, std::uint64_t{threads} * passes);
  EXPECT_EQ(events_alive(), 0U);
  EXPECT_THAT(source.status().detail, HasSubstr("of 1600 streams"));
}

}  // namespace

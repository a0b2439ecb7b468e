// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/collector.hpp>
#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "support/ranges.hpp"

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using varve_test::find_range;
using varve_test::lost;
using varve_test::paths;

TEST(threads, keep_their_ranges_apart) {
  varve::session session;
  constexpr int threads = 16;
  constexpr int rounds = 1000;
  std::vector<std::thread> workers;
  for (int n = 0; n < threads; ++n) {
    workers.emplace_back([n] {
      for (int i = 0; i < rounds; ++i) {
        const varve::phase pass{varve::decode};
        const varve::layer layer{"worker", n};
      }
    });
  }
  for (std::thread& w : workers) {
    w.join();
  }
  const varve::trace t = session.stop();
  EXPECT_THAT(t.losses, IsEmpty());
  ASSERT_EQ(t.ranges.size(), 2U * threads * rounds);
  std::vector<int> count(threads);
  for (const varve::range& r : t.ranges) {
    if (r.kind == varve::range_kind::layer) {
      ++count[static_cast<std::size_t>(t.labels[r.label].index)];
      ASSERT_EQ(t.ranges[r.parent].thread, r.thread);
    }
  }
  EXPECT_THAT(count, testing::Each(rounds));
}

// On its own thread a range that another one ended is open until it is popped there: what comes after is a
// part of it, and its time ends before.
TEST(threads, end_ranges_of_others) {
  varve::session session;
  const std::uint64_t first = varve_push_(VARVE_KIND_LAYER, "first", 1);
  const std::uint64_t second = varve_push_(VARVE_KIND_LAYER, "second", VARVE_NO_INDEX);
  std::uint64_t after = 0;
  std::thread{[&] {
    varve_end_elsewhere_(first);
    after = varve::clock_ticks();
  }}.join();
  varve_pop_(second);
  varve_pop_(first);
  { const varve::layer last{"last"}; }
  const varve::trace t = session.stop();
  EXPECT_THAT(t.losses, IsEmpty());
  EXPECT_THAT(paths(t), ElementsAre("first 1", "first 1 / second", "last"));
  EXPECT_LE(t.ranges[0].end, varve::clock_nanoseconds(after));
  EXPECT_GE(t.ranges[1].end, varve::clock_nanoseconds(after));
  EXPECT_FALSE(t.ranges[0].clipped_end);
}

TEST(threads, that_end_with_ranges_that_others_ended_lose_nothing) {
  for (const bool late : {false, true}) {
    varve::session session;
    std::uint64_t range = 0;
    std::thread{[&] {
      range = varve_push_(VARVE_KIND_LAYER, "range", VARVE_NO_INDEX);
      if (!late) {
        std::thread{[&] { varve_end_elsewhere_(range); }}.join();
      }
    }}.join();
    if (late) {
      varve_end_elsewhere_(range);
    }
    const varve::trace t = session.stop();
    EXPECT_THAT(t.losses, IsEmpty());
    ASSERT_EQ(t.ranges.size(), 1U);
    EXPECT_FALSE(t.ranges[0].clipped_end);
  }
}

TEST(threads, that_end_with_open_ranges_end_them_and_are_counted) {
  varve::session session;
  std::thread{[] {
    static_cast<void>(varve::begin_phase(varve::decode));
    static_cast<void>(varve::begin_layer("layer", 1));
  }}.join();
  { const varve::layer after{"after"}; }
  const varve::trace t = session.stop();
  ASSERT_EQ(t.ranges.size(), 3U);
  EXPECT_TRUE(t.ranges[find_range(t, "decode")].clipped_end);
  EXPECT_TRUE(t.ranges[find_range(t, "decode / layer 1")].clipped_end);
  EXPECT_LE(t.ranges[find_range(t, "decode")].end, t.ranges[find_range(t, "after")].begin);
  EXPECT_EQ(lost(t, "still open when their thread ended"), 2U);
}

TEST(threads, one_after_another_use_one_log_and_stay_apart) {
  varve::session session;
  for (int n = 0; n < 100; ++n) {
    std::thread{[n] {
      const varve::layer layer{"thread", n};
      static_cast<void>(varve::begin_op("left open", n));
    }}.join();
  }
  const varve::trace t = session.stop();
  ASSERT_EQ(t.ranges.size(), 200U);
  for (const varve::range& r : t.ranges) {
    if (r.kind == varve::range_kind::layer) {
      EXPECT_EQ(r.parent, varve::none);
      EXPECT_FALSE(r.clipped_end);
    }
  }
}

TEST(threads, may_end_a_range_only_where_it_began) {
  varve::session session;
  varve::handle h = varve::begin_layer("mine", 0);
  std::thread{[h]() mutable { h.end(); }}.join();
  h.end();
  const varve::trace t = session.stop();
  ASSERT_EQ(t.ranges.size(), 1U);
  EXPECT_FALSE(t.ranges[0].clipped_end);
  EXPECT_EQ(lost(t, "not on the thread that began the range"), 1U);
}

TEST(handoff, continues_a_range_on_another_thread) {
  varve::session session;
  {
    const varve::phase pass{varve::decode};
    const varve::layer layer{"layer", 2};
    const varve::handoff where = varve::here();
    std::thread{[where] {
      const varve::adopt adopted{where};
      const varve::op inner{"inner"};
    }}.join();
  }
  const varve::trace t = session.stop();
  ASSERT_THAT(paths(t), UnorderedElementsAre("decode", "decode / layer 2", "decode / layer 2 / inner"));
  const varve::range& inner = t.ranges[find_range(t, "decode / layer 2 / inner")];
  EXPECT_EQ(inner.parent, find_range(t, "decode / layer 2"));
  EXPECT_NE(inner.thread, t.ranges[inner.parent].thread);
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST(handoff, outlives_the_range_that_it_was_taken_in) {
  varve::session session;
  varve::handoff where;
  std::thread{[&] {
    const varve::layer layer{"layer", 2};
    where = varve::here();
  }}.join();
  {
    const varve::adopt adopted{where};
    const varve::op late{"late"};
  }
  { const varve::op outside{"outside"}; }
  const varve::trace t = session.stop();
  EXPECT_THAT(paths(t), UnorderedElementsAre("layer 2", "layer 2 / late", "outside"));
}

TEST(handoff, goes_back_and_forth_between_threads) {
  varve::session session;
  varve::handoff first;
  varve::handoff second;
  const varve::layer a{"a"};
  first = varve::here();
  std::thread{[&] {
    const varve::adopt adopted{first};
    const varve::layer b{"b"};
    second = varve::here();
  }}.join();
  {
    const varve::adopt adopted{second};
    const varve::layer c{"c"};
  }
  EXPECT_THAT(paths(session.snapshot()), UnorderedElementsAre("a", "a / b", "a / b / c"));
  { const varve::layer d{"d"}; }
  EXPECT_THAT(paths(session.stop()), UnorderedElementsAre("a", "a / b", "a / b / c", "a / d"));
}

TEST(handoff, stays_within_the_window_of_every_copy) {
  varve::session session;
  constexpr int copies = 100;
  constexpr int rounds = 300;  // of each thread to a copy, which is made meanwhile
  std::mutex mutex;
  varve::handoff place;
  std::atomic<int> handed{0};
  std::atomic<int> copy{0};
  const auto wait_for_copy = [&copy](int round) {
    while (round / rounds > copy) {
      std::this_thread::yield();
    }
  };
  std::thread giver{[&] {
    for (int i = 0; i < copies * rounds; ++i) {
      wait_for_copy(i);
      const varve::phase pass{varve::decode};
      const varve::layer layer{"given", i & 7};
      const std::lock_guard lock{mutex};
      place = varve::here();
      ++handed;
    }
  }};
  std::thread taker{[&] {
    while (handed == 0) {
      std::this_thread::yield();
    }
    for (int i = 0; i < copies * rounds; ++i) {
      wait_for_copy(i);
      std::unique_lock lock{mutex};
      const varve::adopt adopted{place};
      lock.unlock();
      const varve::op op{"taken"};
    }
  }};
  std::size_t outside = 0;
  std::size_t known = 0;
  const auto check = [&](const varve::trace& t) {
    EXPECT_GE(t.ranges.size(), known);  // nothing of an earlier copy is missing
    known = t.ranges.size();
    for (const varve::range& r : t.ranges) {
      outside += r.begin < t.begin || r.end < r.begin || t.end < r.end ? 1U : 0U;
    }
  };
  for (; copy < copies; ++copy) {
    while (handed <= copy * rounds) {
      std::this_thread::yield();
    }
    check(session.snapshot());
  }
  giver.join();
  taker.join();
  const varve::trace whole = session.stop();
  check(whole);
  EXPECT_EQ(outside, 0U);
  EXPECT_EQ(known, 3U * copies * rounds);
  for (const varve::range& r : whole.ranges) {
    ASSERT_TRUE(r.kind != varve::range_kind::op || r.parent != varve::none);  // all found what they took over
  }
  EXPECT_THAT(whole.losses, IsEmpty());
}

TEST(handoff, from_nowhere_does_nothing) {
  const varve::handoff before = varve::here();
  varve::session session;
  {
    const varve::adopt a{before};
    const varve::adopt b{varve::here()};
    const varve::layer layer{"layer"};
  }
  EXPECT_THAT(paths(session.stop()), ElementsAre("layer"));
}

TEST(request, may_begin_on_one_thread_be_served_by_another_and_end_on_a_third) {
  varve::session session;
  std::optional<varve::request> first;
  std::optional<varve::request> second;
  std::thread{[&] { first.emplace(varve::name{"chat"}, 1); }}.join();
  second.emplace(varve::name{"chat"}, 2);
  {
    varve::phase pass{varve::prefill};
    pass.serves(*first);
  }
  std::thread{[&] {
    varve::phase pass{varve::decode};
    pass.serves(*first).serves(*second);
  }}.join();
  first->end();
  second->end();
  const varve::trace t = session.stop();
  EXPECT_THAT(t.losses, IsEmpty());
  std::vector<std::string> links;
  for (const varve::request_link& link : t.requests) {
    links.push_back(varve::label_text(t, t.ranges[link.request].label) + " by " +
                    varve::label_text(t, t.ranges[link.pass].label));
  }
  EXPECT_THAT(links, UnorderedElementsAre("chat 1 by prefill", "chat 1 by decode", "chat 2 by decode"));
  for (const varve::range& r : t.ranges) {
    EXPECT_FALSE(r.clipped_end);
    EXPECT_LE(r.begin, r.end);
  }
}

// A destructor of thread-local storage may come after varve has closed the thread's log.
struct late_marker {
  ~late_marker() { const varve::layer layer{"in a thread-local destructor"}; }
};

void mark_late(void* /*value*/) { const varve::layer layer{"in a key destructor"}; }

TEST(threads, may_mark_while_they_end) {
  varve::session session;
  pthread_key_t key{};
  ASSERT_EQ(pthread_key_create(&key, mark_late), 0);
  std::thread{[key] {
    thread_local late_marker marker;
    static_cast<void>(marker);
    pthread_setspecific(key, &key);
    const varve::layer layer{"layer"};
  }}.join();
  const varve::trace t = session.stop();
  EXPECT_THAT(paths(t), ElementsAre("layer", "in a thread-local destructor", "in a key destructor"));
  for (const varve::range& r : t.ranges) {
    EXPECT_FALSE(r.clipped_end);
  }
  pthread_key_delete(key);
}

TEST(threads, start_and_stop_sessions_under_fire) {
  std::atomic<bool> go{true};
  std::vector<std::thread> workers;
  for (int n = 0; n < 4; ++n) {
    workers.emplace_back([&, n] {
      while (go) {
        varve::phase pass{varve::decode};
        pass.decode_tokens(n);
        varve::sequence step{"a", n};
        step.next("b", n);
        const varve::adopt adopted{varve::here()};
      }
    });
  }
  for (int round = 0; round < 40; ++round) {
    varve::session session;
    EXPECT_TRUE(session) << session.status().error;
    std::this_thread::yield();
    const varve::trace t = session.stop();
    const auto is_wrong = [&](const varve::range& r) { return r.begin > r.end || r.begin < t.begin; };
    const auto wrong = std::find_if(t.ranges.begin(), t.ranges.end(), is_wrong);
    if (wrong != t.ranges.end()) {
      ADD_FAILURE() << "[" << wrong->begin << ", " << wrong->end << ") in [" << t.begin << ", " << t.end
                    << ")";
      break;
    }
  }
  go = false;
  for (std::thread& w : workers) {
    w.join();
  }
}

}  // namespace

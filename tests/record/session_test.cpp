// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "support/ranges.hpp"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using varve_test::lost;
using varve_test::paths;

TEST(session, records_nothing_before_it_starts_and_after_it_stops) {
  { const varve::layer before{"before"}; }
  varve::session session;
  { const varve::layer during{"during"}; }
  const varve::trace t = session.stop();
  { const varve::layer after{"after"}; }
  EXPECT_THAT(paths(t), ElementsAre("during"));
  EXPECT_THAT(paths(session.stop()), IsEmpty());
}

TEST(session, refuses_to_start_while_another_runs) {
  std::string logged;
  varve::session first;
  varve::session_options options;
  options.log = [&](varve::log_level, std::string_view text) { logged += text; };
  varve::session second{options};
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
  EXPECT_THAT(second.status().error, HasSubstr("another session is running in this process"));
  EXPECT_THAT(logged, HasSubstr("another session is running in this process"));
  { const varve::layer layer{"layer"}; }
  EXPECT_EQ(lost(second.stop(), "session refused: another session is running"), 1U);
  EXPECT_THAT(paths(first.stop()), ElementsAre("layer"));
}

TEST(session, refuses_headers_of_another_minor_version) {
  EXPECT_TRUE((varve::session{{}, VARVE_VERSION + 1}));  // another patch
  const varve::session other{{}, VARVE_VERSION + 100};
  EXPECT_FALSE(other);
  EXPECT_THAT(other.status().error, HasSubstr("was compiled against varve 0.2.0 and loaded varve 0.1.0"));
}

TEST(session, may_follow_another) {
  for (int round = 0; round < 3; ++round) {
    varve::session session;
    { const varve::layer layer{"layer", round}; }
    EXPECT_THAT(paths(session.stop()), ElementsAre("layer " + std::to_string(round)));
  }
}

TEST(session, started_inside_ranges_that_an_earlier_session_knew_begins_them_anew) {
  std::optional<varve::session> session{std::in_place};
  varve::phase pass{varve::decode};
  varve::layer layer{"layer", 4};
  EXPECT_THAT(paths(session->stop()), ElementsAre("decode", "decode / layer 4"));
  session.emplace();
  { const varve::op op{"op"}; }
  layer.end();
  pass.end();
  const varve::trace t = session->stop();
  ASSERT_THAT(paths(t), ElementsAre("decode", "decode / layer 4", "decode / layer 4 / op"));
  EXPECT_TRUE(t.ranges[0].clipped_begin);
  EXPECT_TRUE(t.ranges[1].clipped_begin);
  EXPECT_FALSE(t.ranges[2].clipped_begin);
  EXPECT_EQ(t.ranges[0].begin, t.begin);
  EXPECT_FALSE(t.ranges[0].clipped_end);
}

TEST(session, started_inside_unknown_ranges_records_what_begins_in_it) {
  varve::layer outer{"outer"};
  varve::session session;
  { const varve::layer inner{"inner"}; }
  outer.end();
  EXPECT_THAT(paths(session.stop()), ElementsAre("inner"));
}

TEST(session, stopped_inside_ranges_ends_them_and_says_so) {
  varve::session session;
  varve::phase pass{varve::decode};
  const varve::trace t = session.stop();
  pass.end();
  ASSERT_EQ(t.ranges.size(), 1U);
  EXPECT_TRUE(t.ranges[0].clipped_end);
  EXPECT_EQ(t.ranges[0].end, t.end);
  EXPECT_LE(t.begin, t.ranges[0].begin);
}

TEST(session, ignores_the_end_of_a_range_of_an_earlier_session) {
  std::optional<varve::session> session{std::in_place};
  std::optional<varve::layer> old;
  old.emplace(varve::name{"old"}, 1);
  static_cast<void>(session->stop());
  old.reset();
  session.emplace();
  { const varve::layer fresh{"fresh"}; }
  const varve::trace t = session->stop();
  ASSERT_THAT(paths(t), ElementsAre("fresh"));
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST(session, shows_a_copy_while_it_runs) {
  varve::session session;
  { const varve::layer first{"first"}; }
  varve::layer open{"open"};
  const varve::trace early = session.snapshot();
  open.end();
  { const varve::layer second{"second"}; }
  const varve::trace whole = session.stop();
  ASSERT_THAT(paths(early), ElementsAre("first", "open"));
  EXPECT_TRUE(early.ranges[1].clipped_end);
  ASSERT_THAT(paths(whole), ElementsAre("first", "open", "second"));
  EXPECT_FALSE(whole.ranges[1].clipped_end);
  EXPECT_NEAR(static_cast<double>(early.ranges[0].begin), static_cast<double>(whole.ranges[0].begin), 1e6);
}

TEST(session, may_be_copied_while_threads_mark) {
  varve::session_options options;
  options.marker_memory = std::size_t{1} << 20U;
  options.trace_memory = std::size_t{1} << 20U;
  varve::session session{options};
  std::atomic<bool> go{true};
  std::atomic<bool> marked{false};
  std::thread worker{[&] {
    while (go) {
      const varve::phase pass{varve::decode};
      const varve::layer layer{"layer", 1};
      marked = true;
    }
  }};
  while (!marked) {
    std::this_thread::yield();
  }
  for (int i = 0; i < 20; ++i) {
    for (const varve::range& r : session.snapshot().ranges) {
      ASSERT_LE(r.begin, r.end);
    }
  }
  go = false;
  worker.join();
  EXPECT_FALSE(session.stop().ranges.empty());
}

TEST(session, moves_and_stops_when_it_dies) {
  {
    varve::session first;
    varve::session second{std::move(first)};
    EXPECT_TRUE(second);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move)
    varve::session third;
    EXPECT_FALSE(third);
    third = std::move(second);
    EXPECT_TRUE(third);
  }
  varve::session next;
  EXPECT_TRUE(next);
}

TEST(session, tells_its_status) {
  varve::session session;
  const varve::session_status running = session.status();
  EXPECT_TRUE(running.running);
  EXPECT_THAT(running.error, IsEmpty());
  EXPECT_FALSE(running.clock.empty());
  EXPECT_GT(running.marker_ns, 0);
  ASSERT_FALSE(running.collectors.empty());
  EXPECT_EQ(running.collectors[0].name, "markers");
  EXPECT_EQ(running.collectors[0].state, varve::collector_state::running);
  for (int i = 0; i < 1000; ++i) {
    const varve::layer layer{"layer"};
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(session.status().collectors[0].state, varve::collector_state::stopped);
  EXPECT_FALSE(session.status().running);
  EXPECT_EQ(t.own_overhead, static_cast<varve::time_ns>(running.marker_ns * 1000));  // of 1000 ranges
  EXPECT_EQ(t.source, "session");
  EXPECT_EQ(t.collectors[0].state, varve::collector_state::stopped);
}

TEST(session, says_nothing_unless_it_is_given_a_log) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  {
    varve::session session;
    varve::session refused;
    const varve::session of_another_version{{}, VARVE_VERSION + 100};
    varve::session_options little;
    little.trace_memory = 0;
    { const varve::layer layer{"layer"}; }
    static_cast<void>(session.snapshot());
    static_cast<void>(session.stop());
    varve::session full{little};
    { const varve::layer layer{"layer"}; }
    EXPECT_FALSE(full.stop().losses.empty());
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(session, tells_its_log_what_it_does) {
  std::vector<std::string> said;
  varve::session_options options;
  options.log = [&](varve::log_level, std::string_view text) { said.emplace_back(text); };
  options.gpu.enabled = false;
  varve::session session{options};
  static_cast<void>(session.stop());
  EXPECT_THAT(said, ElementsAre("session started", "session stopped"));
}

TEST(session, survives_a_log_that_throws) {
  varve::session_options options;
  options.log = [](varve::log_level, std::string_view) { throw std::runtime_error{"disk full"}; };
  varve::session session{options};
  EXPECT_TRUE(session);
}

TEST(session, drops_whole_ranges_when_marker_memory_is_full) {
  varve::session_options options;
  options.marker_memory = 1;  // rounded up to the least there is
  varve::session session{options};
  constexpr int threads = 8;  // of which each wants a chunk of its own
  std::vector<std::thread> workers;
  std::atomic<int> ready{0};
  for (int n = 0; n < threads; ++n) {
    workers.emplace_back([&] {
      ++ready;
      while (ready < threads) {
        std::this_thread::yield();
      }
      for (int i = 0; i < 20000; ++i) {
        const varve::layer outer{"outer", i};
        const varve::op inner{"inner"};
      }
    });
  }
  for (std::thread& w : workers) {
    w.join();
  }
  const varve::trace t = session.stop();
  const std::uint64_t dropped = lost(t, "ranges dropped: marker memory full");
  EXPECT_GT(dropped, 0U);
  EXPECT_EQ(t.ranges.size() + dropped, 2U * 20000U * threads);
  for (const varve::range& r : t.ranges) {
    ASSERT_FALSE(r.clipped_end);  // never half a range
    ASSERT_LE(r.begin, r.end);
  }
}

TEST(session, keeps_no_more_records_than_its_memory_allows) {
  varve::session_options options;
  options.trace_memory = 4000;
  varve::session session{options};
  for (int i = 0; i < 1000; ++i) {
    const varve::layer layer{"layer", i};
  }
  const varve::trace t = session.stop();
  EXPECT_GT(t.ranges.size(), 10U);
  EXPECT_EQ(t.ranges.size() + lost(t, "trace memory full"), 1000U);
}

TEST(session, drops_and_counts_what_nests_too_deep) {
  varve::session session;
  std::vector<varve::handle> open;
  for (int i = 0; i < 600; ++i) {
    open.push_back(varve::begin_layer("deep", i));
  }
  for (auto h = open.rbegin(); h != open.rend(); ++h) {
    h->end();
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(t.ranges.size(), 512U);
  EXPECT_EQ(lost(t, "nested deeper than 512"), 600U - 512U);
  EXPECT_FALSE(t.ranges[511].clipped_end);
}

TEST(session, may_be_stopped_and_copied_by_several_threads_at_once) {
  for (int round = 0; round < 20; ++round) {
    varve::session session;
    { const varve::layer layer{"layer"}; }
    std::atomic<int> waiting{0};
    std::atomic<std::size_t> stopped{0};
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n) {
      threads.emplace_back([&, n] {
        ++waiting;
        while (waiting < 4) {
          std::this_thread::yield();
        }
        if (n < 2) {
          stopped += session.stop().ranges.size();
        } else {
          EXPECT_LE(session.snapshot().ranges.size(), 1U);
          EXPECT_TRUE(session.status().error.empty());
        }
      });
    }
    for (std::thread& t : threads) {
      t.join();
    }
    EXPECT_EQ(stopped, 1U);  // one of them got it
  }
}

TEST(session, may_be_asked_from_its_log) {
  varve::session* asked = nullptr;
  std::vector<bool> running;
  varve::session_options options;
  options.log = [&](varve::log_level, std::string_view) {
    if (asked != nullptr) {
      running.push_back(asked->status().running);
      static_cast<void>(asked->snapshot());
    }
  };
  varve::session session{options};
  asked = &session;
  static_cast<void>(session.stop());
  EXPECT_EQ(running, std::vector<bool>{false});
}

TEST(session, holds_about_what_its_memory_allows_however_much_comes) {
  varve::session_options options;
  options.trace_memory = 100'000;
  varve::session session{options};
  for (int i = 0; i < 20000; ++i) {
    const varve::layer layer{"layer", i};
    const varve::request request{"request", i};
  }
  const varve::trace t = session.stop();
  EXPECT_LT(t.ranges.size() * sizeof(varve::range), options.trace_memory);
  EXPECT_LT(t.labels.size() * sizeof(varve::label_node), options.trace_memory);
  EXPECT_EQ(t.ranges.size() + lost(t, "trace memory full"), 2U * 20000U);
}

TEST(session, counts_what_a_request_does_that_it_did_not_see_begin) {
  std::optional<varve::session> session{std::in_place};
  varve::request request{"chat", 1};
  EXPECT_TRUE(session->stop().ranges.at(0).clipped_end);
  session.emplace();
  {
    varve::phase pass{varve::decode};
    pass.serves(request);
  }
  request.end();
  const varve::trace t = session->stop();
  EXPECT_EQ(lost(t, "ends of requests that began before the session"), 1U);
  EXPECT_EQ(lost(t, "passes that served requests that began before the session"), 1U);
}

TEST(session, has_times_near_the_calendar) {
  varve::session session;
  { const varve::layer layer{"layer"}; }
  const varve::trace t = session.stop();
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  EXPECT_NEAR(static_cast<double>(t.ranges[0].begin), static_cast<double>(now), 60e9);
}

}  // namespace

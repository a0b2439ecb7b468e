// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The report of a session whose records are not kept.
#include <varve/collector.hpp>
#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "record/recording.hpp"

namespace {

using testing::IsEmpty;

class running_report : public testing::Test {
 protected:
  running_report() { options.gpu.enabled = false; }

  /// A pass of 16 tokens and two layers, each of 100 FLOPs and one kernel of 10 ticks.
  void decode() {
    varve::phase pass{varve::decode};
    pass.decode_tokens(16);
    for (int i = 0; i < 2; ++i) {
      varve::layer layer{"layer", i};
      layer.work([] { return varve::work{100}; });
      const varve::host_call call{device, varve::call_kind::launch};
      const std::uint64_t now = varve::clock_ticks();
      device.report({0, call.correlation(), "gemm", now, now + 10});
      while (varve::clock_ticks() == now) {
        // calls within one tick of a slow clock would look nested
      }
    }
  }
  static void expect_passes(const varve::report& r, std::int64_t passes) {
    ASSERT_EQ(r.phases.size(), 1U);
    EXPECT_EQ(r.phases[0].passes, passes);
    EXPECT_EQ(r.phases[0].decode_tokens, 16 * passes);
    EXPECT_EQ(r.phases[0].step.count, passes);
    for (int i = 0; i < 2; ++i) {
      const varve::row* const row = r.find({"layer", i});
      ASSERT_NE(row, nullptr);
      EXPECT_EQ(row->inclusive.calls, passes);
      EXPECT_EQ(row->inclusive.kernels, passes);
      EXPECT_EQ(row->inclusive.declared.flops, 100 * passes);
      EXPECT_EQ(row->per_call.count, passes);
    }
    EXPECT_EQ(r.quality.activities, 2 * passes);
    EXPECT_EQ(r.quality.unmatched, 0);
    EXPECT_DOUBLE_EQ(r.quality.attributed, 1.0);
    EXPECT_THAT(r.quality.losses, IsEmpty());
  }

  varve::host_device device{{0, "device"}};
  varve::session_options options;
};

TEST_F(running_report, tells_of_all_passes_though_their_records_are_gone) {
  options.trace_memory = std::size_t{1} << 20U;  // of which a fifth of the passes would fill all
  varve::session session{options};
  varve::running_report running{session, {0, {}}};
  std::int64_t passes = 0;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 500; ++i, ++passes) {
      decode();
    }
    const varve::report now = running.so_far();
    ASSERT_EQ(now.phases.size(), 1U);
    EXPECT_EQ(now.phases[0].passes, passes);
    EXPECT_THAT(now.quality.losses, IsEmpty());
  }
  EXPECT_LT(varve::record::size_of_recording().used, options.trace_memory / 100);
  expect_passes(running.stop(), passes);
  EXPECT_FALSE(session);
  expect_passes(running.so_far(), passes);
  expect_passes(running.stop(), passes);
}

TEST_F(running_report, of_windows_without_anything_loses_nothing) {
  varve::session session{options};
  varve::running_report running{session, {0, {}}};
  {
    const varve::phase pass{varve::decode};
    const varve::report none = running.so_far();
    EXPECT_THAT(none.quality.losses, IsEmpty());
    EXPECT_EQ(none.source, "session");
    EXPECT_EQ(none.quality.collectors.size(), session.status().collectors.size());
  }
  decode();
  EXPECT_EQ(running.so_far().phases[0].passes, 2);
  {
    const varve::phase pass{varve::decode};
    for (int i = 0; i < 2; ++i) {
      const varve::report now = running.so_far();
      EXPECT_EQ(now.phases[0].passes, 2);
      EXPECT_THAT(now.quality.losses, IsEmpty());
    }
  }
  const varve::report r = running.stop();
  EXPECT_EQ(r.phases[0].passes, 3);
  EXPECT_GT(r.begin, 0);
  EXPECT_THAT(r.quality.losses, IsEmpty());
}

TEST_F(running_report, takes_by_itself) {
  varve::session session{options};
  varve::running_report running{session, {1'000'000, {}}};
  decode();
  decode();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!session.snapshot().ranges.empty() && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  EXPECT_THAT(session.snapshot().ranges, IsEmpty());  // what is over is not in the session any more
  expect_passes(running.stop(), 2);
}

TEST_F(running_report, leaves_the_session_to_go_on) {
  varve::session session{options};
  {
    varve::running_report running{session};
    decode();
  }
  EXPECT_TRUE(session);
  decode();
  EXPECT_EQ(session.stop().ranges.size(), 6U);
}

TEST_F(running_report, may_be_stopped_by_several_threads_at_once) {
  for (int round = 0; round < 20; ++round) {
    varve::session session{options};
    varve::running_report running{session, {1'000'000, {}}};
    decode();
    std::thread other{[&] { expect_passes(running.stop(), 1); }};
    expect_passes(running.stop(), 1);
    other.join();
  }
}

TEST_F(running_report, of_a_refused_session_says_why) {
  const varve::session first{options};
  varve::session refused{options};
  varve::running_report running{refused};
  EXPECT_THAT(running.so_far().phases, IsEmpty());
  const varve::report r = running.stop();
  ASSERT_EQ(r.quality.losses.size(), 1U);
  EXPECT_THAT(r.quality.losses[0].what, testing::HasSubstr("another session is running"));
  EXPECT_EQ(r.source, "session");
}

}  // namespace

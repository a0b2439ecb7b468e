// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/client.hpp"

#include <gmock/gmock.h>

#include <mutex>
#include <thread>

namespace {

using namespace standin;
using cupti::record_kind;
using cupti::result;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> names(client& c) {
  std::vector<std::string> all;
  for (const seen_record& r : c.records(record_kind::concurrent_kernel)) {
    all.push_back(r.name);
  }
  return all;
}

void launch_four() {
  for (const char* name : {"a", "b", "c", "d"}) {
    launch({}, name);
  }
}

TEST(standin_buffers, are_asked_for_when_a_record_needs_room_on_its_own_thread) {
  client c;
  c.buffer_size = 440;  // two kernels' records of 216 bytes
  std::vector<std::thread::id> askers;
  c.on_request = [&] { askers.push_back(std::this_thread::get_id()); };
  c.enable({record_kind::concurrent_kernel});
  EXPECT_EQ(buffers_requested(), 0U);
  launch_four();
  EXPECT_THAT(askers, ElementsAre(std::this_thread::get_id(), std::this_thread::get_id()));
  ASSERT_EQ(cuptiActivityFlushAll(0), result::success);
  EXPECT_THAT(names(c),
              testing::UnorderedElementsAre("a", "b", "c", "d"));  // the first two by the worker, maybe later
  EXPECT_EQ(buffers_outstanding(), 0U);
}

TEST(standin_buffers, come_back_by_the_worker_by_the_filling_thread_or_by_a_flush) {
  for (const delivery by : {delivery::worker, delivery::filler, delivery::flush_only}) {
    config settings;
    settings.deliver = by;
    settings.records_per_buffer = 2;
    client c{settings};
    std::mutex mutex;
    std::vector<std::thread::id> deliverers;
    c.on_completion = [&] {
      const std::lock_guard lock{mutex};
      deliverers.push_back(std::this_thread::get_id());
    };
    c.enable({record_kind::concurrent_kernel});
    launch_four();
    if (by == delivery::worker) {
      while (buffers_outstanding() > 1 || c.records().empty()) {
        std::this_thread::yield();  // it comes without a flush
      }
      EXPECT_NE(deliverers.at(0), std::this_thread::get_id());
    } else {
      EXPECT_THAT(deliverers, SizeIs(by == delivery::filler ? 1 : 0));
    }
    ASSERT_EQ(cuptiActivityFlushAll(0), result::success);
    EXPECT_THAT(names(c), testing::UnorderedElementsAre("a", "b", "c", "d"));
    EXPECT_THAT(deliverers, SizeIs(2));
  }
}

TEST(standin_buffers, of_threads_are_apart_from_13_0_on) {
  for (const auto& [version, buffers] : {std::pair{cupti::cuda_13_0, 2U}, std::pair{cupti::cuda_12_8, 1U}}) {
    config settings;
    settings.version = version;
    client c{settings};
    c.enable({record_kind::concurrent_kernel});
    launch({}, "here");
    std::thread{[] { launch({}, "there"); }}.join();
    EXPECT_EQ(buffers_requested(), buffers) << version;
  }
}

TEST(standin_buffers, kernels_are_as_long_as_their_version_has_them) {
  for (const auto& [version, size] :
       {std::pair{cupti::cuda_12_0, 208U}, std::pair{cupti::cuda_13_0, 216U}, std::pair{130100U, 248U}}) {
    config settings;
    settings.version = version;
    client c{settings};
    c.enable({record_kind::concurrent_kernel});
    launch_four();
    ASSERT_EQ(cuptiActivityFlushAll(0), result::success);
    EXPECT_THAT(names(c), ElementsAre("a", "b", "c", "d"));
    EXPECT_THAT(c.records()[0].bytes, SizeIs(size));
  }
}

TEST(standin_buffers, no_buffer_loses_the_record_and_counts_it) {
  client c;
  c.enable({record_kind::concurrent_kernel});
  c.gives_buffers = false;
  launch({}, "lost");
  c.gives_buffers = true;
  drop_records(2);
  launch_four();
  ASSERT_EQ(cuptiActivityFlushAll(0), result::success);
  EXPECT_THAT(names(c), ElementsAre("c", "d"));
  std::size_t dropped = 0;
  ASSERT_EQ(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), result::success);
  EXPECT_EQ(dropped, 3U);
  ASSERT_EQ(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), result::success);
  EXPECT_EQ(dropped, 0U);
  EXPECT_EQ(records_dropped(), 3U);
  EXPECT_THAT(misuses(), IsEmpty());
  change([](config& s) { s.version = cupti::cuda_12_4; });
  c.gives_buffers = false;
  std::thread{[] { launch({}, "crashes there"); }}.join();
  EXPECT_THAT(misuses(), SizeIs(1));
}

TEST(standin_buffers, records_are_shuffled_and_none_is_lost) {
  config settings;
  settings.shuffle = 3;
  client c{settings};
  c.enable({record_kind::concurrent_kernel, record_kind::runtime});
  std::vector<std::string> launched;
  for (int i = 0; i < 20; ++i) {
    launched.push_back(std::to_string(i));
    launch({}, launched.back());
  }
  ASSERT_EQ(cuptiActivityFlushAll(0), result::success);
  EXPECT_THAT(names(c), testing::UnorderedElementsAreArray(launched));
  EXPECT_NE(names(c), launched);
  EXPECT_THAT(c.records(record_kind::runtime), SizeIs(20));
}

TEST(standin_buffers, a_withheld_flush_is_delivered_later) {
  config settings;
  settings.flush_withholds = true;
  client c{settings};
  c.enable({record_kind::concurrent_kernel});
  launch_four();
  ASSERT_EQ(cuptiActivityFlushAll(0), result::success);
  EXPECT_THAT(names(c), IsEmpty());
  EXPECT_EQ(buffers_outstanding(), 1U);
  deliver();
  EXPECT_THAT(names(c), SizeIs(4));
}

TEST(standin_buffers, names_outlive_completion_only_if_asked_for) {
  config settings;
  settings.names_die_with_buffer = false;
  client c{settings};
  c.enable({record_kind::concurrent_kernel});
  launch({}, "b");
  ASSERT_EQ(cuptiActivityFlushAll(0), result::success);
  EXPECT_STREQ(c.records()[0].get(cupti::kernel::name), "b");
}

TEST(standin_buffers, flushing_inside_a_completion_is_a_misuse) {
  client c;
  c.enable({record_kind::concurrent_kernel});
  result inner = result::success;
  c.on_completion = [&] { inner = cuptiActivityFlushAll(0); };
  launch({}, "a");
  ASSERT_EQ(cuptiActivityFlushAll(0), result::success);
  EXPECT_NE(inner, result::success);
  EXPECT_THAT(misuses(), SizeIs(1));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/client.hpp"
#include "standin_cupti/names.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace {

using namespace standin;
using cupti::callback_domain;
using cupti::callback_site;
using cupti::record_kind;
using testing::ElementsAre;
using testing::IsEmpty;

using step = std::tuple<callback_domain, std::uint32_t, callback_site>;

std::vector<step> steps(client& c) {
  std::vector<step> all;
  for (const seen_callback& seen : c.callbacks()) {
    if (seen.domain != callback_domain::resource) {
      all.emplace_back(seen.domain, seen.id, seen.site);
    }
  }
  return all;
}

std::vector<record_kind> kinds(client& c) {
  std::vector<record_kind> all;
  for (const seen_record& r : c.records()) {
    all.push_back(r.kind);
  }
  return all;
}

TEST(standin_calls, a_launch_nests_the_drivers_function_inside_the_runtimes) {
  client c;
  launch({}, "k");
  EXPECT_THAT(
      steps(c),
      ElementsAre(step{callback_domain::runtime_api, runtime::launch_kernel_13, callback_site::enter},
                  step{callback_domain::driver_api, driver::launch_kernel, callback_site::enter},
                  step{callback_domain::driver_api, driver::launch_kernel, callback_site::exit},
                  step{callback_domain::runtime_api, runtime::launch_kernel_13, callback_site::exit}));
}

TEST(standin_calls, cuda_12_launches_by_the_older_function) {
  config settings;
  settings.version = cupti::cuda_12_4;
  client c{settings};
  work w;
  w.how.through = api::runtime;
  launch({}, "k", {}, w);
  EXPECT_THAT(steps(c),
              ElementsAre(step{callback_domain::runtime_api, runtime::launch_kernel, callback_site::enter},
                          step{callback_domain::runtime_api, runtime::launch_kernel, callback_site::exit}));
}

TEST(standin_calls, only_enabled_callbacks_are_made) {
  client c{{}, false};
  cupti::subscriber_handle handle = nullptr;
  std::size_t made = 0;
  const auto count = [](void* n, callback_domain, std::uint32_t, const void*) {
    ++*static_cast<std::size_t*>(n);
  };
  ASSERT_EQ(cuptiSubscribe(&handle, count, &made), cupti::result::success);
  launch({}, "k");
  EXPECT_EQ(made, 0U);
  ASSERT_EQ(cuptiEnableCallback(1, handle, callback_domain::driver_api, driver::launch_kernel),
            cupti::result::success);
  EXPECT_THAT(enabled_callbacks(callback_domain::driver_api), ElementsAre(driver::launch_kernel));
  launch({}, "k");
  EXPECT_EQ(made, 2U);  // the driver's, entering and leaving
}

TEST(standin_calls, a_kernels_record_has_its_launchs_id_shape_and_times) {
  config settings;
  settings.launch_latency = 100;
  client c{settings};
  use_clock([] { return std::uint64_t{5000}; });
  c.enable({record_kind::concurrent_kernel});
  launch_shape shape;
  shape.grid = {3, 2, 1};
  shape.dynamic_shared = 48;
  set_next_correlation(77);
  const stream s = create_stream();
  work w;
  w.duration = 40;
  const done first = launch(s, "first", shape, w);
  const done second = launch(s, "second", shape, w);
  ASSERT_EQ(cuptiActivityFlushAll(0), cupti::result::success);
  const auto records = c.records(record_kind::concurrent_kernel);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].name, "first");
  EXPECT_EQ(records[0].get(cupti::kernel::correlation_id), 78U);  // 77 was the creation of the stream
  EXPECT_EQ(records[0].get(cupti::kernel::correlation_id), first.correlation);
  EXPECT_EQ(records[0].get(cupti::kernel::stream_id), stream_id(s));
  EXPECT_EQ(records[0].get(cupti::kernel::grid_y), 2);
  EXPECT_EQ(records[0].get(cupti::kernel::dynamic_shared_memory), 48);
  EXPECT_EQ(records[0].get(cupti::kernel::start), 5100U);  // 5000 + 100
  EXPECT_EQ(records[0].get(cupti::kernel::end), 5140U);    // and 40 long
  EXPECT_EQ(records[1].get(cupti::kernel::start), 5140U);  // the stream is free then, after 5100
  EXPECT_EQ(records[1].get(cupti::kernel::end), second.times.at(0).end);
}

TEST(standin_calls, given_times_are_written_as_they_are) {
  client c;
  c.enable({record_kind::concurrent_kernel});
  for (const interval times : {interval{0, 0}, interval{200, 100}}) {
    work w;
    w.times = times;
    launch({}, "k", {}, w);
  }
  ASSERT_EQ(cuptiActivityFlushAll(0), cupti::result::success);
  const auto records = c.records();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].get(cupti::kernel::end), 0U);
  EXPECT_EQ(records[1].get(cupti::kernel::start), 200U);
  EXPECT_EQ(records[1].get(cupti::kernel::end), 100U);
}

TEST(standin_calls, records_of_work_come_after_before_or_long_after_those_of_calls) {
  for (const record_order order :
       {record_order::api_first, record_order::kernel_first, record_order::at_flush}) {
    config settings;
    settings.order = order;
    client c{settings};
    c.enable({record_kind::concurrent_kernel, record_kind::runtime});
    launch({}, "a");
    launch({}, "b");
    ASSERT_EQ(cuptiActivityFlushAll(0), cupti::result::success);
    const auto kernel = record_kind::concurrent_kernel;
    const auto call = record_kind::runtime;
    if (order == record_order::api_first) {
      EXPECT_THAT(kinds(c), ElementsAre(call, kernel, call, kernel));
    } else if (order == record_order::kernel_first) {
      EXPECT_THAT(kinds(c), ElementsAre(kernel, call, kernel, call));
    } else {
      EXPECT_THAT(kinds(c), ElementsAre(call, call, kernel, kernel));
    }
  }
}

TEST(standin_calls, nested_calls_share_an_id_or_the_record_has_the_outer_or_the_inner_one) {
  for (const auto& [rule, enters, of_record] :
       {std::tuple{nested_correlation::shared, std::array{1U, 1U}, 1U},
        std::tuple{nested_correlation::outer, std::array{1U, 2U}, 1U},
        std::tuple{nested_correlation::inner, std::array{1U, 2U}, 2U}}) {
    config settings;
    settings.correlation = rule;
    client c{settings};
    c.enable({record_kind::concurrent_kernel});
    EXPECT_EQ(launch({}, "k").correlation, of_record);
    ASSERT_EQ(cuptiActivityFlushAll(0), cupti::result::success);
    EXPECT_EQ(c.records().at(0).get(cupti::kernel::correlation_id), of_record);
    std::vector<std::uint32_t> entered;
    for (const seen_callback& seen : c.callbacks()) {
      if (seen.domain != callback_domain::resource && seen.site == callback_site::enter) {
        entered.push_back(seen.correlation);
      }
    }
    EXPECT_THAT(entered, ElementsAre(enters[0], enters[1]));
  }
}

TEST(standin_calls, without_api_records_or_callbacks_work_has_no_correlation) {
  client c{{}, false};
  c.enable({record_kind::concurrent_kernel});
  EXPECT_EQ(launch({}, "k").correlation, cupti::unknown_correlation);
  c.enable({record_kind::runtime});
  EXPECT_EQ(launch({}, "k").correlation, 1U);
}

TEST(standin_calls, ids_wrap_without_being_zero) {
  client c;
  set_next_correlation(0xFFFFFFFF);
  EXPECT_EQ(launch({}, "k").correlation, 0xFFFFFFFF);
  EXPECT_EQ(launch({}, "k").correlation, 1U);
}

TEST(standin_calls, bare_callbacks_come_in_pairs_with_ids_that_count_on) {
  client c;
  call_back(callback_domain::driver_api, driver::launch_kernel, 2);
  ASSERT_EQ(c.callbacks().size(), 4U);
  EXPECT_EQ(c.callbacks()[1].site, callback_site::exit);
  EXPECT_EQ(c.callbacks()[1].correlation, 1U);
  EXPECT_EQ(c.callbacks()[3].correlation, 2U);
}

TEST(standin_calls, a_call_that_fails_makes_no_work) {
  client c;
  c.enable({record_kind::concurrent_kernel, record_kind::runtime});
  work w;
  w.how.result = 700;
  EXPECT_THAT(launch({}, "k", {}, w).times, IsEmpty());
  ASSERT_EQ(cuptiActivityFlushAll(0), cupti::result::success);
  ASSERT_EQ(c.records().size(), 1U);
  EXPECT_EQ(c.records()[0].get(cupti::api::return_value), 700U);
}

TEST(standin_calls, running_work_has_no_end_until_it_is_waited_for) {
  client c;
  c.enable({record_kind::concurrent_kernel});
  work w;
  w.running = true;
  launch({}, "k", {}, w);
  ASSERT_EQ(cuptiActivityFlushAll(0), cupti::result::success);
  EXPECT_THAT(c.records(), IsEmpty()) << "its buffer is not complete";
  synchronize({});
  ASSERT_EQ(cuptiActivityFlushAll(0), cupti::result::success);
  ASSERT_EQ(c.records().size(), 1U);
  EXPECT_GT(c.records()[0].get(cupti::kernel::end), 0U);
  launch({}, "lost", {}, w);
  ASSERT_EQ(cuptiActivityFlushAll(cupti::flush_forced), cupti::result::success);
  synchronize({});
  ASSERT_EQ(cuptiActivityFlushAll(0), cupti::result::success);
  ASSERT_EQ(c.records().size(), 2U);
  EXPECT_EQ(c.records()[1].get(cupti::kernel::end), 0U);
}

TEST(standin_calls, a_callback_may_call_and_every_function_may_meet_a_foreign_thread) {
  client c;
  c.enable({record_kind::concurrent_kernel});
  work w;
  w.how.inside = [] { launch({}, "inner"); };
  launch({}, "outer", {}, w);
  traffic_inside_every_function();
  ASSERT_EQ(cuptiActivityFlushAll(0), cupti::result::success);
  on_entry(nullptr);
  ASSERT_EQ(cuptiActivityFlushAll(0), cupti::result::success);
  std::vector<std::string> names;
  for (const seen_record& r : c.records()) {
    names.push_back(r.name);
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"inner", "outer", "foreign"}));
}

TEST(standin_calls, sixteen_threads_lose_nothing) {
  client c;
  c.buffer_size = 4096;
  c.enable({record_kind::concurrent_kernel, record_kind::runtime});
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([] {
      const stream s = create_stream();
      for (int i = 0; i < 100; ++i) {
        launch(s, "k");
      }
    });
  }
  for (std::thread& t : threads) {
    t.join();
  }
  ASSERT_EQ(cuptiActivityFlushAll(0), cupti::result::success);
  EXPECT_EQ(c.records(record_kind::concurrent_kernel).size(), 1600U);
  EXPECT_EQ(c.records(record_kind::runtime).size(), 1616U);  // with 16 streams' creation
  EXPECT_EQ(buffers_outstanding(), 0U);
}

}  // namespace

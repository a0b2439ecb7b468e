// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Records on their way from CUPTI's buffers into a trace, in good order and in bad.
#include "collector_fixture.hpp"

#include <cstdlib>

namespace collector_tests {
namespace {

using standin::work;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

work at(std::uint64_t begin, std::uint64_t end) {
  work w;
  w.times = standin::interval{begin, end};
  return w;
}

TEST_F(collector_test, each_kernel_is_in_the_layer_of_its_launch_whatever_the_order_of_records) {
  using standin::record_order;
  for (const record_order order :
       {record_order::api_first, record_order::kernel_first, record_order::at_flush}) {
    standin::config settings;
    settings.order = order;
    standin::reset(settings);
    forget();
    varve::session session{options};
    run_layers(standin::create_stream(), 5, 7);
    const varve::trace t = session.stop();
    EXPECT_EQ(lines_of(t), expected());
    EXPECT_THAT(t.losses, IsEmpty());
    const varve::report_quality q = varve::analyze(t).quality;
    EXPECT_EQ(q.matched, 35);  // 5 layers of 7
    EXPECT_EQ(q.unmatched, 0);
    EXPECT_EQ(q.attributed, 1.0);
  }
}

TEST_F(collector_test, records_split_over_small_and_shuffled_buffers_lose_nothing) {
  using standin::delivery;
  for (const delivery who : {delivery::worker, delivery::filler, delivery::flush_only}) {
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
      standin::config settings;
      settings.deliver = who;
      settings.shuffle = seed;
      settings.records_per_buffer = seed == 1 ? 1 : 4;
      standin::reset(settings);
      forget();
      varve::session session{options};
      // 60 kernels in buffers of at most 4; 48 buffers there are at once: 32 and 16 spare ones.
      run_layers(standin::create_stream(), 10, seed == 1 ? 4 : 6);
      const varve::trace t = session.stop();
      EXPECT_EQ(lines_of(t), expected());
      EXPECT_THAT(t.losses, IsEmpty());
      EXPECT_EQ(standin::buffers_outstanding(), 0U);
    }
  }
}

TEST_F(collector_test, copies_and_sets_have_their_bytes_and_kernels_their_shape) {
  varve::session session{options};
  standin::initialise(2);
  const standin::stream s = standin::create_stream(1);
  {
    const varve::layer layer{"io"};
    standin::copy(s, varve::cupti::copy_direction::host_to_device, 4096);
    standin::copy(s, varve::cupti::copy_direction::device_to_host, 8, {}, 3);
    standin::peer_copy(s, 0, 1U << 20U);
    standin::memset(s, 0, 77);
    standin::launch_shape shape;
    shape.grid = {10, 20, 30};
    shape.block = {64, 2, 1};
    shape.registers = 96;
    shape.static_shared = 1024;
    shape.dynamic_shared = 2048;
    standin::launch(s, "shaped", shape);
  }
  const varve::trace t = session.stop();
  const std::vector<piece_of_work> all = device_work(t);
  ASSERT_THAT(all, SizeIs(5));
  const char* const names[] = {"Memcpy HtoD", "Memcpy DtoH", "Memcpy PtoP", "Memset", "shaped"};
  const std::int64_t bytes[] = {4096, 8, 1 << 20, 77, -1};
  using varve::activity_kind;
  const activity_kind kinds[] = {activity_kind::copy, activity_kind::copy, activity_kind::copy,
                                 activity_kind::set, activity_kind::kernel};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(all[i].name, names[i]);
    EXPECT_EQ(all[i].bytes, bytes[i]);
    EXPECT_EQ(all[i].kind, kinds[i]);
    EXPECT_EQ(all[i].layer, "io");
    EXPECT_EQ(all[i].stream.device, 1U);
    EXPECT_EQ(all[i].stream.stream, standin::stream_id(s));
  }
  const varve::launch_shape& shape = all[4].shape;
  EXPECT_THAT(shape.grid, testing::ElementsAre(10U, 20U, 30U));
  EXPECT_THAT(shape.block, testing::ElementsAre(64U, 2U, 1U));
  EXPECT_EQ(shape.registers, 96U);
  EXPECT_EQ(shape.static_shared_memory, 1024U);
  EXPECT_EQ(shape.dynamic_shared_memory, 2048U);
}

TEST_F(collector_test, allocations_are_events_of_memory_and_calls) {
  varve::session session{options};
  const std::uint64_t address = standin::allocate(1000);
  standin::allocate(24);
  standin::free(address);
  const varve::trace t = session.stop();
  ASSERT_THAT(t.memory_events, SizeIs(3));
  EXPECT_EQ(t.memory_events[0].bytes, 1000);
  EXPECT_EQ(t.memory_events[1].bytes, 24);
  EXPECT_EQ(t.memory_events[2].bytes, -1000);
  EXPECT_TRUE(t.memory_events[0].on_device);
  EXPECT_THAT(t.calls.kind, testing::ElementsAre(varve::call_kind::allocate, varve::call_kind::allocate,
                                                 varve::call_kind::allocate));
}

TEST_F(collector_test, the_outermost_of_nested_calls_is_charged_once_whichever_id_its_record_has) {
  using standin::nested_correlation;
  for (const nested_correlation which :
       {nested_correlation::shared, nested_correlation::outer, nested_correlation::inner}) {
    standin::config settings;
    settings.correlation = which;
    standin::reset(settings);
    forget();
    varve::session session{options};
    const standin::stream s = standin::create_stream();  // no call that is recorded
    run_layers(s, 4, 3);
    work driver_only;
    driver_only.how.through = standin::api::driver;
    note("d", "", standin::launch(s, "d", {}, driver_only));
    work runtime_only;
    runtime_only.how.through = standin::api::runtime;
    note("r", "", standin::launch(s, "r", {}, runtime_only));
    const varve::trace t = session.stop();
    EXPECT_EQ(lines_of(t), expected());
    EXPECT_EQ(t.calls.size(), 14U);  // 4·3 launches, 1 and 1: none of them twice
    EXPECT_EQ(varve::analyze(t).quality.matched, 14);
  }
}

TEST_F(collector_test, each_kind_of_call_is_told_from_the_others) {
  using varve::call_kind;
  const standin::stream s = standin::create_stream();
  const std::uint64_t event = standin::create_event();
  varve::session session{options};
  standin::launch(s, "k");
  standin::copy(s, varve::cupti::copy_direction::host_to_device, 8);
  standin::memset(s, 0, 8);
  standin::synchronize(s);
  standin::synchronize_event(event);
  standin::allocate(8);
  standin::record_event(event, s);
  standin::host_function(s);
  standin::create_graph();
  standin::query_event(event);  // polled with, and never waits: not recorded
  standin::any_call(10, 0);     // cudaGetLastError: neither
  standin::begin_capture(s);
  standin::launch(s, "captured");
  standin::end_capture(s);
  const varve::trace t = session.stop();
  EXPECT_THAT(t.calls.kind,
              testing::ElementsAre(call_kind::launch, call_kind::copy, call_kind::set, call_kind::synchronise,
                                   call_kind::synchronise, call_kind::allocate, call_kind::event,
                                   call_kind::host_function, call_kind::graph_build, call_kind::graph_build,
                                   call_kind::launch, call_kind::graph_build));
  EXPECT_THAT(t.calls.captured, testing::ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0));
}

TEST_F(collector_test, a_call_inside_a_call_is_part_of_it) {
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  work outer;
  outer.how.inside = [&] { standin::launch(s, "inner"); };
  {
    const varve::layer layer{"lazy"};
    standin::launch(s, "outer", {}, outer);
  }
  const varve::trace t = session.stop();
  ASSERT_EQ(t.calls.size(), 1U);
  EXPECT_THAT(device_work(t), testing::Each(testing::Field(&piece_of_work::layer, "lazy")));
  EXPECT_EQ(t.activities.size(), 2U);
}

TEST_F(collector_test, a_call_that_fails_is_a_call_without_work) {
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  work fails;
  fails.how.result = 700;
  standin::launch(s, "failed", {}, fails);
  note("good", "", standin::launch(s, "good"));
  const varve::trace t = session.stop();
  EXPECT_EQ(lines_of(t), expected());
  ASSERT_EQ(t.calls.size(), 2U);
  EXPECT_GE(t.calls.end[0], t.calls.begin[0]);
  EXPECT_EQ(t.calls.captured[0], 0);
}

TEST_F(collector_test, records_that_cupti_drops_are_counted) {
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  run_layers(s, 1, 3);
  standin::drop_records(5);
  for (int i = 0; i < 5; ++i) {
    standin::launch(s, "dropped");
  }
  run_layers(s, 1, 2);
  const varve::trace t = session.stop();
  EXPECT_EQ(lines_of(t), expected());
  EXPECT_EQ(lost(t, "dropped by CUPTI"), 5U);
  EXPECT_EQ(varve::analyze(t).quality.losses.size(), 1U);
}

TEST_F(collector_test, records_for_which_there_was_no_buffer_are_counted) {
  standin::config settings;
  settings.deliver = standin::delivery::flush_only;
  standin::reset(settings);
  options.gpu.buffers = 1;
  options.gpu.buffer_bytes = 1;  // the least there is
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  std::uint64_t launched = 0;
  while (standin::records_dropped() == 0 && launched < 1'000'000) {
    standin::launch(s, "k");
    ++launched;
  }
  ASSERT_GT(standin::records_dropped(), 0U);
  const varve::trace t = session.stop();
  EXPECT_EQ(lost(t, "dropped by CUPTI"), standin::records_dropped());
  EXPECT_EQ(t.activities.size() + standin::records_dropped(), launched);
  EXPECT_GE(lost(t, "got no buffer"), 1U);
  EXPECT_EQ(standin::buffers_outstanding(), 0U);
}

TEST_F(collector_test, a_libcupti_that_crashes_without_a_buffer_gets_one_and_what_that_loses_is_counted) {
  standin::config settings;
  settings.version = varve::cupti::cuda_12_6;
  settings.deliver = standin::delivery::flush_only;
  if (!first_in_process()) {
    GTEST_SKIP() << "needs a process of its own";
  }
  standin::reset(settings);
  options.gpu.buffers = 1;
  options.gpu.buffer_bytes = 1;
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  std::uint64_t launched = 0;
  const auto told = [&] {
    for (const varve::loss& l : session.status().losses) {
      if (l.what.find("got no buffer") != std::string::npos) {
        return true;
      }
    }
    return false;
  };
  while (!told() && launched < 1'000'000) {
    for (int i = 0; i < 500; ++i) {
      standin::launch(s, "k");
    }
    launched += 500;
  }
  const varve::trace t = session.stop();
  EXPECT_GE(lost(t, "times that CUPTI got no buffer"), 1U);
  EXPECT_LT(t.activities.size(), launched);
  EXPECT_GT(t.activities.size(), 0U);
  // In records of kernels, the longest of those that are written: no more than are missing.
  EXPECT_GE(lost(t, "records at least"), 1U);
  EXPECT_LE(lost(t, "records at least"), launched - t.activities.size());
}

TEST_F(collector_test, work_without_times_is_counted_and_never_summed) {
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  standin::launch(s, "zero", {}, at(0, 0));
  standin::launch(s, "reversed", {}, at(200, 100));
  work running;
  running.running = true;
  standin::launch(s, "running", {}, running);  // its end is 0 in the forced flush
  const standin::done good = standin::launch(s, "good");
  const varve::trace t = session.stop();
  EXPECT_EQ(t.activities.size(), 4U);
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.quality.untimed, 3);
  ASSERT_THAT(r.devices, SizeIs(1));
  EXPECT_EQ(r.devices[0].kernel_time,
            static_cast<varve::time_ns>(good.times.at(0).end - good.times.at(0).begin));
}

TEST_F(collector_test, work_that_ends_before_the_stop_has_its_end) {
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  work running;
  running.running = true;
  standin::launch(s, "running", {}, running);
  standin::synchronize(s);
  const varve::trace t = session.stop();
  EXPECT_EQ(t.activities.size(), 1U);
  EXPECT_EQ(varve::analyze(t).quality.untimed, 0);
}

// Flushing withholds, so that all records of these are in one buffer.
class collector_damage_test : public collector_test {
 protected:
  void SetUp() override {
    standin::config settings;
    settings.deliver = standin::delivery::flush_only;
    settings.flush_withholds = true;
    standin::reset(settings);
  }
};

TEST_F(collector_damage_test, what_follows_a_record_of_an_unknown_kind_is_lost_and_counted) {
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  run_layers(s, 1, 2);
  standin::write_unknown_record();
  standin::launch(s, "behind");
  const varve::trace t = session.stop();
  EXPECT_EQ(lines_of(t), expected());
  EXPECT_EQ(lost(t, "unknown kind"), 1U);
}

TEST_F(collector_damage_test, what_follows_padding_is_lost_and_counted) {
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  run_layers(s, 1, 2);
  standin::write_padding(64);
  standin::launch(s, "behind");
  const varve::trace t = session.stop();
  EXPECT_EQ(lines_of(t), expected());
  EXPECT_EQ(lost(t, "end within a record"), 1U);
}

TEST_F(collector_damage_test, a_buffer_that_ends_within_a_record_has_the_others) {
  standin::truncate_buffers(8);
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  run_layers(s, 1, 2);
  standin::launch(s, "cut");
  const varve::trace t = session.stop();
  EXPECT_EQ(lines_of(t), expected());
  EXPECT_EQ(lost(t, "end within a record"), 1U);
}

TEST_F(collector_damage_test, a_buffer_cut_to_nothing_has_nothing) {
  standin::truncate_buffers(1'000'000);
  varve::session session{options};
  standin::launch(standin::create_stream(), "gone");
  const varve::trace t = session.stop();
  EXPECT_EQ(t.activities.size(), 0U);
  EXPECT_EQ(t.calls.size(), 1U);
}

TEST_F(collector_test, kernels_are_called_as_in_their_source) {
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  for (const char* name : {"_Z4gemmPKfi", "_Znonsense", "plain"}) {
    standin::launch(s, name);
  }
  const varve::trace t = session.stop();
  ASSERT_EQ(t.activities.size(), 3U);
  EXPECT_EQ(t.strings[t.activities.name[0]], "gemm(float const*, int)");
  EXPECT_EQ(t.strings[t.activities.name[1]], "_Znonsense");
  EXPECT_EQ(t.strings[t.activities.name[2]], "plain");
}

TEST_F(collector_test, a_snapshot_has_the_records_so_far_and_the_trace_all) {
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  run_layers(s, 2, 3);
  const std::vector<std::string> first = expected();
  EXPECT_EQ(lines_of(session.snapshot()), first);
  work running;
  running.running = true;
  standin::launch(s, "running", {}, running);
  EXPECT_EQ(session.snapshot().activities.size(), 6U);  // what has not ended is not withheld from the trace
  standin::synchronize(s);
  run_layers(s, 1, 1);
  const varve::trace t = session.stop();
  EXPECT_EQ(t.activities.size(), 8U);  // 6, the one that ran, 1
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST_F(collector_test, correlations_that_wrap_stay_one_to_one) {
  standin::config settings;
  settings.correlation = standin::nested_correlation::inner;
  standin::reset(settings);
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  standin::set_next_correlation(0xFFFF'FFFFU - 30);  // each launch takes two
  run_layers(s, 5, 12);
  const varve::trace t = session.stop();
  EXPECT_EQ(lines_of(t), expected());
  EXPECT_EQ(varve::analyze(t).quality.duplicate_correlations, 0);
}

TEST_F(collector_test, a_small_trace_memory_bounds_names_and_records_and_what_it_refuses_is_counted) {
  constexpr std::uint64_t memory = 256 << 10U;
  constexpr std::uint64_t kernels = 4000;
  options.trace_memory = memory;
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  for (std::uint64_t i = 0; i < kernels; ++i) {
    standin::launch(s, std::string(400, 'n') + std::to_string(i));
  }
  const varve::trace t = session.stop();
  std::uint64_t bytes = 35 * t.activities.size() + 28 * t.calls.size();
  for (std::uint32_t i = 0; i < t.strings.size(); ++i) {
    bytes += t.strings[i].size();
  }
  EXPECT_GT(t.activities.size(), 0U);
  EXPECT_LE(bytes, memory);
  EXPECT_GE(lost(t, "trace memory full"), kernels - t.activities.size());
  EXPECT_EQ(varve::analyze(t).devices.at(0).kernels, static_cast<std::int64_t>(t.activities.size()));
}

TEST_F(collector_test, what_cupti_itself_takes_is_own_overhead_and_what_loading_takes_is_not) {
  using varve::cupti::overhead_kind;
  constexpr std::uint64_t hour = 3'600'000'000'000;
  varve::session session{options};
  standin::write_overhead(overhead_kind::cupti_instrumentation, {1000, 1000 + hour}, true);
  standin::write_overhead(overhead_kind::cupti_buffer_flush, {1000, 1000 + hour});
  standin::write_overhead(overhead_kind::lazy_function_loading, {0, 7'000'000});
  standin::write_overhead(overhead_kind::command_buffer_full, {0, hour});
  standin::write_overhead(overhead_kind::cupti_resource, {hour, 0});  // reversed: nothing
  const varve::trace t = session.stop();
  EXPECT_GE(t.own_overhead, static_cast<varve::time_ns>(2 * hour));
  EXPECT_LT(t.own_overhead, static_cast<varve::time_ns>(3 * hour));  // markers take no hour
  EXPECT_THAT(detail(t), HasSubstr("first use in 7 ms"));
}

TEST_F(collector_test, what_ran_before_and_after_a_session_is_not_in_it) {
  standin::change([](standin::config& c) { c.flush_withholds = true; });
  const standin::stream s = standin::create_stream();
  standin::launch(s, "before");
  ::setenv("VARVE_CUPTI_LIBRARY", "libcupti.so.13", 1);
  varve::arm_devices();
  standin::launch(s, "armed");  // has a record, which comes with those of the session
  varve::session first{options};
  run_layers(s, 2, 2);
  standin::change([](standin::config& c) { c.flush_withholds = false; });
  const varve::trace one = first.stop();
  EXPECT_EQ(lines_of(one), expected());
  standin::change([](standin::config& c) { c.flush_withholds = true; });
  standin::launch(s, "between");
  forget();
  varve::session second{options};
  run_layers(s, 1, 3);
  standin::change([](standin::config& c) { c.flush_withholds = false; });
  const varve::trace two = second.stop();
  EXPECT_EQ(lines_of(two), expected());
  EXPECT_THAT(one.losses, IsEmpty());
  EXPECT_THAT(two.losses, IsEmpty());
  varve::disarm();
}

struct layout {
  const char* name;
  std::uint32_t version;
};
class collector_version_test : public collector_test, public testing::WithParamInterface<layout> {};

TEST_P(collector_version_test, all_kinds_of_records_are_read) {
  standin::config settings;
  settings.version = GetParam().version;
  if (!first_in_process()) {
    GTEST_SKIP() << "needs a process of its own";
  }
  standin::reset(settings);
  varve::session session{options};
  standin::initialise(2);
  const standin::stream s = standin::create_stream();
  for (int i = 0; i < 3; ++i) {
    const varve::layer layer{"layer", i};
    const std::string in = "layer " + std::to_string(i);
    note("kernel", in, standin::launch(s, "kernel"));
    note("Memcpy DtoD", in, standin::copy(s, varve::cupti::copy_direction::device_to_device, 64));
    note("Memcpy PtoP", in, standin::peer_copy(s, 1, 64));
    note("Memset", in, standin::memset(s, 0, 64));
    standin::allocate(512);
  }
  standin::write_overhead(varve::cupti::overhead_kind::cupti_resource, {0, 3'600'000'000'000},
                          settings.version >= varve::cupti::cuda_12_4);
  const varve::trace t = session.stop();
  EXPECT_EQ(lines_of(t), expected());
  EXPECT_THAT(t.memory_events, SizeIs(3));
  EXPECT_GE(t.own_overhead, 3'600'000'000'000);
  EXPECT_THAT(t.losses, IsEmpty());
  EXPECT_THAT(find_collector(t.collectors, "cupti")->version,
              HasSubstr("(" + std::to_string(settings.version) + ")"));
}

INSTANTIATE_TEST_SUITE_P(
    cuda, collector_version_test,
    testing::Values(layout{"v12_0", varve::cupti::cuda_12_0}, layout{"v12_2", varve::cupti::cuda_12_2},
                    layout{"v12_4", varve::cupti::cuda_12_4}, layout{"v12_6", varve::cupti::cuda_12_6},
                    layout{"v12_8", varve::cupti::cuda_12_8}, layout{"v12_9", varve::cupti::cuda_12_9},
                    layout{"v13_0", 130001}, layout{"v13_1", 130100}, layout{"v13_4", 130400}),
    [](const auto& instance) { return std::string{instance.param.name}; });

}  // namespace
}  // namespace collector_tests

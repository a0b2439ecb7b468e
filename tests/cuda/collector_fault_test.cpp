// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A CUPTI that fails, calls back when it should not, or is called from inside itself: the session runs on.
#include "collector_fixture.hpp"

#include <atomic>
#include <thread>

namespace collector_tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using varve::cupti::result;

struct broken {
  const char* function;
  bool unavailable;  ///< no records of GPUs come then
  const char* told;  ///< in the status
};

/// All that CUPTI has, with those of later versions, and one that it has not.
std::vector<result> all_errors() {
  std::vector<result> all;
  for (std::uint32_t code = 1; code <= 64; ++code) {
    all.push_back(result{code});
  }
  all.push_back(result::unknown);
  all.push_back(result{12345});
  return all;
}

class collector_error_test : public collector_test, public testing::WithParamInterface<broken> {};

TEST_P(collector_error_test, the_session_runs_on_and_says_why) {
  const broken& b = GetParam();
  for (const result code : all_errors()) {
    SCOPED_TRACE(static_cast<std::uint32_t>(code));
    standin::reset();
    standin::fail({b.function, code});
    {
      varve::session session{options};
      ASSERT_TRUE(session.status().running);
      const std::size_t callbacks = standin::callbacks_made();
      run_layers(standin::create_stream(), 2, 2);
      if (b.unavailable) {  // and costs the engine nothing
        EXPECT_FALSE(standin::subscribed());
        EXPECT_THAT(standin::enabled_kinds(), IsEmpty());
        EXPECT_EQ(standin::callbacks_made(), callbacks);
      }
      static_cast<void>(session.snapshot());
      const varve::trace t = session.stop();
      EXPECT_THAT(varve_test::paths(t),
                  testing::ElementsAre("decode", "decode / layer 0", "decode / layer 1"));
      const varve::collector_status* const cupti = find_collector(t.collectors, "cupti");
      ASSERT_NE(cupti, nullptr);
      EXPECT_EQ(cupti->state,
                b.unavailable ? varve::collector_state::unavailable : varve::collector_state::stopped);
      if (*b.told != '\0') {
        EXPECT_THAT(cupti->detail, HasSubstr(b.told));
        EXPECT_THAT(cupti->detail,
                    HasSubstr("CUPTI error " + std::to_string(static_cast<std::uint32_t>(code)) + ": "));
      }
      EXPECT_EQ(t.activities.size() == 0, b.unavailable);
      static_cast<void>(varve::analyze(t));
    }
    // Nothing is left over: the next session is as any other.
    standin::reset();
    forget();
    varve::session next{options};
    run_layers(standin::create_stream(), 2, 2);
    const varve::trace t = next.stop();
    EXPECT_EQ(lines_of(t), expected());
    EXPECT_EQ(find_collector(t.collectors, "cupti")->state, varve::collector_state::stopped);
    EXPECT_THAT(detail(t), Not(HasSubstr("error")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    cuda, collector_error_test,
    testing::Values(broken{"cuptiSubscribe", true, "cuptiSubscribe"},
                    broken{"cuptiActivityRegisterCallbacks", true, "cuptiActivityRegisterCallbacks"},
                    broken{"cuptiActivityEnable", true, "cuptiActivityEnable"},
                    broken{"cuptiEnableCallback", false, "calls are not watched"},
                    broken{"cuptiActivityDisable", false, ""}, broken{"cuptiUnsubscribe", false, ""},
                    broken{"cuptiGetTimestamp", false, ""},
                    broken{"cuptiActivityGetNumDroppedRecords", false, ""},
                    broken{"cuptiGetGraphId", false, ""}, broken{"cuptiGetGraphNodeId", false, ""}),
    [](const auto& instance) { return std::string{instance.param.function}; });

TEST_F(collector_test, after_the_stop_nothing_stays_switched_on) {
  varve::session session{options};
  run_layers(standin::create_stream(), 1, 1);
  EXPECT_TRUE(standin::subscribed());
  static_cast<void>(session.stop());
  EXPECT_FALSE(standin::subscribed());
  EXPECT_THAT(standin::enabled_kinds(), IsEmpty());
  for (const auto domain :
       {varve::cupti::callback_domain::runtime_api, varve::cupti::callback_domain::driver_api,
        varve::cupti::callback_domain::resource, varve::cupti::callback_domain::state}) {
    EXPECT_THAT(standin::enabled_callbacks(domain), IsEmpty());
  }
  EXPECT_EQ(standin::buffers_outstanding(), 0U);
}

TEST_F(collector_test, a_flush_that_fails_is_told_of) {
  for (const result code : all_errors()) {
    standin::reset();
    standin::fail({"cuptiActivityFlushAll", code});
    varve::session session{options};
    run_layers(standin::create_stream(), 2, 2);
    const varve::trace t = session.stop();
    EXPECT_EQ(t.calls.size(), 4U);
    EXPECT_THAT(detail(t), HasSubstr("records of the GPU are missing"));
    EXPECT_THAT(detail(t),
                HasSubstr("CUPTI error " + std::to_string(static_cast<std::uint32_t>(code)) + ": "));
  }
}

TEST_F(collector_test, a_kind_of_record_that_the_library_refuses_is_named_before_and_after_the_stop) {
  standin::fail({"cuptiActivityEnable", result::not_compatible, 0, 1,
                 static_cast<std::uint64_t>(varve::cupti::record_kind::memset)});
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  standin::memset(s, 0, 8);
  run_layers(s, 1, 1);
  EXPECT_THAT(find_collector(session.status().collectors, "cupti")->detail, HasSubstr("switched off: sets"));
  const varve::trace t = session.stop();
  EXPECT_EQ(lines_of(t), expected());
  EXPECT_THAT(detail(t), HasSubstr("switched off: sets"));
}

TEST_F(collector_test, everything_fails_and_markers_work) {
  standin::fail({"", result::unknown});
  varve::session session{options};
  run_layers(standin::create_stream(), 3, 1);
  const varve::trace t = session.stop();
  EXPECT_THAT(varve_test::paths(t), SizeIs(4));
  EXPECT_EQ(find_collector(t.collectors, "cupti")->state, varve::collector_state::unavailable);
}

TEST_F(collector_test, a_session_that_is_refused_cupti_has_no_losses_of_the_one_before) {
  {
    varve::session session{options};
    standin::drop_records(1);
    standin::launch(standin::create_stream(), "dropped");
    EXPECT_EQ(lost(session.stop(), "dropped by CUPTI"), 1U);
  }
  standin::change([](standin::config& c) { c.other_subscriber = true; });
  varve::session session{options};
  const varve::trace t = session.stop();
  EXPECT_THAT(t.losses, IsEmpty());
  EXPECT_THAT(detail(t), HasSubstr("another profiler holds CUPTI"));
}

TEST_F(collector_test, losses_so_far_are_in_the_status) {
  varve::session session{options};
  standin::drop_records(2);
  const standin::stream s = standin::create_stream();
  standin::launch(s, "dropped");
  standin::launch(s, "dropped");
  static_cast<void>(session.snapshot());
  const std::vector<varve::loss> losses = session.status().losses;
  ASSERT_THAT(losses, SizeIs(1));
  EXPECT_EQ(losses[0].count, 2U);
}

TEST_F(collector_test, an_error_that_cupti_tells_of_is_in_the_status) {
  varve::session session{options};
  standin::notify(varve::cupti::state_event::error, result::out_of_memory, "the pool is empty");
  standin::notify(varve::cupti::state_event::fatal_error, result::hardware, nullptr);
  const varve::trace t = session.stop();
  EXPECT_THAT(detail(t), HasSubstr("CUPTI told of 2 errors"));
  EXPECT_THAT(detail(t), HasSubstr("the pool is empty"));
}

TEST_F(collector_test, callbacks_that_come_after_the_end_do_nothing) {
  standin::config settings;
  settings.callbacks_after_unsubscribe = true;
  standin::reset(settings);
  const standin::stream s = standin::create_stream();
  varve::session first{options};
  run_layers(s, 2, 2);
  const varve::trace one = first.stop();
  EXPECT_EQ(lines_of(one), expected());
  {
    const varve::layer layer{"nobody records"};
    standin::launch(s, "late");
    standin::begin_capture(s);
    standin::launch(s, "captured");
    standin::end_capture(s);
  }
  forget();
  varve::session second{options};
  run_layers(s, 2, 2);
  const varve::trace two = second.stop();
  EXPECT_EQ(lines_of(two), expected());
  EXPECT_EQ(two.calls.size(), 4U);
}

TEST_F(collector_test, a_session_that_stops_inside_a_call_leaves_nothing_to_the_next) {
  const standin::stream s = standin::create_stream();
  varve::session session{options};
  standin::work stops;
  varve::trace one;
  stops.how.inside = [&] { one = session.stop(); };
  standin::launch(s, "open", {}, stops);
  ASSERT_EQ(one.calls.size(), 1U);
  EXPECT_EQ(one.calls.end[0], one.end);
  varve::session second{options};
  run_layers(s, 1, 2);
  const varve::trace two = second.stop();
  EXPECT_EQ(lines_of(two), expected());
  EXPECT_EQ(two.calls.size(), 2U);
}

std::vector<std::string> lines_without(const varve::trace& t, const std::string& name) {
  std::vector<std::string> lines = lines_of(t);
  lines.erase(std::remove_if(lines.begin(), lines.end(),
                             [&](const std::string& line) { return line.rfind(name + " in ", 0) == 0; }),
              lines.end());
  return lines;
}

TEST_F(collector_test, calls_from_inside_every_function_of_cupti_do_not_deadlock) {
  const standin::stream s = standin::create_stream();
  standin::on_entry([&](std::string_view) { standin::launch(s, "inside"); });
  varve::session session{options};
  run_layers(s, 2, 5);
  static_cast<void>(session.snapshot());
  static_cast<void>(session.status());
  const varve::trace t = session.stop();
  standin::on_entry(nullptr);
  EXPECT_EQ(lines_without(t, "inside"), expected());
  EXPECT_GT(t.activities.size(), expected().size());
}

TEST_F(collector_test, foreign_threads_inside_every_function_of_cupti_do_not_deadlock) {
  standin::traffic_inside_every_function();
  options.gpu.buffers = 5000;  // one for each of the threads that come and go
  options.gpu.buffer_bytes = 1;
  const standin::stream s = standin::create_stream();
  varve::session session{options};
  run_layers(s, 2, 5);
  static_cast<void>(session.snapshot());
  static_cast<void>(session.status());
  const varve::trace t = session.stop();
  standin::on_entry(nullptr);
  EXPECT_EQ(lost(t, "dropped by CUPTI"), 0U);
  EXPECT_EQ(lines_without(t, "foreign"), expected());
  EXPECT_GT(t.activities.size(), expected().size());
}

TEST_F(collector_test, a_call_that_varve_does_not_know_is_named) {
  if (!first_in_process()) {
    GTEST_SKIP() << "needs a process of its own";
  }
  standin::add_callback(varve::cupti::callback_domain::runtime_api, 600, "cudaFrobnicate_v14000");
  standin::add_callback(varve::cupti::callback_domain::runtime_api, 601, "cudaLaunchKernelLater_v14000");
  varve::session session{options};
  standin::work later;
  later.how.through = standin::api::runtime;
  later.how.runtime_id = 601;
  note("later", "", standin::launch(standin::create_stream(), "later", {}, later));
  const varve::trace t = session.stop();
  EXPECT_EQ(lines_of(t), expected());
  EXPECT_THAT(detail(t), HasSubstr("1 calls that this version of varve does not know"));
  EXPECT_THAT(detail(t), HasSubstr("cudaFrobnicate_v14000"));
}

bool flushed_by_force() {
  for (const standin::call_entry& c : standin::calls()) {
    if (c.function == "cuptiActivityFlushAll" && c.arguments.at(0) == varve::cupti::flush_forced) {
      return true;
    }
  }
  return false;
}

TEST_F(collector_test, a_buffer_that_is_being_read_at_the_stop_is_read_to_its_end) {
  if (!first_in_process()) {
    GTEST_SKIP() << "needs a process of its own";  // where sizes are known already nothing is asked
  }
  standin::config settings;
  settings.records_per_buffer = 1;
  standin::reset(settings);
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  standin::fail({"cuptiActivityFlushAll", result::unknown});  // it does not wait for CUPTI's thread
  std::atomic<bool> reading{false};
  standin::on_entry([&](std::string_view function) {
    if (function == "cuptiActivityGetNextRecord") {
      reading = true;
      while (!flushed_by_force()) {
        std::this_thread::yield();
      }
    }
  });
  {
    const varve::layer layer{"last"};
    note("first", "last", standin::launch(s, "first"));
    standin::launch(s, "second");  // the first's buffer is full
  }
  while (!reading) {
    std::this_thread::yield();
  }
  const varve::trace t = session.stop();
  standin::on_entry(nullptr);
  EXPECT_EQ(lines_of(t), expected());
}

TEST_F(collector_test, absurd_options_are_taken_as_the_nearest_that_are_not) {
  options.gpu.buffers = static_cast<std::size_t>(-1);
  options.gpu.buffer_bytes = static_cast<std::size_t>(-1);
  varve::session session{options};
  ASSERT_TRUE(session.status().running);
  options.gpu.buffer_bytes = 0;
  static_cast<void>(session.stop());
  varve::session least{options};
  run_layers(standin::create_stream(), 1, 2);
  EXPECT_EQ(lines_of(least.stop()), expected());
}

}  // namespace
}  // namespace collector_tests

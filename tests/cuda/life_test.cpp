// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The life of a session that records a GPU: starts, stops, arming, refusals, the end of the process.
#include "cuda/fake_driver.hpp"
#include "cuda/standin_session.hpp"
#include "support/ranges.hpp"

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <future>
#include <thread>

/// Of the stand-in.
// NOLINTNEXTLINE(readability-identifier-naming): CUPTI's
extern "C" standin::cupti::result cuptiActivityGetAttribute(standin::cupti::attribute what, std::size_t* size,
                                                            void* value);

namespace {

using standin::cupti::record_kind;
using standin::cupti::result;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using varve_test::cupti_in;
using varve_test::on_standin;
using varve_test::work_of;

/// Of the stand-in that the program links.
std::string standin_path() {
  Dl_info about{};
  const bool found = ::dladdr(reinterpret_cast<void*>(&standin::calls), &about) != 0;
  return found ? about.dli_fname : "";
}

class life : public varve_test::over_standin {
 protected:
  life() {
    ++tests;
    standin::reset(varve_test::standin_config());
    fake_driver::on_synchronize([this](void*) {
      ++waits;
      calls_before_wait = standin::calls().size();
      standin::finish_running();
    });
  }
  ~life() override { fake_driver::on_synchronize(nullptr); }

  standin::done launch(standin::stream s = {}, const standin::work& w = {}) {
    const varve::phase pass{varve::decode};
    const varve::layer layer{"attention", 0};
    return standin::launch(s, "gemm", {}, w);
  }
  /// What version a library is of is asked for once in a process.
  static bool first_in_process() { return tests == 1; }

  int waits = 0;  // for the GPU, at stops
  std::size_t calls_before_wait = 0;

 private:
  inline static int tests = 0;
};

TEST_F(life, starts_before_cuda_is_initialised) {
  varve::session session{on_standin()};
  standin::initialise();
  const standin::done work = launch(standin::create_stream());
  const varve::trace t = session.stop();
  EXPECT_THAT(work_of(t, work), SizeIs(1));
  EXPECT_EQ(waits, 1);  // its context was seen
}

TEST_F(life, starts_after_cuda_is_initialised) {
  standin::initialise(2);
  const standin::stream s = standin::create_stream(1);
  launch(s);
  varve::session session{on_standin()};
  const standin::done work = launch(s);
  const varve::trace t = session.stop();
  EXPECT_THAT(work_of(t, work), SizeIs(1));
  EXPECT_EQ(t.activities.size(), 1U);  // none of before
  EXPECT_EQ(waits, 1);                 // in a context of before, where nothing shows a capture
}

TEST_F(life, waits_for_contexts_of_before_where_flushes_withhold_buffers) {
  standin::change([](standin::config& c) { c.flush_withholds = true; });
  standin::initialise();
  const standin::stream s = standin::create_stream();
  varve::session session{on_standin()};
  standin::work running;
  running.running = true;
  const standin::done work = launch(s, running);
  const varve::trace t = session.stop();
  EXPECT_EQ(waits, 1);
  EXPECT_THAT(cupti_in(t).detail, testing::Not(HasSubstr("waited for")));
  const auto rows = work_of(t, work);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_GT(t.activities.end[rows[0]], t.activities.begin[rows[0]]);
}

TEST_F(life, has_records_that_come_after_the_last_flush) {
  standin::change([](standin::config& c) { c.forced_flush_withholds = true; });
  varve::session session{on_standin()};
  const standin::done work = launch(standin::create_stream());
  std::promise<void> flushes;
  standin::on_entry([&](std::string_view function) {
    if (function == "cuptiActivityFlushAll") {
      standin::on_entry(nullptr);
      flushes.set_value();
    }
  });
  std::thread of_cupti{[&] {
    flushes.get_future().wait();
    standin::deliver();
  }};
  const varve::trace t = session.stop();
  of_cupti.join();
  EXPECT_THAT(work_of(t, work), SizeIs(1));
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST_F(life, counts_records_that_come_after_the_session) {
  standin::change([](standin::config& c) { c.forced_flush_withholds = true; });
  varve::session first{on_standin()};
  const standin::stream s = standin::create_stream();
  launch(s);
  launch(s);
  EXPECT_THAT(first.stop().activities.begin, IsEmpty());
  standin::deliver();
  standin::change([](standin::config& c) { c.forced_flush_withholds = false; });
  for (const std::uint64_t late : {2U, 0U}) {  // told once
    varve::session next{on_standin()};
    const standin::done work = launch(s);
    const varve::trace t = next.stop();
    EXPECT_THAT(work_of(t, work), SizeIs(1));
    const auto found = std::find_if(t.losses.begin(), t.losses.end(), [](const varve::loss& l) {
      return l.what.find("after a session had fetched the last") != std::string::npos;
    });
    EXPECT_EQ(found != t.losses.end() ? found->count : 0, late);
  }
}

TEST_F(life, stops_by_disabling_waiting_flushing_and_unsubscribing) {
  varve::session session{on_standin()};
  standin::work running;
  running.running = true;
  const standin::done work = launch(standin::create_stream(), running);
  const std::size_t before = standin::calls().size();
  const varve::trace t = session.stop();
  const std::vector<standin::call_entry> calls = standin::calls();
  ASSERT_EQ(waits, 1);
  std::size_t flush = 0;
  std::size_t unsubscribe = 0;
  for (std::size_t i = before; i < calls.size(); ++i) {
    if (calls[i].function == "cuptiActivityDisable") {
      EXPECT_LT(i, calls_before_wait);
    } else if (calls[i].function == "cuptiActivityFlushAll") {
      EXPECT_GE(i, calls_before_wait);
      EXPECT_THAT(calls[i].arguments, testing::ElementsAre(1U));  // forced
      flush = i;
    } else if (calls[i].function == "cuptiUnsubscribe") {
      unsubscribe = i;
    }
  }
  EXPECT_GT(flush, 0U);
  EXPECT_GT(unsubscribe, flush);
  EXPECT_THAT(standin::enabled_kinds(), IsEmpty());
  EXPECT_EQ(standin::buffers_outstanding(), 0U);
  // What still ran when the session was stopped has its end.
  const auto rows = work_of(t, work);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_GT(t.activities.end[rows[0]], t.activities.begin[rows[0]]);
}

TEST_F(life, waits_for_no_context_that_may_have_gone) {
  {
    varve::session first{on_standin()};
    launch(standin::create_stream());
    static_cast<void>(first.stop());
  }
  EXPECT_EQ(waits, 1);
  varve::session second{on_standin()};  // which sees no work
  static_cast<void>(second.stop());
  EXPECT_EQ(waits, 1);
}

TEST_F(life, has_sessions_one_after_another) {
  const standin::stream s = standin::create_stream();
  for (int round = 0; round < 3; ++round) {
    varve::session session{on_standin()};
    const standin::done work = launch(s);
    const varve::trace t = session.stop();
    EXPECT_THAT(work_of(t, work), SizeIs(1));
    EXPECT_EQ(t.activities.size(), 1U);
    EXPECT_EQ(varve_test::range_of(t, work.outer_correlation), "decode / attention 0");
    const standin::done between = launch(s);
    EXPECT_THAT(work_of(t, between), IsEmpty());
    EXPECT_FALSE(standin::subscribed());
  }
}

// What a GPU does meanwhile: its work ends some flushes after the session has stopped.
class capturing : public life {
 protected:
  capturing() {
    running.running = true;
    standin::on_entry([this](std::string_view function) {
      if (function.find("Get") == std::string_view::npos) {
        fake_driver::touch();  // it may allocate
      }
      if (function == "cuptiActivityFlushAll" && --flushes_to_the_end == 0) {
        standin::finish_running();
      }
    });
  }
  ~capturing() override {
    standin::on_entry(nullptr);
    fake_driver::capture(false);
  }
  void expect_end_of(const standin::done& work, const varve::trace& t) {
    EXPECT_EQ(waits, 0);
    EXPECT_FALSE(fake_driver::capture_broken());
    EXPECT_THAT(cupti_in(t).detail, testing::Not(HasSubstr("waited for")));
    const auto rows = work_of(t, work);
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_GT(t.activities.end[rows[0]], t.activities.begin[rows[0]]);
  }

  standin::work running;
  std::atomic<int> flushes_to_the_end{1 << 20};
};

TEST_F(capturing, is_nothing_to_a_stop_that_waits_for_records_instead) {
  varve::session session{on_standin()};
  const standin::stream s = standin::create_stream();
  const standin::done work = launch(standin::create_stream(), running);
  standin::begin_capture(s);
  fake_driver::capture(true, false);
  launch(s);
  flushes_to_the_end = 3;
  expect_end_of(work, session.stop());
  standin::end_capture(s);
}

TEST_F(capturing, that_began_before_the_session_is_known_by_its_calls) {
  const standin::stream s = standin::create_stream();
  standin::begin_capture(s);
  fake_driver::capture(true, false);
  varve::session session{on_standin()};
  const standin::done work = launch(standin::create_stream(), running);
  launch(s);
  flushes_to_the_end = 3;
  expect_end_of(work, session.stop());
  standin::end_capture(s);
}

TEST_F(capturing, that_began_before_a_short_session_is_known_by_its_next_call) {
  const standin::stream s = standin::create_stream();
  standin::begin_capture(s);
  fake_driver::capture(true, false);
  varve::session session{on_standin()};
  const standin::done work = launch(standin::create_stream(), running);
  flushes_to_the_end = 3;
  std::atomic<bool> stopped{false};
  std::thread engine{[&] {
    while (!stopped) {
      standin::launch(s, "captured");
      std::this_thread::yield();
    }
  }};
  const varve::trace t = session.stop();
  stopped = true;
  engine.join();
  expect_end_of(work, t);
  standin::end_capture(s);
}

TEST_F(capturing, that_began_before_arming_and_went_with_its_stream_is_nothing_to_the_next_session) {
  const standin::stream s = standin::create_stream();
  standin::begin_capture(s);
  ASSERT_TRUE(varve::arm());
  for (const int expected : {0, 1}) {
    varve::session session{on_standin()};
    launch(expected == 0 ? s : standin::stream{});
    if (expected == 0) {
      standin::destroy_stream(s);
    }
    static_cast<void>(session.stop());
    EXPECT_EQ(waits, expected);
  }
}

TEST_F(capturing, of_a_blocking_stream_that_began_before_the_session_the_driver_tells_of) {
  standin::initialise();
  fake_driver::capture(true);
  varve::session session{on_standin()};
  const standin::done work = launch(standin::create_stream(), running);
  flushes_to_the_end = 3;
  expect_end_of(work, session.stop());
}

TEST_F(capturing, that_began_before_the_session_and_ended_in_it_is_nothing_to_a_stop) {
  const standin::stream s = standin::create_stream();
  standin::begin_capture(s);
  varve::session session{on_standin()};
  launch(s);
  standin::end_capture(s);
  static_cast<void>(session.stop());
  EXPECT_EQ(waits, 1);
}

// Longer than others have seen a work's buffer held back: 2500 flushes a millisecond apart.
TEST_F(capturing, leaves_work_of_seconds_its_end) {
  varve::session session{on_standin()};
  const standin::stream s = standin::create_stream();
  const standin::done work = launch(standin::create_stream(), running);
  standin::begin_capture(s);
  fake_driver::capture(true, false);
  flushes_to_the_end = 2500;
  expect_end_of(work, session.stop());
  standin::end_capture(s);
}

TEST_F(capturing, leaves_work_its_end_whose_record_is_written_when_it_is_done) {
  standin::change([](standin::config& c) { c.order = standin::record_order::at_flush; });
  varve::session session{on_standin()};
  const standin::stream s = standin::create_stream();
  const standin::done work = launch(standin::create_stream(), running);
  standin::begin_capture(s);
  fake_driver::capture(true, false);
  flushes_to_the_end = 3;
  expect_end_of(work, session.stop());
  standin::end_capture(s);
}

// The patience with the first session's stop is told by the flushes that it makes, one a millisecond or so.
TEST_F(capturing, costs_patience_once_where_flushes_withhold_buffers_of_work_that_is_done) {
  standin::change([](standin::config& c) { c.flush_withholds = true; });
  const standin::stream s = standin::create_stream();
  std::size_t flushes[2] = {};
  for (std::size_t& of_stop : flushes) {
    varve::session session{on_standin()};
    const standin::done work = launch(standin::create_stream());
    standin::begin_capture(s);
    fake_driver::capture(true, false);
    flushes_to_the_end = 1 << 20;
    expect_end_of(work, session.stop());
    of_stop = static_cast<std::size_t>((1 << 20) - flushes_to_the_end);
    standin::end_capture(s);
    fake_driver::capture(false);
  }
  EXPECT_LT(10 * flushes[1], flushes[0]);  // 50 ms and 10 s
}

TEST_F(capturing, is_nothing_to_arming_and_disarming) {
  standin::initialise();
  fake_driver::capture(true, false);
  ASSERT_TRUE(varve::arm());
  varve::disarm();
  ASSERT_TRUE(varve::arm_devices());
  varve::disarm();
  EXPECT_FALSE(fake_driver::capture_broken());
}

TEST_F(capturing, ends_the_patience_with_work_that_goes_on) {
  varve::session session{on_standin()};
  const standin::stream s = standin::create_stream();
  const standin::done work = launch(standin::create_stream(), running);
  standin::begin_capture(s);
  fake_driver::capture(true, false);
  const varve::trace t = session.stop();
  EXPECT_EQ(waits, 0);
  EXPECT_FALSE(fake_driver::capture_broken());
  EXPECT_THAT(work_of(t, work), SizeIs(1));
  EXPECT_THAT(cupti_in(t).detail, HasSubstr("work still ran when its records had been waited for"));
  standin::end_capture(s);
}

TEST_F(life, waits_again_once_a_capture_has_ended_in_whatever_way) {
  const auto fails_with = [](int code) {
    standin::call how;
    how.result = code;
    return how;
  };
  const std::function<void(standin::stream)> ends[] = {
      [&](standin::stream s) { standin::end_capture(s, fails_with(901)); },  // it was invalid
      [&](standin::stream s) { standin::end_capture(s, fails_with(719)); },  // a kernel failed meanwhile
      standin::destroy_stream};
  varve::arm();  // of captures in contexts that are made from now on all sessions know
  for (const auto& end : ends) {
    varve::session session{on_standin()};
    const standin::stream s = standin::create_stream();
    waits = 0;
    standin::begin_capture(s);
    standin::begin_capture(standin::create_stream(), fails_with(401));  // which has not begun
    standin::end_capture(s, fails_with(908));                           // of another thread: captures on
    end(s);
    static_cast<void>(session.stop());
    EXPECT_EQ(waits, 1);
  }
}

struct refusal {
  const char* name;
  const char* function;
  result code;
  const char* says;
  const char* step;
};

class refused : public life, public testing::WithParamInterface<refusal> {};

INSTANTIATE_TEST_SUITE_P(
    of, refused,
    testing::Values(refusal{"another_subscriber", "cuptiSubscribe",
                            result::multiple_subscribers_not_supported,
                            "CUPTI error 39: another profiler holds CUPTI", "run without it"},
                    refusal{"an_old_driver", "cuptiSubscribe", result::not_initialized,
                            "CUPTI error 15: CUPTI could not initialise", "update the driver"},
                    refusal{"no_permission", "cuptiActivityEnable", result::insufficient_privileges,
                            "CUPTI error 35: this user may not use", "NVreg_RestrictProfilingToAdminUsers=0"},
                    refusal{"no_gpu", "", result::unknown,
                            "CUPTI error 999: most often there is no NVIDIA driver", "check nvidia-smi"}),
    [](const auto& of) { return std::string{of.param.name}; });

TEST_P(refused, sessions_run_on_with_markers_and_say_why_and_what_to_do) {
  const refusal& p = GetParam();
  if (p.function[0] != '\0') {
    standin::fail({p.function, p.code});
  } else {
    standin::change([](standin::config& c) { c.driver = false; });
  }
  std::vector<std::string> said;
  varve::session_options options = on_standin();
  options.log = [&](varve::log_level, std::string_view text) { said.emplace_back(text); };
  varve::session session{options};
  EXPECT_TRUE(session);
  EXPECT_EQ(cupti_in(session.status()).state, varve::collector_state::unavailable);
  EXPECT_THAT(cupti_in(session.status()).detail, AllOf(HasSubstr(p.says), HasSubstr(p.step)));
  EXPECT_THAT(said, testing::Contains(AllOf(HasSubstr("no records of GPUs"), HasSubstr(p.says))));
  // It leaves nothing behind that costs.
  EXPECT_FALSE(standin::subscribed());
  EXPECT_THAT(standin::enabled_kinds(), IsEmpty());
  launch(standin::create_stream());
  const varve::trace t = session.stop();
  EXPECT_EQ(t.ranges.size(), 2U);
  EXPECT_EQ(t.activities.size(), 0U);
  const varve::report report = varve::analyze(t);
  EXPECT_THAT(cupti_in(report.quality).detail, HasSubstr(p.says));
  ASSERT_NE(report.find({"attention", 0, VARVE_DECODE}), nullptr);
  EXPECT_GT(report.find({"attention", 0, VARVE_DECODE})->inclusive.host_time, 0);
  EXPECT_EQ(waits, 0);
  // And the next one starts where the cause has gone.
  standin::clear_faults();
  standin::change([](standin::config& c) { c.driver = true; });
  varve::session next{on_standin()};
  EXPECT_EQ(cupti_in(next.status()).state, varve::collector_state::running);
}

// Of CUDA 13.0 without Update 1: graphs crash where CUPTI has its buffers on the device, switching kernel
// records off may hang.
TEST_F(life, avoids_what_is_known_of_cuda_13_0_and_names_the_rest) {
  if (!first_in_process()) {
    GTEST_SKIP() << "needs a process of its own";
  }
  constexpr std::uint64_t kernels = 10;     // record_kind::concurrent_kernel
  constexpr std::uint64_t host_pinned = 8;  // attribute
  standin::config c = varve_test::standin_config();
  c.version = standin::cupti::cuda_13_0;
  standin::reset(c);
  const standin::stream s = standin::create_stream();
  for (int round = 0; round < 2; ++round) {
    const std::size_t before = standin::calls().size();
    varve::session session{on_standin()};
    const standin::done work = launch(s);
    const varve::trace t = session.stop();
    EXPECT_EQ(t.activities.size(), 1U);
    EXPECT_THAT(work_of(t, work), SizeIs(1));
    EXPECT_THAT(t.losses, IsEmpty());
    EXPECT_FALSE(standin::subscribed());
    EXPECT_THAT(standin::enabled_kinds(), testing::ElementsAre(record_kind::concurrent_kernel));
    bool pinned = false;
    const std::vector<standin::call_entry> calls = standin::calls();
    for (std::size_t i = before; i < calls.size(); ++i) {
      if (calls[i].function == "cuptiActivitySetAttribute") {
        pinned = calls[i].arguments[0] == host_pinned && calls[i].result == result::success;
      } else if (calls[i].function == "cuptiActivityEnable") {
        EXPECT_TRUE(pinned) << "before the records";
      } else if (calls[i].function == "cuptiActivityDisable") {
        EXPECT_NE(calls[i].arguments[0], kernels);
      }
    }
    EXPECT_TRUE(pinned);
    std::uint8_t value = 0;
    std::size_t size = sizeof value;
    EXPECT_EQ(
        cuptiActivityGetAttribute(standin::cupti::attribute::mem_allocation_type_host_pinned, &size, &value),
        result::success);
    EXPECT_EQ(value, 1);
    EXPECT_THAT(cupti_in(t).detail,
                AllOf(HasSubstr("graphs"), HasSubstr("kernel records stay on after a session"),
                      HasSubstr("NVTX"), HasSubstr("Update 1")));
    launch(s);  // of no session
  }
  varve::arm_devices();
  varve::disarm();
  EXPECT_THAT(standin::enabled_kinds(), testing::ElementsAre(record_kind::concurrent_kernel));
}

TEST_F(life, says_where_a_defect_of_cuda_13_0_cannot_be_avoided) {
  if (!first_in_process()) {
    GTEST_SKIP() << "needs a process of its own";
  }
  standin::config c = varve_test::standin_config();
  c.version = standin::cupti::cuda_13_0;
  standin::reset(c);
  standin::fail({"cuptiActivitySetAttribute", result::not_supported});
  const varve::session session{on_standin()};
  EXPECT_EQ(cupti_in(session.status()).state, varve::collector_state::running);
  EXPECT_THAT(cupti_in(session.status()).detail, HasSubstr("graphs may crash"));
}

/// A session on another copy of CUPTI, under a path of its own.
varve::collector_status status_on_the_other() {
  varve::session_options options;
  options.gpu.cupti_library = VARVE_OTHER_STANDIN;
  const varve::session session{options};
  return cupti_in(session.status());
}

// What is loaded stays: each has a process of its own.
using library_choice_DeathTest = life;

TEST_F(library_choice_DeathTest, takes_another_library_that_is_named_after_one_that_would_not_begin) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto check = [] {
    standin::fail({"cuptiSubscribe", result::not_initialized});
    { const varve::session refused{on_standin()}; }
    const varve::collector_status other = status_on_the_other();
    EXPECT_EQ(other.state, varve::collector_state::running);
    EXPECT_THAT(other.detail, HasSubstr(VARVE_OTHER_STANDIN));
    return !HasFailure();
  };
  EXPECT_EXIT(std::_Exit(check() ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST_F(library_choice_DeathTest, refuses_another_library_than_that_which_was_in_use_and_says_so) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto check = [](bool armed) {
    if (armed) {
      varve::arm();
    } else {
      const varve::session used{on_standin()};
    }
    const varve::collector_status other = status_on_the_other();
    EXPECT_EQ(other.state, varve::collector_state::unavailable);
    EXPECT_THAT(other.detail, AllOf(HasSubstr(VARVE_OTHER_STANDIN), HasSubstr(standin_path()),
                                    HasSubstr("start the process anew")));
    if (armed) {
      varve::arm_devices();  // goes on with the one in use
      EXPECT_TRUE(standin::subscribed());
      EXPECT_THAT(standin::enabled_kinds(), testing::Contains(record_kind::concurrent_kernel));
    }
    // By its name, its path or none.
    for (const std::string& path :
         {std::string{varve_test::standin_library}, standin_path(), std::string{}}) {
      varve::session_options options;
      options.gpu.cupti_library = path;
      const varve::session session{options};
      EXPECT_EQ(cupti_in(session.status()).state, varve::collector_state::running) << path;
    }
    return !HasFailure();
  };
  EXPECT_EXIT(std::_Exit(check(false) ? 0 : 1), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(check(true) ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST_F(life, throws_records_away_while_devices_are_armed) {
  const standin::stream s = standin::create_stream();
  varve::arm_devices();
  EXPECT_THAT(standin::enabled_kinds(), testing::Contains(record_kind::concurrent_kernel));
  standin::change([](standin::config& c) { c.records_per_buffer = 5; });
  for (int i = 0; i < 2000; ++i) {
    launch(s);
  }
  standin::deliver();
  for (int i = 0; i < 3; ++i) {
    launch(s);  // of these no buffer has come back
  }
  const std::size_t enabled = standin::call_count("cuptiActivityEnable");
  standin::change([](standin::config& c) { c.records_per_buffer = 0; });
  varve::session session{on_standin()};
  EXPECT_EQ(standin::call_count("cuptiActivityEnable"), enabled);  // they are on already
  const standin::done first = launch(s);
  const standin::done second = launch(s);
  const varve::trace t = session.stop();
  EXPECT_EQ(t.activities.size(), 2U);
  EXPECT_THAT(work_of(t, first), SizeIs(1));
  EXPECT_THAT(work_of(t, second), SizeIs(1));
  EXPECT_THAT(cupti_in(t).detail, HasSubstr("kernels 2,"));
  EXPECT_THAT(t.losses, IsEmpty());
  // They stay on for the next.
  EXPECT_THAT(standin::enabled_kinds(), testing::Contains(record_kind::concurrent_kernel));
  launch(s);
  varve::session next{on_standin()};
  EXPECT_EQ(next.stop().activities.size(), 0U);
  varve::disarm();
  EXPECT_THAT(standin::enabled_kinds(), IsEmpty());
  EXPECT_FALSE(standin::subscribed());
}

TEST_F(life, watches_only_what_graphs_need_while_armed) {
  using standin::cupti::callback_domain;
  varve::arm();
  EXPECT_THAT(standin::enabled_kinds(), IsEmpty());
  const std::size_t armed = standin::enabled_callbacks(callback_domain::runtime_api).size();
  {
    varve::session session{on_standin()};
    EXPECT_GT(standin::enabled_callbacks(callback_domain::runtime_api).size(), armed + 20);
    static_cast<void>(session.stop());
  }
  EXPECT_EQ(standin::enabled_callbacks(callback_domain::runtime_api).size(), armed);
  EXPECT_TRUE(standin::subscribed());
}

TEST_F(life, ends_arming_in_a_session_with_the_session) {
  varve::arm_devices();
  varve::session session{on_standin()};
  varve::disarm();
  EXPECT_TRUE(standin::subscribed());
  const standin::done work = launch(standin::create_stream());
  EXPECT_THAT(work_of(session.stop(), work), SizeIs(1));
  EXPECT_FALSE(standin::subscribed());
  EXPECT_THAT(standin::enabled_kinds(), IsEmpty());
}

/// The device clock is set while a session records: how far, at once.
class device_clock : public life, public testing::WithParamInterface<std::int64_t> {
 protected:
  ~device_clock() override { standin::use_clock(nullptr); }
};

INSTANTIATE_TEST_SUITE_P(of, device_clock, testing::Values(5'000'000'000, -5'000'000'000),
                         [](const auto& of) { return std::string{of.param > 0 ? "forwards" : "backwards"}; });

TEST_P(device_clock, steps_are_counted_and_break_no_order) {
  static std::atomic<std::int64_t> offset;
  offset = 0;
  standin::use_clock([] {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec * 1'000'000'000 + now.tv_nsec + offset);
  });
  const standin::stream s = standin::create_stream();
  const auto start = std::chrono::steady_clock::now();
  varve::session session{on_standin()};
  const standin::done before = launch(s);
  standin::synchronize(s);
  EXPECT_THAT(varve_test::lost(session.snapshot(), "steps of the system's clock"), 0U);
  offset = GetParam();
  EXPECT_THAT(varve_test::lost(session.snapshot(), "steps of the system's clock"), 1U);
  const standin::done after = launch(standin::create_stream());
  const varve::trace t = session.stop();
  EXPECT_EQ(varve_test::lost(t, "steps of the system's clock"), 1U);
  EXPECT_LE(t.begin, t.end);
  for (const varve::range& r : t.ranges) {
    EXPECT_LE(r.begin, r.end);
  }
  // The stand-in starts work 2000 ns after it has entered the call, which is before it calls back.
  for (const standin::done& launched : {before, after}) {
    const auto rows = work_of(t, launched);
    ASSERT_THAT(rows, SizeIs(1));
    const auto call =
        std::find(t.calls.correlation.begin(), t.calls.correlation.end(), launched.outer_correlation);
    const auto row = static_cast<std::size_t>(call - t.calls.correlation.begin());
    EXPECT_GE(t.calls.begin[row] + t.clock_error, t.activities.begin[rows[0]] - 2000);
    EXPECT_LE(t.calls.begin[row], t.calls.end[row]);
    // It lasts 1000 ns, and its call is in the session's window.
    EXPECT_LE(t.begin, t.activities.begin[rows[0]] + t.clock_error);
    EXPECT_LE(t.activities.end[rows[0]], t.end + 3000 + t.clock_error);
  }
  // Seconds that never were are in none of its times.
  const auto lasted =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start);
  EXPECT_LE(t.end - t.begin, lasted.count() + t.clock_error);
  EXPECT_EQ(varve::analyze(t).quality.clock_error, t.clock_error);
  EXPECT_GT(t.clock_error, 0);
}

using process_with_a_session_DeathTest = life;

/// Each in a process of its own, that hangs or crashes or does not.
void launch_something() {
  const varve::phase pass{varve::decode};
  const varve::layer layer{"attention", 0};
  standin::launch({}, "gemm");
}

void record_something(const varve::session& session) {
  if (cupti_in(session.status()).state != varve::collector_state::running) {
    std::_Exit(70);
  }
  launch_something();
}

TEST_F(process_with_a_session_DeathTest, ends) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static varve::session global{on_standin()};
        record_something(global);
        std::exit(3);
      },
      testing::ExitedWithCode(3), "");
  EXPECT_EXIT(
      {
        static auto* const leaked = new varve::session{on_standin()};
        record_something(*leaked);
        std::exit(3);
      },
      testing::ExitedWithCode(3), "");
  EXPECT_EXIT(
      {
        static varve::session global{on_standin()};
        record_something(global);
        const varve::layer open{"open"};
        std::thread{[] { std::exit(3); }}.join();
      },
      testing::ExitedWithCode(3), "");
  EXPECT_EXIT(
      {
        varve::arm_devices();
        static varve::session global{on_standin()};
        record_something(global);
        std::quick_exit(3);
      },
      testing::ExitedWithCode(3), "");
  EXPECT_EXIT(
      {
        static varve::session global{on_standin()};
        record_something(global);
        std::abort();
      },
      testing::KilledBySignal(SIGABRT), "");
}

// What libcupti has for the end of the process was registered before ours, so it runs behind it.
std::atomic<bool> flushing{false};
std::atomic<bool> exiting{false};
varve::session* stopped_late = nullptr;

/// Exits while another thread flushes, with 3 where libcupti ends after that, with 4 where before.
void exit_during(void (*flush)()) {
  std::atexit([] { exiting = true; });
  standin::on_entry([](std::string_view function) {
    if (function == "cuptiActivityFlushAll") {
      flushing = true;
      while (!exiting) {
        std::this_thread::yield();
      }
      for (int i = 0; i < 300; ++i) {  // and it takes longer than whoever would not wait
        std::this_thread::yield();
      }
      flushing = false;
    }
  });
  std::thread{flush}.detach();
  while (!flushing) {
    std::this_thread::yield();
  }
  std::exit(5);
}

TEST_F(process_with_a_session_DeathTest, ends_when_nobody_is_in_cupti_any_more) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::atexit([] { std::_Exit(flushing ? 4 : 3); });
        stopped_late = new varve::session{on_standin()};
        exit_during([] { static_cast<void>(stopped_late->snapshot()); });
      },
      testing::ExitedWithCode(3), "");
  EXPECT_EXIT(
      {
        std::atexit([] { std::_Exit(flushing ? 4 : 3); });
        varve::arm_devices();
        exit_during([] { varve::disarm(); });
      },
      testing::ExitedWithCode(3), "");
}

/// Ends the process where libcupti has ended: 4 where it is called after that, 5 where records are missing.
void stop_after_cupti() {
  const std::size_t calls = standin::calls().size();
  const varve::trace t = stopped_late->stop();
  varve::disarm();
  { const varve::session another{on_standin()}; }
  varve::arm();
  std::_Exit(standin::calls().size() != calls ? 4 : t.activities.size() != 1 ? 5 : 3);
}

TEST_F(process_with_a_session_DeathTest, has_its_records_when_the_session_stops_after_cupti_has_ended) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const bool armed : {false, true}) {
    EXPECT_EXIT(
        {
          std::atexit(stop_after_cupti);
          if (armed) {
            varve::arm_devices();
          }
          stopped_late = new varve::session{on_standin()};
          record_something(*stopped_late);
          std::exit(6);
        },
        testing::ExitedWithCode(3), "")
        << armed;
  }
}

/// 5 where what ran at the exit has no end, since CUDA had ended when it was waited for.
void stop_after_cuda() {
  const varve::trace t = stopped_late->stop();
  std::_Exit(t.activities.size() == 1 && t.activities.end[0] > t.activities.begin[0] ? 3 : 5);
}

// CUDA's initialisation registers exit functions, which run before what was registered earlier.
TEST_F(process_with_a_session_DeathTest, waits_for_the_gpu_before_cuda_ends_though_it_was_initialised_later) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const bool armed : {false, true}) {
    for (const bool with_contexts : {false, true}) {
      EXPECT_EXIT(
          {
            std::atexit(stop_after_cuda);
            if (armed) {
              varve::arm();
            }
            stopped_late = new varve::session{on_standin()};
            const auto register_end = [] { std::atexit(fake_driver::end); };
            if (!with_contexts) {
              register_end();
            }
            standin::initialise(1, with_contexts ? std::function<void()>{register_end} : nullptr);
            standin::work running;
            running.running = true;
            launch({}, running);
            std::exit(6);
          },
          testing::ExitedWithCode(3), "")
          << armed << with_contexts;
    }
  }
}

TEST_F(process_with_a_session_DeathTest, ends_while_threads_launch) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static varve::session global{on_standin()};
        for (int i = 0; i < 4; ++i) {
          std::thread{[] {
            for (;;) {
              launch_something();
            }
          }}.detach();
        }
        for (int i = 0; i < 100; ++i) {
          record_something(global);
        }
        std::exit(3);
      },
      testing::ExitedWithCode(3), "");
}

}  // namespace

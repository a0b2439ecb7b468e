// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Sessions that count, from outside, over the stand-ins for CUPTI and the CUDA driver.
#include "standin_cupti/counters.hpp"
#include "cuda/fake_driver.hpp"

#include <varve/varve.hpp>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using standin::do_work;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using varve::count_kind;
using varve::math_pipe;

int context_storage = 0;
int other_storage = 0;

/// What was counted in the ranges of a path: each value, in order.
std::vector<std::int64_t> counts_of(const varve::trace& t, const std::string& path, count_kind what,
                                    math_pipe pipe = math_pipe::unknown) {
  std::vector<std::int64_t> out;
  for (const varve::range_count& c : t.counts) {
    if (c.what == what && c.pipe == pipe && varve::label_text(t, t.ranges[c.range].label) == path) {
      out.push_back(c.value);
    }
  }
  return out;
}

std::uint64_t lost(const varve::trace& t, const std::string& what) {
  std::uint64_t count = 0;
  for (const varve::loss& l : t.losses) {
    count += l.what.find(what) != std::string::npos ? l.count : 0;
  }
  return count;
}

varve::collector_status status_in(const std::vector<varve::collector_status>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const varve::collector_status& c) { return c.name == name; });
  return found != all.end() ? *found : varve::collector_status{};
}

class counters : public testing::Test {
 protected:
  counters() {
    standin::reset();
    fake_driver::capture(false);
    fake_driver::set_current(&context_storage);
    // CUPTI allocates and submits for its profilers, which is not allowed beside a capture.
    standin::on_entry([this](std::string_view function) {
      if (function.find("Profiler") != std::string_view::npos) {
        fake_driver::touch();
        ++asked;
      }
    });
    fake_driver::on_synchronize([this](void* c) { waited += c == &context_storage ? 1 : 0; });
    options.gpu.cupti_library = standin_path();
    options.counters.enabled = true;
    options.counters.operations = false;
  }
  ~counters() override {
    EXPECT_THAT(standin::misuses(), IsEmpty());
    EXPECT_FALSE(standin::profiler_enabled());
    EXPECT_FALSE(standin::subscribed());
    standin::on_entry({});
    fake_driver::on_synchronize({});
    fake_driver::set_current(nullptr);
  }
  static std::string standin_path() {
    Dl_info about{};
    return ::dladdr(reinterpret_cast<void*>(&standin::calls), &about) != 0 ? about.dli_fname : "";
  }
  /// A decode pass with two blocks of an attention and an MLP.
  static void pass() {
    const varve::phase decode{varve::decode};
    for (int i = 0; i < 2; ++i) {
      const varve::layer block{"block", i};
      {
        const varve::layer attention{"attention"};
        do_work("dram__bytes_read", 1000 * (i + 1));
        do_work("dram__bytes_write", 10);
      }
      const varve::layer mlp{"mlp"};
      do_work("dram__bytes_read", 200);
    }
    do_work("dram__bytes_read", 5);  // in no layer
  }

  /// A graph is captured, which CUPTI tells of.
  static void capture(bool under_way) {
    static standin::stream on;
    if (under_way) {
      on = standin::create_stream();
      standin::begin_capture(on);
    }
    fake_driver::capture(under_way);
    if (!under_way) {
      standin::end_capture(on);
    }
  }

  varve::session_options options;
  int waited = 0;
  int asked = 0;  ///< calls of CUPTI's profilers
};

TEST_F(counters, count_the_outermost_layers_of_a_pass) {
  varve::session session{options};
  pass();
  pass();
  const varve::trace t = session.stop();
  EXPECT_THAT(counts_of(t, "decode / block 0", count_kind::dram_read), ElementsAre(1200, 1200));
  EXPECT_THAT(counts_of(t, "decode / block 1", count_kind::dram_read), ElementsAre(2200, 2200));
  EXPECT_THAT(counts_of(t, "decode / block 1", count_kind::dram_written), ElementsAre(10, 10));
  EXPECT_THAT(t.counts, SizeIs(8));  // two passes of two blocks, bytes read and written
  EXPECT_THAT(t.losses, IsEmpty());
  const varve::collector_status status = status_in(t.collectors, "counters");
  EXPECT_EQ(status.state, varve::collector_state::stopped);
  EXPECT_THAT(status.detail, HasSubstr("4 ranges counted in 2 passes on a GH100"));
  EXPECT_EQ(status_in(t.collectors, "cupti").name, "");  // such a session times nothing
  // Where each of two passes and of its two ranges begins and ends, and at the stop.
  EXPECT_EQ(waited, 2 * (2 + 2 * 2) + 1);
}

// A pass and its counts are in one trace, whenever that is taken.
TEST_F(counters, go_with_their_passes_into_traces_that_are_taken) {
  varve::session session{options};
  std::atomic<bool> done{false};
  std::atomic<std::size_t> passes{0};
  const auto add = [&](const varve::trace& t) {
    const auto is_pass = [](const varve::range& r) { return r.kind == varve::range_kind::phase; };
    const auto of_this = std::count_if(t.ranges.begin(), t.ranges.end(), is_pass);
    EXPECT_EQ(counts_of(t, "decode / block 0", count_kind::dram_read).size(),
              static_cast<std::size_t>(of_this));
    EXPECT_THAT(t.losses, IsEmpty());
    passes += static_cast<std::size_t>(of_this);
  };
  std::thread taker{[&] {
    while (!done) {
      add(session.take());
    }
  }};
  std::size_t made = 0;
  for (; made < 300 || (passes == 0 && made < 100'000); ++made) {
    pass();
  }
  done = true;
  taker.join();
  EXPECT_GT(passes, 0U);  // before the stop
  add(session.stop());
  EXPECT_EQ(passes, made);
}

TEST_F(counters, count_ranges_of_the_depth_that_is_asked_for) {
  options.counters.depth = 2;
  {
    varve::session session{options};
    pass();
    const varve::trace t = session.stop();
    EXPECT_THAT(counts_of(t, "decode / block 1 / attention", count_kind::dram_read), ElementsAre(2000));
    EXPECT_THAT(counts_of(t, "decode / block 1 / mlp", count_kind::dram_read), ElementsAre(200));
    EXPECT_THAT(t.counts, SizeIs(8));
  }
  options.counters.depth = 0;
  varve::session session{options};
  pass();
  const varve::trace t = session.stop();
  EXPECT_THAT(counts_of(t, "decode", count_kind::dram_read), ElementsAre(1000 + 2000 + 2 * 200 + 5));
  EXPECT_THAT(t.counts, SizeIs(2));
}

TEST_F(counters, count_ranges_of_the_names_that_are_asked_for) {
  options.counters.labels = {"mlp", "block"};  // an MLP lies in a block: that is outermost
  varve::session session{options};
  pass();
  {
    const varve::phase decode{varve::decode};
    const varve::layer mlp{"mlp"};
    do_work("dram__bytes_read", 7);
  }
  const varve::trace t = session.stop();
  EXPECT_THAT(counts_of(t, "decode / block 0", count_kind::dram_read), ElementsAre(1200));
  EXPECT_THAT(counts_of(t, "decode / mlp", count_kind::dram_read), ElementsAre(7));
  EXPECT_THAT(t.counts, SizeIs(6));
}

TEST_F(counters, follow_sequences_and_handles) {
  varve::session session{options};
  {
    const varve::phase decode{varve::decode};
    varve::sequence step{"attention", 0};
    do_work("dram__bytes_read", 1);
    step.next("mlp", 0);
    do_work("dram__bytes_read", 2);
  }
  const varve::trace t = session.stop();
  EXPECT_THAT(counts_of(t, "decode / attention 0", count_kind::dram_read), ElementsAre(1));
  EXPECT_THAT(counts_of(t, "decode / mlp 0", count_kind::dram_read), ElementsAre(2));
}

TEST_F(counters, take_turns_where_one_pass_cannot_count_all) {
  options.counters.operations = true;
  varve::session session{options};
  const auto run = [](varve::phase_kind kind) {
    const varve::phase step{kind};
    const varve::layer mlp{"mlp"};
    do_work("dram__bytes_read", 100);
    do_work("sm__ops_path_tensor_src_bf16_dst_fp32", 64);
    do_work("sm__ops_path_tensor_op_hgmma_src_fp16", 32);
    do_work("sm__ops_path_tensor_op_hmma_src_fp16", 16);
    do_work("smsp__sass_thread_inst_executed_op_fadd_pred_on", 3);
    do_work("smsp__sass_thread_inst_executed_op_fmul_pred_on", 4);
    do_work("smsp__sass_thread_inst_executed_op_ffma_pred_on", 5);
  };
  // BF16, two parts of FP16 and what threads execute: four turns. Kinds of passes take them apart, so that
  // none of them meets the same turn again and again.
  for (int i = 0; i < 4; ++i) {
    run(varve::decode);
    run(varve::prefill);
  }
  const varve::trace t = session.stop();
  for (const std::string path : {"decode / mlp", "prefill / mlp"}) {
    EXPECT_THAT(counts_of(t, path, count_kind::dram_read), ElementsAre(100, 100, 100)) << path;
    EXPECT_THAT(counts_of(t, path, count_kind::operations, math_pipe::bf16_tensor), ElementsAre(64)) << path;
    EXPECT_THAT(counts_of(t, path, count_kind::operations, math_pipe::fp16_tensor),
                testing::UnorderedElementsAre(32, 16))
        << path;
    EXPECT_THAT(counts_of(t, path, count_kind::operations, math_pipe::fp32), ElementsAre(3 + 4 + 2 * 5))
        << path;
  }
  std::vector<int> parts;
  for (const varve::range_count& c : t.counts) {
    if (c.pipe == math_pipe::fp16_tensor) {
      parts.push_back(c.part);
    }
  }
  EXPECT_THAT(parts, testing::UnorderedElementsAre(0, 0, 1, 1));
  EXPECT_THAT(t.losses, IsEmpty());
  EXPECT_THAT(status_in(t.collectors, "counters").detail, HasSubstr("take turns at 4 sets of metrics"));
}

TEST_F(counters, say_what_was_not_counted_for_lack_of_passes) {
  options.counters.operations = true;
  varve::session session{options};
  pass();
  const varve::trace t = session.stop();
  // In the first turn DRAM bytes and BF16: two parts of FP16, and FP32, FP16 and FP64 of threads are left.
  EXPECT_EQ(lost(t, "quantities not counted: there were fewer passes than turns to count them in (4)"), 5U);
}

TEST_F(counters, use_the_names_of_the_chip) {
  standin::set_chip("small");
  options.counters.operations = true;
  varve::session session{options};
  for (int i = 0; i < 2; ++i) {
    const varve::phase decode{varve::decode};
    const varve::layer mlp{"mlp"};
    do_work("fbpa__dram_read_bytes", 11);
    do_work("smsp__sass_thread_inst_executed_op_ffma_pred_on", 5);
  }
  const varve::trace t = session.stop();
  EXPECT_THAT(counts_of(t, "decode / mlp", count_kind::dram_read), ElementsAre(11));
  EXPECT_THAT(counts_of(t, "decode / mlp", count_kind::operations, math_pipe::fp32), ElementsAre(10));
}

TEST_F(counters, say_which_chip_is_not_known) {
  standin::set_chip("XX999");
  varve::session session{options};
  pass();
  const varve::trace t = session.stop();
  EXPECT_THAT(t.counts, IsEmpty());
  const varve::collector_status status = status_in(t.collectors, "counters");
  EXPECT_EQ(status.state, varve::collector_state::unavailable);
  EXPECT_THAT(status.detail, AllOf(HasSubstr("XX999"), HasSubstr("newer CUDA")));
}

/// A code that CUPTI returns where it does not let this process count, and what the message must say.
struct refusal {
  standin::cupti::result code;
  const char* says;
};
class refused_counters : public counters, public testing::WithParamInterface<refusal> {};

TEST_P(refused_counters, say_why_and_what_to_do) {
  standin::fail({"cuptiRangeProfilerStart", GetParam().code});  // where CUPTI refuses, as others have seen
  varve::session session{options};
  pass();
  pass();
  const varve::trace t = session.stop();
  EXPECT_THAT(t.counts, IsEmpty());
  const varve::collector_status status = status_in(t.collectors, "counters");
  EXPECT_EQ(status.state, varve::collector_state::unavailable);
  EXPECT_THAT(status.detail, HasSubstr(GetParam().says));
  EXPECT_THAT(standin::turns_started(), IsEmpty());
  EXPECT_EQ(lost(t, "passes not counted: cuptiRangeProfilerStart"), 1U);  // it is not asked again
  EXPECT_EQ(t.ranges.size(), 14U);                                        // recorded all the same
}

INSTANTIATE_TEST_SUITE_P(
    codes, refused_counters,
    testing::Values(
        refusal{standin::cupti::result::insufficient_privileges, "NVreg_RestrictProfilingToAdminUsers=0"},
        refusal{standin::cupti::result::insufficient_privileges, "CAP_SYS_ADMIN"},
        refusal{standin::cupti::result::virtualized_device_not_supported, "vGPU"},
        refusal{standin::cupti::result::virtualized_device_insufficient_privileges, "vGPU"},
        refusal{standin::cupti::result::confidential_computing_not_supported, "confidential-computing"},
        refusal{standin::cupti::result::mig_device_not_supported, "MIG"}));

TEST_F(counters, say_why_there_are_none_without_a_driver) {
  standin::change([](standin::config& c) { c.driver = false; });
  varve::session session{options};
  pass();
  const varve::collector_status status = status_in(session.stop().collectors, "counters");
  EXPECT_EQ(status.state, varve::collector_state::unavailable);
  EXPECT_THAT(status.detail, HasSubstr("nvidia-smi"));
}

TEST_F(counters, say_which_function_an_old_cupti_lacks) {
  options.gpu.cupti_library = VARVE_OTHER_STANDIN;
  varve::session session{options};
  const varve::collector_status status = status_in(session.status().collectors, "counters");
  EXPECT_EQ(status.state, varve::collector_state::unavailable);
  EXPECT_THAT(status.detail, AllOf(HasSubstr("has no cuptiProfilerInitialize"), HasSubstr("12.6")));
  pass();
  EXPECT_THAT(session.stop().counts, IsEmpty());
}

TEST_F(counters, go_on_after_a_pass_that_failed) {
  standin::fail({"cuptiRangeProfilerDecodeData", standin::cupti::result::out_of_memory, 0, 1});
  varve::session session{options};
  pass();
  pass();
  const varve::trace t = session.stop();
  EXPECT_THAT(counts_of(t, "decode / block 0", count_kind::dram_read), ElementsAre(1200));
  EXPECT_EQ(lost(t, "passes not counted: cuptiRangeProfilerDecodeData: CUPTI error 8"), 1U);
}

TEST_F(counters, leave_out_a_pass_that_cupti_wants_again) {
  standin::want_pass_again(true);
  varve::session session{options};
  pass();
  standin::want_pass_again(false);
  pass();
  const varve::trace t = session.stop();
  EXPECT_THAT(counts_of(t, "decode / block 0", count_kind::dram_read), ElementsAre(1200));
  EXPECT_EQ(lost(t, "CUPTI wants this pass again"), 1U);
}

TEST_F(counters, count_no_more_ranges_than_there_is_room_for) {
  options.counters.depth = 2;
  options.counters.ranges = 3;
  varve::session session{options};
  pass();  // has four
  const varve::trace t = session.stop();
  EXPECT_THAT(counts_of(t, "decode / block 1 / attention", count_kind::dram_read), ElementsAre(2000));
  EXPECT_THAT(counts_of(t, "decode / block 1 / mlp", count_kind::dram_read), IsEmpty());
  EXPECT_EQ(lost(t, "more in a pass than counter_options::ranges"), 1U);
}

TEST_F(counters, tell_of_ranges_that_cupti_dropped) {
  standin::drop_ranges(1);
  varve::session session{options};
  pass();
  const varve::trace t = session.stop();
  EXPECT_THAT(t.counts, SizeIs(2));
  EXPECT_EQ(lost(t, "refused or dropped by CUPTI"), 1U);
}

TEST_F(counters, tell_of_ranges_that_cupti_refused) {
  standin::fail({"cuptiRangeProfilerPushRange", standin::cupti::result::out_of_memory, 1, 1});
  varve::session session{options};
  pass();
  const varve::trace t = session.stop();
  EXPECT_THAT(counts_of(t, "decode / block 0", count_kind::dram_read), ElementsAre(1200));
  EXPECT_THAT(counts_of(t, "decode / block 1", count_kind::dram_read), IsEmpty());
  EXPECT_EQ(lost(t, "refused or dropped by CUPTI"), 1U);
}

TEST_F(counters, are_of_one_thread_at_a_time) {
  varve::session session{options};
  {
    const varve::phase decode{varve::decode};
    std::thread other{[] {
      fake_driver::set_current(&context_storage);
      pass();  // seven ranges
      fake_driver::set_current(nullptr);
    }};
    other.join();
    const varve::layer mlp{"mlp"};
    do_work("dram__bytes_read", 9);
  }
  std::thread{[] {
    fake_driver::set_current(&context_storage);
    pass();  // alone now
    fake_driver::set_current(nullptr);
  }}.join();
  const varve::trace t = session.stop();
  EXPECT_THAT(counts_of(t, "decode / mlp", count_kind::dram_read), ElementsAre(9));
  EXPECT_THAT(counts_of(t, "decode / block 0", count_kind::dram_read), ElementsAre(1200));
  EXPECT_EQ(lost(t, "of other threads while a pass was being counted"), 7U);
}

TEST_F(counters, need_a_context_and_keep_to_it) {
  fake_driver::set_current(nullptr);
  varve::session session{options};
  pass();
  EXPECT_THAT(status_in(session.status().collectors, "counters").detail, HasSubstr("waits for a pass"));
  fake_driver::set_current(&context_storage);
  pass();
  fake_driver::set_current(&other_storage);
  pass();
  const varve::trace t = session.stop();
  EXPECT_THAT(t.counts, SizeIs(4));
  EXPECT_EQ(lost(t, "no CUDA context"), 1U);
  EXPECT_EQ(lost(t, "another CUDA context"), 1U);
}

TEST_F(counters, leave_a_pass_out_that_captures_and_do_nothing_meanwhile) {
  varve::session session{options};
  const auto while_capturing = [&](const std::function<void()>& body) {
    capture(true);
    const int before = asked;
    body();
    EXPECT_EQ(asked, before);
    EXPECT_FALSE(fake_driver::capture_broken());
    capture(false);
  };
  while_capturing(pass);  // all of it
  {
    const varve::phase decode{varve::decode};
    while_capturing([] { const varve::layer mlp{"mlp"}; });  // a layer of it
  }
  {
    const varve::phase decode{varve::decode};
    const varve::layer mlp{"mlp"};
    while_capturing([] {});  // between two marks
  }
  {
    varve::handle decode = varve::begin_phase(varve::decode);
    const auto end = [&] { decode.end(); };
    varve::handle mlp = varve::begin_layer("mlp", 0);
    while_capturing([&] {  // from its middle to beyond its end
      mlp.end();
      end();
    });
  }
  EXPECT_EQ(standin::turns_started().size(), 3U);
  pass();
  const varve::trace t = session.stop();
  EXPECT_EQ(lost(t, "a graph was captured"), 4U);
  EXPECT_THAT(counts_of(t, "decode / block 0", count_kind::dram_read), ElementsAre(1200));
  EXPECT_THAT(t.counts, SizeIs(4));
}

TEST_F(counters, ask_nothing_at_a_stop_beside_a_capture_and_count_again_after_it) {
  for (const bool told : {true, false}) {  // else the driver alone tells of it
    {
      varve::session session{options};
      pass();
      told ? capture(true) : fake_driver::capture(true);
      const int before = asked;
      EXPECT_THAT(session.stop().counts, SizeIs(4));
      EXPECT_EQ(asked, before);
      EXPECT_FALSE(fake_driver::capture_broken());
      EXPECT_TRUE(standin::profiler_enabled());
      told ? capture(false) : fake_driver::capture(false);
    }
    varve::session session{options};
    pass();
    EXPECT_THAT(session.stop().counts, SizeIs(4));
    EXPECT_FALSE(standin::profiler_enabled());
  }
}

TEST_F(counters, are_not_enabled_beside_a_capture_that_the_driver_alone_tells_of) {
  varve::session session{options};
  fake_driver::capture(true);
  pass();
  EXPECT_EQ(asked, 0);
  EXPECT_FALSE(fake_driver::capture_broken());
  fake_driver::capture(false);
  pass();
  const varve::trace t = session.stop();
  EXPECT_EQ(lost(t, "a graph was captured"), 1U);
  EXPECT_THAT(t.counts, SizeIs(4));
}

TEST_F(counters, keep_the_turn_of_a_pass_that_was_left_out) {
  options.counters.operations = true;
  varve::session session{options};
  {
    const varve::phase decode{varve::decode};
    capture(true);
    capture(false);
  }
  pass();
  static_cast<void>(session.stop());
  ASSERT_EQ(standin::turns_started().size(), 2U);
  EXPECT_EQ(standin::turns_started()[0], standin::turns_started()[1]);
}

TEST_F(counters, leave_out_passes_that_are_marked_as_captures) {
  varve::session session{options};
  {
    const varve::phase capture{varve::capture};
    const varve::layer mlp{"mlp"};
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(lost(t, "a graph was captured"), 1U);
  EXPECT_EQ(asked, 0);
}

TEST_F(counters, are_nothing_to_captures_in_other_contexts_that_nobody_told_of) {
  standin::change([](standin::config& c) { c.other_subscriber = true; });
  fake_driver::capture_elsewhere(true);
  options.counters.operations = true;
  varve::session session{options};
  pass();
  pass();
  EXPECT_THAT(session.stop().counts, testing::Not(IsEmpty()));
  EXPECT_GT(asked, 20);
  EXPECT_FALSE(fake_driver::capture_broken());
  fake_driver::capture_elsewhere(false);
}

TEST_F(counters, leave_out_passes_that_end_beside_a_capture_that_nobody_told_of) {
  standin::change([](standin::config& c) { c.other_subscriber = true; });
  varve::session session{options};
  {
    const varve::phase decode{varve::decode};
    const varve::layer mlp{"mlp"};
    fake_driver::capture(true);
  }
  EXPECT_FALSE(fake_driver::capture_broken());
  fake_driver::capture(false);
  pass();
  const varve::trace t = session.stop();
  EXPECT_EQ(lost(t, "a graph was captured"), 1U);
  EXPECT_THAT(t.counts, SizeIs(4));
}

TEST_F(counters, leave_arming_to_the_engine) {
  varve::arm();
  {
    varve::session session{options};
    pass();
    static_cast<void>(session.stop());
  }
  EXPECT_TRUE(standin::subscribed());
  {
    varve::session session{options};
    varve::disarm();
    EXPECT_TRUE(standin::subscribed());
    capture(true);
    pass();
    capture(false);
    EXPECT_EQ(lost(session.stop(), "a graph was captured"), 1U);
  }
}

TEST_F(counters, ask_nothing_of_a_pass_without_ranges) {
  options.counters.operations = true;
  varve::session session{options};
  { const varve::phase decode{varve::decode}; }
  EXPECT_EQ(standin::call_count("cuptiRangeProfilerDecodeData"), 0U);
  pass();
  const varve::trace t = session.stop();
  EXPECT_EQ(lost(t, "passes not counted"), 0U);
  ASSERT_EQ(standin::turns_started().size(), 2U);
  EXPECT_EQ(standin::turns_started()[0], standin::turns_started()[1]);
}

TEST_F(counters, enable_the_profiler_anew_where_it_takes_no_other_configuration) {
  options.counters.operations = true;
  standin::fail({"cuptiRangeProfilerSetConfig", standin::cupti::result::invalid_operation, 1, 1});
  varve::session session{options};
  pass();
  pass();
  const varve::trace t = session.stop();
  EXPECT_EQ(lost(t, "passes not counted"), 0U);
  EXPECT_EQ(standin::call_count("cuptiRangeProfilerEnable"), 2U);
  EXPECT_EQ(standin::turns_started().size(), 2U);
  EXPECT_THAT(counts_of(t, "decode / block 0", count_kind::dram_read), ElementsAre(1200, 1200));
}

/// A pass of so many layers.
void long_pass(int layers) {
  const varve::phase decode{varve::decode};
  for (int i = 0; i < layers; ++i) {
    const varve::layer mlp{"mlp", i};
  }
}

TEST_F(counters, count_fewer_ranges_where_cupti_has_no_memory_for_more) {
  options.counters.ranges = 64;
  standin::fail({"cuptiRangeProfilerStart", standin::cupti::result::out_of_memory, 0, 2});
  varve::session session{options};
  long_pass(20);  // room for 64, 32 and then 16
  const varve::trace t = session.stop();
  EXPECT_THAT(t.counts, SizeIs(2 * 16));
  EXPECT_EQ(lost(t, "more in a pass than"), 20U - 16U);
}

TEST_F(counters, ask_for_all_ranges_again_where_fewer_did_not_help) {
  options.counters.ranges = 64;
  // With 64, with 64 of a new object, with 32, and with 16, the fewest.
  standin::fail({"cuptiRangeProfilerSetConfig", standin::cupti::result::invalid_operation, 0, 4});
  varve::session session{options};
  long_pass(40);
  EXPECT_EQ(standin::call_count("cuptiRangeProfilerSetConfig"), 4U);
  long_pass(40);
  const varve::trace t = session.stop();
  EXPECT_EQ(lost(t, "passes not counted: cuptiRangeProfilerSetConfig"), 1U);
  EXPECT_THAT(t.counts, SizeIs(2 * 40));
}

TEST_F(counters, count_what_the_machine_has_of_the_chip) {
  options.counters.operations = true;
  standin::hide_counters("sm__ops_path_tensor_src_bf16");
  {
    varve::session session{options};
    pass();
    // Two parts of FP16, and what threads execute.
    EXPECT_THAT(status_in(session.stop().collectors, "counters").detail, HasSubstr("3 sets of metrics"));
  }
  standin::hide_counters("");
  varve::session session{options};
  pass();
  EXPECT_THAT(status_in(session.stop().collectors, "counters").detail, HasSubstr("4 sets of metrics"));
}

TEST_F(counters, do_without_being_told_what_the_machine_has) {
  options.counters.operations = true;
  standin::hide_counters("dram");  // it tells of operations alone
  for (const auto code : {standin::cupti::result::success, standin::cupti::result::invalid_operation}) {
    standin::fail({"cuptiProfilerGetCounterAvailability", code});
    varve::session session{options};
    pass();
    EXPECT_THAT(counts_of(session.stop(), "decode / block 0", count_kind::dram_read), ElementsAre(1200));
    standin::clear_faults();
  }
}

TEST_F(counters, use_the_library_that_the_environment_names) {
  ASSERT_EQ(::setenv("VARVE_CUPTI_LIBRARY", "/nowhere/libcupti.so", 1), 0);
  options.gpu.cupti_library.clear();
  {
    varve::session session{options};
    EXPECT_THAT(status_in(session.stop().collectors, "counters").detail, HasSubstr("/nowhere/libcupti.so"));
  }
  ASSERT_EQ(::unsetenv("VARVE_CUPTI_LIBRARY"), 0);
}

TEST_F(counters, end_with_the_thread_that_they_were_of) {
  varve::session session{options};
  std::thread{[] {
    fake_driver::set_current(&context_storage);
    varve_phase_begin("decode");  // never closed
    varve_layer_begin("mlp", VARVE_NO_INDEX);
    fake_driver::set_current(nullptr);
  }}.join();
  pass();
  const varve::trace t = session.stop();
  EXPECT_EQ(lost(t, "or their thread ended"), 1U);
  EXPECT_THAT(t.counts, SizeIs(4));
}

TEST_F(counters, stop_in_the_middle_of_a_pass) {
  varve::session session{options};
  const varve::phase decode{varve::decode};
  const varve::layer mlp{"mlp"};
  do_work("dram__bytes_read", 9);
  const varve::trace t = session.stop();
  EXPECT_THAT(t.counts, IsEmpty());
  EXPECT_EQ(lost(t, "under way when the session stopped"), 1U);
  EXPECT_FALSE(standin::profiler_enabled());
}

TEST_F(counters, leave_the_next_session_to_time) {
  {
    varve::session session{options};
    pass();
    static_cast<void>(session.stop());
  }
  options.counters.enabled = false;
  varve::session session{options};
  pass();
  const varve::trace t = session.stop();
  EXPECT_THAT(t.counts, IsEmpty());
  EXPECT_EQ(status_in(t.collectors, "cupti").state, varve::collector_state::stopped);
  EXPECT_EQ(status_in(t.collectors, "counters").name, "");
  EXPECT_EQ(standin::ranges_pushed(), 2U);
}

TEST_F(counters, stand_beside_the_times_of_another_run) {
  varve::report counted;
  {
    varve::session session{options};
    pass();
    counted = varve::analyze(session.stop());
  }
  const varve::row* const block = counted.find({"block", 1});
  ASSERT_NE(block, nullptr);
  ASSERT_TRUE(block->counted);
  EXPECT_EQ(block->counted->dram_read, 2200);
  EXPECT_EQ(block->counted->dram_written, 10);
  EXPECT_EQ(block->counted->tensor_ops, -1);
  options.counters.enabled = false;
  varve::session session{options};
  pass();
  varve::report timed = varve::analyze(session.stop());
  EXPECT_FALSE(timed.find({"block", 1})->counted);
  varve::add_counted(timed, counted);
  ASSERT_TRUE(timed.find({"block", 1})->counted);
  EXPECT_EQ(timed.find({"block", 1})->counted->dram_read, 2200);
  EXPECT_FALSE(timed.find({"mlp"})->counted);
  EXPECT_EQ(status_in(timed.quality.collectors, "counters").name, "counters");
}

}  // namespace

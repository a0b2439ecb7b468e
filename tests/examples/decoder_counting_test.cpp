// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The example engine in a session that counts, over the stand-ins for CUPTI and the CUDA driver, whose GPU
// does nothing in the engine's passes: which passes there are, and what is said of them.
#include "cpu_backend.hpp"
#include "cuda/fake_driver.hpp"
#include "profile.hpp"
#include "standin_cupti/counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

int context_storage = 0;

class decoder_counting : public testing::Test {
 protected:
  decoder_counting() {
    ::setenv("VARVE_CUPTI_LIBRARY", VARVE_STANDIN_CUPTI, 1);
    standin::reset();
    fake_driver::set_current(&context_storage);
  }
  ~decoder_counting() override {
    EXPECT_THAT(standin::misuses(), IsEmpty());
    EXPECT_FALSE(standin::profiler_enabled());
    fake_driver::set_current(nullptr);
  }
  varve::report report_of(decoder::profiled_run run) {
    EXPECT_TRUE(run.trace) << run.refusal;
    return run.trace ? decoder::report_of(std::move(*run.trace), work.model, device->type(), {})
                     : varve::report{};
  }

  std::unique_ptr<decoder::backend> device = decoder::make_cpu_backend();
  decoder::workload work{decoder::preset("tiny"), {{1, 2, 3}, {4}}, 4};
};

std::int64_t passes(const varve::report& r, const std::string& phase) {
  std::int64_t sum = 0;
  for (const varve::phase_row& p : r.phases) {
    sum += p.phase == phase ? p.passes : 0;
  }
  return sum;
}

const varve::row* counted_layer(const varve::report& r, std::string_view phase) {
  const auto found = std::find_if(r.layers.begin(), r.layers.end(), [&](const varve::row& one) {
    return one.path == "layer 1" && one.phase == phase && one.counted;
  });
  return found != r.layers.end() ? &*found : nullptr;
}

// An answer has a prefill pass and three decode passes: four answers make 12 of these, 7 more prefill
// passes 11.
TEST_F(decoder_counting, gives_each_kind_of_pass_all_turns) {
  const varve::report r = report_of(decoder::count(*device, work));
  EXPECT_EQ(passes(r, "prefill"), 11);
  EXPECT_EQ(passes(r, "decode"), 12);
  for (const char* const phase : {"prefill", "decode"}) {
    const varve::row* const layer = counted_layer(r, phase);
    ASSERT_NE(layer, nullptr) << phase;
    EXPECT_TRUE(layer->counted->all_operations) << phase;
  }
  const decoder::counting said = decoder::counting_of(r);
  EXPECT_TRUE(said.any);
  EXPECT_THAT(said.said, ElementsAre(HasSubstr("in 23 passes on a GH100")));
}

TEST_F(decoder_counting, repeats_and_needs_no_decode_passes) {
  work.repeat = 13;
  varve::report r = report_of(decoder::count(*device, work));
  EXPECT_EQ(passes(r, "prefill"), 13);
  EXPECT_EQ(passes(r, "decode"), 39);
  work.repeat = 1;
  work.tokens = 1;
  r = report_of(decoder::count(*device, work));
  EXPECT_EQ(passes(r, "prefill"), 11);
  EXPECT_EQ(passes(r, "decode"), 0);
}

// Counts of other contexts would not be used: decode passes are those of whole answers, four times.
TEST_F(decoder_counting, makes_the_passes_that_were_timed) {
  const varve::report timed = report_of(decoder::profile(*device, work, decoder::launch_mode::eager));
  const varve::report counted = report_of(decoder::count(*device, work));
  const varve::row* const there = counted_layer(counted, "decode");
  const varve::row* const here = timed.find({"layer", 1, "decode"});
  ASSERT_TRUE(here != nullptr && there != nullptr);
  EXPECT_GT(here->inclusive.declared.kv_bytes, 0);
  EXPECT_EQ(there->inclusive.declared.kv_bytes, 4 * here->inclusive.declared.kv_bytes);
  EXPECT_EQ(there->inclusive.declared.flops, 4 * here->inclusive.declared.flops);
}

TEST_F(decoder_counting, is_used_for_launches_and_for_graphs) {
  const varve::report counted = report_of(decoder::count(*device, work));
  for (const auto mode : {decoder::launch_mode::eager, decoder::launch_mode::graphs}) {
    varve::report timed = report_of(decoder::profile(*device, work, mode));
    varve::add_counted(timed, counted);
    for (const char* const phase : {"prefill", "decode"}) {
      const varve::row* const layer = counted_layer(timed, phase);
      ASSERT_NE(layer, nullptr) << phase;
      EXPECT_TRUE(layer->counted->used) << layer->counted->why;
    }
  }
}

TEST_F(decoder_counting, says_why_nothing_is_counted) {
  standin::fail({"cuptiRangeProfilerStart", standin::cupti::result::insufficient_privileges});
  const decoder::counting forbidden = decoder::counting_of(report_of(decoder::count(*device, work)));
  EXPECT_FALSE(forbidden.any);
  EXPECT_THAT(forbidden.said, Contains(HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
  standin::reset();
  fake_driver::set_current(nullptr);
  const decoder::counting homeless = decoder::counting_of(report_of(decoder::count(*device, work)));
  EXPECT_FALSE(homeless.any);
  EXPECT_THAT(homeless.said, Contains(HasSubstr("no CUDA context")));
}

TEST_F(decoder_counting, runs_where_another_session_records) {
  varve::session other;
  ASSERT_TRUE(other);
  const decoder::profiled_run run = decoder::profile(*device, work, decoder::launch_mode::graphs);
  EXPECT_EQ(run.tokens.size(), 2U);
  EXPECT_FALSE(run.trace);
  EXPECT_THAT(run.refusal, HasSubstr("another session"));
  const decoder::profiled_run counted = decoder::count(*device, work);
  EXPECT_FALSE(counted.trace);
  EXPECT_THAT(counted.refusal, HasSubstr("another session"));
  EXPECT_EQ(passes(varve::analyze(other.stop()), "prefill"), 1);  // counting was left out at once
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// run_passes() over an engine whose device is the calling thread, and traces made by hand.
#include <varve/collector.hpp>
#include <varve/testing.hpp>
#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace varve_test {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

void launch(const char* kernel) {
  static varve::host_device device{{0, "calling thread"}};
  const varve::host_call call{device, varve::call_kind::launch};
  const std::uint64_t begin = varve::clock_ticks();
  std::uint64_t end = begin;
  while (end == begin) {
    end = varve::clock_ticks();
  }
  device.report({0, call.correlation(), kernel, begin, end});
}

void decode_step() {
  const varve::phase pass{varve::decode};
  const varve::layer mlp{"mlp", 0};
  launch("gemm");
}

varve::pass_options passes(int warm_up, int measured) {
  varve::pass_options options;
  options.warm_up = warm_up;
  options.passes = measured;
  return options;
}

TEST(run_passes, records_the_measured_passes_and_not_those_that_warm_up) {
  int calls = 0;
  const varve::measured_passes run = varve::run_passes(passes(2, 5), [&] {
    ++calls;
    decode_step();
  });
  EXPECT_EQ(calls, 7);
  EXPECT_EQ(run.error, "");
  ASSERT_EQ(run.report.phases.size(), 1U);
  EXPECT_EQ(run.report.phases.front().passes, 5);
  EXPECT_EQ(run.step(varve::decode).count, 5);
  EXPECT_EQ(run.step(varve::prefill).count, 0);
  EXPECT_THAT(varve::layer_of(run.report, {"mlp", 0, varve::decode}), varve::launches_at_most(1));
  EXPECT_THAT(run, varve::attributed_at_least(1));
  EXPECT_THAT(run, varve::no_copies());
}

TEST(run_passes, marks_passes_of_an_engine_that_does_not) {
  varve::pass_options options = passes(1, 4);
  options.phase = varve::prefill;
  const varve::measured_passes run = varve::run_passes(options, [] { launch("gemm"); });
  const auto prefill = varve::phase_of(run.report, varve::prefill);
  ASSERT_TRUE(prefill);
  EXPECT_EQ(prefill->passes, 4);
}

TEST(run_passes, fails_where_another_session_runs) {
  testing::TestPartResultArray results;
  int calls = 0;
  varve::measured_passes run;
  {
    const varve::session other;
    const testing::ScopedFakeTestPartResultReporter caught{
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results};
    run = varve::run_passes([&] { ++calls; });
    EXPECT_THAT(run, varve::no_copies());
    EXPECT_THAT(run, varve::attributed_at_least(0));
  }
  EXPECT_EQ(calls, 0);
  ASSERT_EQ(results.size(), 3);
  EXPECT_THAT(results.GetTestPartResult(0).message(),
              HasSubstr("varve::run_passes(): nothing was recorded: " + run.error));
  EXPECT_THAT(run.error, HasSubstr("session"));
  EXPECT_THAT(results.GetTestPartResult(1).message(), HasSubstr("nothing was recorded: " + run.error));
  EXPECT_THAT(results.GetTestPartResult(2).message(), HasSubstr("nothing was recorded: " + run.error));
}

TEST(run_passes, leaves_no_session_behind_an_exception) {
  const auto broken = [] { throw std::runtime_error{"no memory for the cache"}; };
  EXPECT_THROW(static_cast<void>(varve::run_passes(broken)), std::runtime_error);
  EXPECT_EQ(varve::run_passes(passes(0, 1), decode_step).error, "");
}

int calls_until_a_fatal_failure() {
  int calls = 0;
  static_cast<void>(varve::run_passes(passes(3, 3), [&] {
    ++calls;
    FAIL() << "on purpose";
  }));
  return calls;
}

TEST(run_passes, runs_no_more_of_them_after_a_fatal_failure) {
  EXPECT_EXIT(std::_Exit(calls_until_a_fatal_failure()), testing::ExitedWithCode(1), "");
}

/// Counts what the fixture does with it.
struct counted_engine {
  static inline int made = 0;
  static inline int calls = 0;
  static varve::pass_options options() { return passes(2, 5); }

  counted_engine() { ++made; }
  void pass() {
    ++calls;
    decode_step();
  }
};

using fixture = varve::passes_test<counted_engine>;

// However many tests there are: one engine, 2 passes to warm up and 5 measured ones.
TEST_F(fixture, runs_its_passes_before_the_first_test) {
  EXPECT_EQ(counted_engine::made, 1);
  EXPECT_EQ(counted_engine::calls, 7);
  EXPECT_EQ(run().error, "");
  EXPECT_EQ(step(varve::decode).count, 5);
  EXPECT_EQ(gpu_time(varve::decode).count, 5);
  EXPECT_THAT(passes_of(varve::decode), varve::launches_at_most(1));
  EXPECT_THAT(layer({"mlp", 0}), varve::launches_at_most(1));
  EXPECT_THAT(report(), varve::attributed_at_least(1));
}

TEST_F(fixture, gives_every_test_the_same_passes_and_engine) {
  EXPECT_EQ(counted_engine::made, 1);
  EXPECT_EQ(counted_engine::calls, 7);
  tested().pass();
  EXPECT_EQ(counted_engine::calls--, 8);  // as the other test finds it, whatever their order
  EXPECT_EQ(step(varve::decode).count, 5);
}

struct default_engine {
  void pass() { decode_step(); }
};

using default_fixture = varve::passes_test<default_engine>;

TEST_F(default_fixture, runs_as_many_passes_as_run_passes) { EXPECT_EQ(step(varve::decode).count, 20); }

struct broken_engine {
  void pass() { throw std::runtime_error{"no memory for the cache"}; }
};

/// Set up by hand, so that its failure can be seen.
class broken_fixture : public varve::passes_test<broken_engine> {
 public:
  static void SetUpTestSuite() { EXPECT_THROW(passes_test::SetUpTestSuite(), std::runtime_error); }
};

TEST_F(broken_fixture, fails_every_matcher) {
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(run(), varve::no_copies()), "did not run its passes to their end");
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(passes_of(varve::decode), varve::no_copies()),
                          "it has no passes at all");
}

TEST(measured_passes, gpu_time_is_of_the_samples_of_a_kind_of_pass) {
  varve::measured_passes run;
  run.report.phases.resize(2);
  run.report.phases[0].phase = "prefill";
  run.report.phases[0].samples.gpu_time = {70};
  run.report.phases[1].phase = "decode";
  run.report.phases[1].samples.gpu_time = {30, 10, 20};
  EXPECT_EQ(run.gpu_time(varve::decode).p50, 20);
  EXPECT_EQ(run.gpu_time(varve::decode).count, 3);
  EXPECT_EQ(run.gpu_time(varve::draft).count, 0);
}

TEST(statistics_of, are_those_of_the_times_in_any_order) {
  const varve::distribution d = varve::statistics_of({5, 1, 4, 2, 3});
  EXPECT_EQ(d.count, 5);
  EXPECT_EQ(d.total, 15);
  EXPECT_EQ(d.min, 1);
  EXPECT_EQ(d.max, 5);
  EXPECT_EQ(d.p50, 3);  // the 3rd: 2.5 rounded up
  EXPECT_EQ(d.p95, 5);  // the 5th: 4.75 rounded up
  EXPECT_EQ(d.mean, 3);
  EXPECT_DOUBLE_EQ(d.deviation, std::sqrt(2.0));         // (4 + 1 + 0 + 1 + 4) ÷ 5
  EXPECT_EQ(varve::statistics_of({1, 2, 3, 9}).p50, 2);  // the 2nd of four
  EXPECT_EQ(varve::statistics_of({}).count, 0);
}

TEST(trace_builder, makes_traces_that_are_analyzed_as_any) {
  varve::trace_builder built;
  built.device({7, "NVIDIA A100-SXM4-80GB", 108, 80, std::int64_t{80} << 30U});
  const auto pass = built.pass(varve::decode, {0us, 100us}, "draft");
  built.attribute(pass, VARVE_DECODE_TOKENS, 16);
  const auto mlp = built.layer(pass, "mlp", 2, {0us, 50us});
  const auto up = built.op(mlp, "up", {0us, 50us});
  // 203.9 MB at 2039 GB/s take 100 µs.
  built.work(up, {1000, 100'000'000, 0, 3'900'000, varve::math_pipe::fp16_tensor});
  built.kernel(up, "gemm", {0us, 5us}, {10us, 30us}, {7, 1}, {{2, 1, 1}, {128, 1, 1}, 32, 0, 0});
  built.copy(mlp, 512, {5us, 6us}, {30us, 35us}, {7, 2});
  built.call(pass, varve::call_kind::synchronise, {60us, 100us});
  const varve::report report = built.analyze();

  ASSERT_EQ(report.devices.size(), 1U);
  EXPECT_EQ(report.devices.front().device.name, "NVIDIA A100-SXM4-80GB");
  const auto draft = varve::phase_of(report, varve::decode, "draft");
  ASSERT_TRUE(draft) << draft.missing();
  EXPECT_EQ(draft->decode_tokens, 16);
  EXPECT_EQ(draft->total.synchronise_time, 40'000);
  const auto found = varve::layer_of(report, {"mlp", 2, varve::decode, "draft", 7});
  ASSERT_TRUE(found) << found.missing();
  EXPECT_EQ(found->inclusive.gpu_time, 25'000);
  EXPECT_EQ(found->inclusive.copy_bytes, 512);
  EXPECT_EQ(found->inclusive.declared.weight_bytes, 100'000'000);
  EXPECT_THAT(varve::layer_of(report, {"up"}), varve::launches_at_most(1));
  EXPECT_EQ(report.quality.unmatched, 0);
}

TEST(trace_builder, takes_what_it_has_no_function_for_as_records) {
  varve::trace_builder built;
  const auto pass = built.pass(varve::decode, {0us, 100us});
  built.records().ranges[pass].clipped_end = true;
  EXPECT_EQ(built.analyze().quality.clipped_ranges, 1);
}

}  // namespace

}  // namespace varve_test

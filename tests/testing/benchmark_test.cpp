// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Counters of Google Benchmark from hand-made reports, and benchmarks that really run. All public headers are
// included here, which shows that they go together.
#include <varve/benchmark.hpp>
#include <varve/budget.hpp>
#include <varve/collector.hpp>
#include <varve/compare.hpp>
#include <varve/device.hpp>
#include <varve/io.hpp>
#include <varve/model.hpp>
#include <varve/testing.hpp>
#include <varve/trace_builder.hpp>
#include <varve/varve.hpp>

#include <benchmark/benchmark.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace varve_test {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Keeps the runs of a benchmark.
class kept_runs : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override { all.insert(all.end(), runs.begin(), runs.end()); }

  std::vector<Run> all;
};

template <class Function>
benchmark::BenchmarkReporter::Run run_of(const char* name, Function function) {
  benchmark::RegisterBenchmark(name, function)->Iterations(4)->UseManualTime();
  kept_runs runs;
  benchmark::RunSpecifiedBenchmarks(&runs, std::string{"^"} + name + "/");
  EXPECT_EQ(runs.all.size(), 1U);
  return runs.all.empty() ? benchmark::BenchmarkReporter::Run{} : runs.all.front();
}

void decode_step() {
  static varve::host_device device{{0, "calling thread"}};
  const varve::phase pass{varve::decode};
  varve::layer mlp{"mlp", 0};
  mlp.work([] { return varve::work{1000, 400, 0, 100, varve::math_pipe::fp32}; });
  const varve::host_call call{device, varve::call_kind::launch};
  const std::uint64_t begin = varve::clock_ticks();
  std::uint64_t end = begin;
  while (end == begin) {
    end = varve::clock_ticks();
  }
  device.report({0, call.correlation(), "gemm", begin, end});
}

TEST(figures_of, are_sums_over_passes_by_iteration_of_the_busiest_device) {
  varve::trace_builder built;
  for (int k = 0; k < 4; ++k) {  // two passes an iteration
    const auto at = [k](int begin, int end) {
      return varve::trace_builder::interval{std::chrono::microseconds{k * 100 + begin},
                                            std::chrono::microseconds{k * 100 + end}};
    };
    const auto pass = built.pass(k % 2 == 0 ? "draft" : "verify", at(0, 100));
    const auto mlp = built.layer(pass, "mlp", at(0, 90));
    built.work(mlp, {4'000'000, 1'000'000, 0, 0, varve::math_pipe::fp32});
    built.kernel(mlp, "gemm", at(10, 12), at(12, 52), {0, 1});
    built.kernel(mlp, "small", at(52, 53), at(53, 54), {1, 1});
  }
  const auto load = built.pass(varve::load, {400us, 900us});
  built.kernel(load, "fill", {400us, 401us}, {401us, 800us}, {0, 1});

  const varve::iteration_figures f = varve::figures_of(built.analyze(), 2);
  EXPECT_DOUBLE_EQ(f.passes, 2);
  EXPECT_DOUBLE_EQ(f.gpu_time, 80e-6);    // 2 × 40 µs
  EXPECT_DOUBLE_EQ(f.launch_time, 4e-6);  // 2 × 2 µs
  EXPECT_DOUBLE_EQ(f.launches, 2);
  EXPECT_DOUBLE_EQ(f.flop_rate, 1e11);    // 4e6 ÷ 40 µs
  EXPECT_DOUBLE_EQ(f.byte_rate, 2.5e10);  // 1e6 ÷ 40 µs
  EXPECT_EQ(f.efficiency, 0);             // the device's ceilings are not known
}

TEST(figures_of, rates_need_the_work_of_all_that_ran) {
  const auto with = [](int undeclared) {  // µs of a kernel after one of 99 µs whose work is declared
    varve::trace_builder built;
    const auto pass = built.pass("decode", {0us, 200us});
    const auto mlp = built.layer(pass, "mlp", {0us, 50us});
    built.work(mlp, {4'000'000, 1'000'000, 0, 0, varve::math_pipe::fp32});
    built.kernel(mlp, "gemm", {1us, 2us}, {2us, 101us});
    const auto norm = built.layer(pass, "norm", {50us, 100us});
    built.kernel(norm, "norm", {51us, 52us}, {101us, std::chrono::microseconds{101 + undeclared}});
    return varve::figures_of(built.analyze(), 1);
  };
  EXPECT_DOUBLE_EQ(with(1).flop_rate, 4e10);  // 4e6 ÷ 100 µs: one hundredth may be missing
  EXPECT_DOUBLE_EQ(with(1).byte_rate, 1e10);
  EXPECT_EQ(with(2).flop_rate, 0);
  EXPECT_EQ(with(2).byte_rate, 0);
}

TEST(figures_of, efficiency_is_weighted_by_gpu_time_and_known_only_of_all_passes) {
  varve::report report;
  report.phases.resize(2);
  report.phases[0].phase = "prefill";
  report.phases[0].total.gpu_time = 300;
  report.phases[0].verdict.roof_share = 0.8;
  report.phases[1].phase = "decode";
  report.phases[1].total.gpu_time = 100;
  report.phases[1].verdict.roof_share = 0.4;
  EXPECT_DOUBLE_EQ(varve::figures_of(report, 1).efficiency, 0.7);  // (240 + 40) ÷ 400
  report.phases[1].verdict.roof_share = 0;
  EXPECT_EQ(varve::figures_of(report, 1).efficiency, 0);
  EXPECT_EQ(varve::figures_of(report, 0).gpu_time, 0);
  EXPECT_EQ(varve::figures_of(varve::report{}, 1).gpu_time, 0);
}

TEST(benchmark_session, sets_counters_and_the_manual_time) {
  const auto run = run_of("counted", [](benchmark::State& state) {
    varve::benchmark_session recorded{state};
    for ([[maybe_unused]] auto _ : state) {
      decode_step();
      decode_step();
    }
  });
  ASSERT_FALSE(run.error_occurred) << run.error_message;
  EXPECT_EQ(run.iterations, 4);
  const auto counter = [&](const char* name) { return run.counters.at(name).value; };
  EXPECT_EQ(counter("launches"), 2);
  EXPECT_EQ(counter("passes"), 2);
  EXPECT_GT(counter("gpu_time"), 0);
  EXPECT_DOUBLE_EQ(run.real_accumulated_time, counter("gpu_time") * 4);
  EXPECT_NEAR(counter("FLOP/s") * counter("gpu_time"), 2000, 1e-6);
  EXPECT_NEAR(counter("byte/s") * counter("gpu_time"), 1000, 1e-6);
  EXPECT_EQ(run.counters.count("efficiency"), 0U);
}

TEST(benchmark_session, gives_its_report_when_finished_early) {
  std::int64_t passes = 0;
  const auto run = run_of("finished", [&](benchmark::State& state) {
    varve::benchmark_session recorded{state};
    for ([[maybe_unused]] auto _ : state) {
      decode_step();
    }
    const varve::report report = recorded.finish();
    passes = report.phases.empty() ? 0 : report.phases.front().passes;
    EXPECT_TRUE(recorded.finish().phases.empty());
    state.counters["mine"] = 1;
  });
  EXPECT_FALSE(run.error_occurred) << run.error_message;
  EXPECT_EQ(passes, 4);
  EXPECT_EQ(run.counters.count("mine"), 1U);
  EXPECT_EQ(run.counters.count("gpu_time"), 1U);
}

TEST(benchmark_session, is_an_error_where_another_session_runs) {
  const varve::session other;
  int iterations = 0;
  const auto run = run_of("refused", [&](benchmark::State& state) {
    varve::benchmark_session recorded{state};
    for ([[maybe_unused]] auto _ : state) {
      ++iterations;
    }
  });
  EXPECT_TRUE(run.error_occurred);
  EXPECT_THAT(run.error_message, HasSubstr("varve: no session: "));
  EXPECT_EQ(iterations, 0);
}

TEST(benchmark_session, is_an_error_where_no_device_did_anything) {
  const auto run = run_of("idle", [](benchmark::State& state) {
    varve::benchmark_session recorded{state};
    for ([[maybe_unused]] auto _ : state) {
      const varve::phase pass{varve::decode};
    }
  });
  EXPECT_TRUE(run.error_occurred);
  EXPECT_THAT(run.error_message, HasSubstr("varve: no work of a device was recorded in a pass"));
}

TEST(benchmark_session, is_an_error_where_records_were_lost) {
  const auto run = run_of("lost", [](benchmark::State& state) {
    varve::session_options options;
    options.collectors = {nullptr};  // which is counted
    varve::benchmark_session recorded{state, options};
    for ([[maybe_unused]] auto _ : state) {
      decode_step();
    }
  });
  EXPECT_TRUE(run.error_occurred);
  EXPECT_THAT(run.error_message, HasSubstr("varve: records were lost: "));
}

}  // namespace

}  // namespace varve_test

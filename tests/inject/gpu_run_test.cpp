// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// `varve run` on an engine whose GPU the stand-in libcupti simulates. In a stream of its each kernel begins
// when the one before has ended, so times on the device are sums of what gpu_engine.cpp says:
//   prefill: a copy of 4096 bytes in 500 ns; in each of two layers a gemm of 3000 ns and a norm of 1000 ns
//   decode, 3 times: a graph of two layers, captured in a range "capture", with a kernel of 2000 ns each
#include <algorithm>
#include <csignal>
#include <tuple>

#include "inject/run_fixture.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using testing_support::outcome;

class gpu_run : public varve_test::over_run {
 protected:
  outcome run_engine(const std::string& what, const std::vector<std::string>& options = {}) {
    return run_command({VARVE_GPU_ENGINE, what}, options, {"VARVE_CUPTI_LIBRARY=" VARVE_STANDIN_CUPTI});
  }
};

/// calls, GPU time in ns, kernels, launches
using numbers = std::tuple<std::int64_t, varve::time_ns, std::int64_t, std::int64_t>;

/// By "PHASE: PATH", of the rows that had work on the device or launched some; inclusive, but for passes,
/// which are here without their layers.
std::map<std::string, numbers> work_of(const varve::report& r) {
  std::map<std::string, numbers> out;
  for (const varve::row& row : r.layers) {
    const varve::measures& m = row.path.empty() ? row.exclusive : row.inclusive;
    if (m.gpu_time != 0 || m.launches != 0) {
      out[row.phase + ": " + row.path] = {m.calls, m.gpu_time, m.kernels, m.launches};
    }
  }
  return out;
}

const varve::phase_row& phase_of(const varve::report& r, const std::string& name) {
  static const varve::phase_row none;
  const auto found = std::find_if(r.phases.begin(), r.phases.end(),
                                  [&](const varve::phase_row& p) { return p.phase == name; });
  EXPECT_NE(found, r.phases.end()) << name;
  return found != r.phases.end() ? *found : none;
}

/// Of `decodes` replays. Layers of a graph launch nothing themselves: the pass launched it.
void expect_all_work(const varve::report& r, std::int64_t decodes) {
  EXPECT_EQ(work_of(r), (std::map<std::string, numbers>{
                            {"prefill: ", {1, 500, 0, 0}},          // the copy, which is no launch
                            {"prefill: layer 0", {1, 4000, 2, 2}},  // 3000 + 1000
                            {"prefill: layer 1", {1, 4000, 2, 2}},
                            {"decode: ", {decodes, 0, 0, decodes}},
                            {"decode: capture", {decodes, decodes * 4000, decodes * 2, 0}},  // 2 · 2000
                            {"decode: capture / layer 0", {decodes, decodes * 2000, decodes, 0}},
                            {"decode: capture / layer 1", {decodes, decodes * 2000, decodes, 0}},
                        }));
  const varve::phase_row& prefill = phase_of(r, "prefill");
  EXPECT_EQ(prefill.passes, 1);
  EXPECT_EQ(prefill.total.gpu_time, 500 + 2 * (3000 + 1000));
  EXPECT_EQ(prefill.total.copies, 1);
  EXPECT_EQ(prefill.total.copy_bytes, 4096);
  EXPECT_EQ(prefill.total.launches, 2 * 2);
  const varve::phase_row& decode = phase_of(r, "decode");
  EXPECT_EQ(decode.passes, decodes);
  EXPECT_EQ(decode.total.gpu_time, decodes * 2 * 2000);
  EXPECT_EQ(decode.total.graph_launches, decodes);
  EXPECT_EQ(decode.total.synchronisations, decodes);
  // All but the copy belongs to a layer, and every piece of work to a call.
  const double layers = 8000 + static_cast<double>(decodes) * 4000;
  EXPECT_DOUBLE_EQ(r.quality.attributed, layers / (layers + 500));
  EXPECT_EQ(r.quality.activities, 1 + 4 + decodes * 2);
  EXPECT_EQ(r.quality.matched, r.quality.activities);
  EXPECT_THAT(r.quality.losses, SizeIs(0));
}

/// Of 3 decodes: 500 + 8000 + 12000 = 20500 ns in all, of which 20000, or 97.6 %, are layers'.
void expect_table(const std::string& text) {
  EXPECT_THAT(text, AllOf(HasSubstr("device 0 · busy 20.5 µs"), HasSubstr("· 10 kernels, 20.0 µs\n"),
                          HasSubstr("prefill · 1 pass\n"), HasSubstr("GPU busy 8.50 µs"),
                          HasSubstr("decode · 3 passes\n"), HasSubstr("GPU busy 12.0 µs"),
                          HasSubstr("launch   3 launches · 1.00 a pass · 3 of graphs"),
                          HasSubstr("\ncapture               3   12.0 µs  100.0"),
                          HasSubstr("├─ layer 0            3   6.00 µs   50.0"),
                          HasSubstr("97.6 % of the GPU time belongs to a layer.")));
}

TEST_F(gpu_run, finds_the_layers_of_kernels_copies_and_replayed_graphs) {
  const outcome o = run_engine("passes");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.err, AllOf(StartsWith("gpu_engine (process "), Not(HasSubstr("varve:"))));
  expect_table(o.err);
  expect_all_work(report(), 3);
  std::map<std::string, std::int64_t> kernels;
  for (const varve::row& k : report().kernels) {
    kernels[k.phase + ": " + k.path] = k.exclusive.kernel_time;
  }
  EXPECT_EQ(kernels["prefill: gemm"], 2 * 3000);
  EXPECT_EQ(kernels["prefill: norm"], 2 * 1000);
  EXPECT_EQ(kernels["decode: fused"], 3 * 2 * 2000);
}

TEST_F(gpu_run, takes_the_ceilings_that_it_is_given) {
  const outcome o = run_engine("passes", {"--device", "h200"});
  EXPECT_EQ(o.code, 0) << o.err;
  const varve::ceilings given = varve::ceilings_named("h200");
  const varve::report r = report();
  ASSERT_THAT(r.devices, SizeIs(1));
  ASSERT_TRUE(r.devices[0].ceilings);
  const varve::ceilings& got = *r.devices[0].ceilings;
  EXPECT_EQ(got.name, given.name);
  EXPECT_EQ(got.flops, given.flops);
  EXPECT_EQ(got.bandwidth, given.bandwidth);
  EXPECT_EQ(got.multiprocessors, given.multiprocessors);
  EXPECT_EQ(got.top_clock, given.top_clock);
  EXPECT_EQ(got.source, given.source);
}

TEST_F(gpu_run, holds_devices_against_the_clock_that_it_is_given) {
  const outcome o = run_engine("passes", {"--device", "h200", "--clock", "915MHz"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.err, Not(HasSubstr("--clock")));  // of reports that are analysed already
  const varve::report r = report();
  ASSERT_THAT(r.devices, SizeIs(1));
  ASSERT_TRUE(r.devices[0].ceilings);
  const varve::ceilings& got = *r.devices[0].ceilings;
  EXPECT_EQ(got.flops, varve::at_clock(varve::ceilings_named("h200"), 915e6).flops);
  EXPECT_EQ(got.clock, 915e6);
  EXPECT_THAT(got.source, HasSubstr("; scaled to the clock given, 915 MHz"));
}

TEST_F(gpu_run, gives_the_report_that_its_trace_gives) {
  const std::string trace = files.path("trace.json");
  EXPECT_EQ(run_engine("passes", {"--trace", trace, "--by-batch", "--steady"}).code, 0);
  varve::report r = report();
  r.source = "session";  // before the tool named the process
  varve::analyze_options as_asked;
  as_asked.by_batch = as_asked.steady = true;
  EXPECT_EQ(to_json(varve::analyze(varve::read_pytorch(trace), as_asked)), to_json(r));
}

TEST_F(gpu_run, shows_tables_as_asked) {
  EXPECT_THAT(run_engine("passes", {"--by", "kernel", "--top", "1"}).err,
              AllOf(HasSubstr("\ngemm "), Not(HasSubstr("\nnorm ")), HasSubstr("\nfused ")));
  EXPECT_THAT(run_engine("passes", {"--depth", "1"}).err,
              AllOf(HasSubstr("\ncapture "), Not(HasSubstr("├─ layer 0"))));
}

// Sanitizers' runtimes handle faults and call _exit() themselves.
#ifndef VARVE_SANITIZED
TEST_F(gpu_run, loses_no_work_of_an_engine_that_crashes) {
  const outcome o = run_engine("segv");
  EXPECT_EQ(o.code, 128 + SIGSEGV);
  EXPECT_THAT(o.err, Not(HasSubstr("missing")));
  expect_table(o.err);
  expect_all_work(report(), 3);
}

TEST_F(gpu_run, loses_no_work_of_an_engine_that_calls__exit) {
  const outcome o = run_engine("_exit");
  EXPECT_EQ(o.code, 0) << o.err;
  expect_table(o.err);
  expect_all_work(report(), 3);
}
#endif

// The parent goes on with a fourth decode. The child marks one range, whose end is the process's.
TEST_F(gpu_run, leaves_the_gpu_with_the_parent_of_a_forked_child) {
  const outcome o = run_engine("fork");
  EXPECT_EQ(o.code, 0) << o.err;
  const std::vector<varve::report> both = reports();
  ASSERT_THAT(both, SizeIs(2));
  expect_all_work(both[0], 4);
  EXPECT_EQ(varve_test::calls_of(both[1]), (varve_test::calls{{"(trace): child", 1}}));
  EXPECT_EQ(both[1].quality.activities, 0);
  const auto& sources = both[1].quality.collectors;
  EXPECT_TRUE(std::any_of(sources.begin(), sources.end(), [](const varve::collector_status& c) {
    return c.name == "cupti" && c.detail.find("the GPU stays with its parent") != std::string::npos;
  }));
}

TEST_F(gpu_run, records_the_gpu_in_a_child_whose_parent_never_used_it) {
  const outcome o = run_engine("early fork");
  EXPECT_EQ(o.code, 0) << o.err;
  const std::vector<varve::report> both = reports();
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(varve_test::calls_of(both[0]), (varve_test::calls{{"(trace): setup", 1}}));
  EXPECT_EQ(both[0].quality.activities, 0);
  expect_all_work(both[1], 3);
}

}  // namespace

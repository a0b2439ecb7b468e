// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Each matcher holds, and fails with its message.
#include <varve/testing.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace varve_test {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using testing::HasSubstr;
using testing::Not;
using varve::decode;

/// What EXPECT_THAT() tells; empty when it is content.
template <class Value, class Matcher>
std::string failure_of(const Value& value, const Matcher& matcher) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter caught{
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results};
    EXPECT_THAT(value, matcher);
  }
  return results.size() == 0 ? "" : results.GetTestPartResult(0).message();
}

/// Three decode passes of 1 ms, one after another. In each, times from its begin in µs:
///   layer 0 / attention  flash_fwd [30, 30 + 200, 212 or 230)
///   layer 0 / mlp        gemm [330, 430) and [430, 530)
///   sampling             a copy of 4096 bytes [620, 630), then the host waits for 70 and allocates for 10
varve::trace_builder three_passes() {
  varve::trace_builder built;
  const microseconds attention_times[] = {200us, 212us, 230us};
  for (int k = 0; k < 3; ++k) {
    const auto at = [k](int begin, int end) {
      return varve::trace_builder::interval{microseconds{k * 1000 + begin}, microseconds{k * 1000 + end}};
    };
    const auto pass = built.pass(decode, at(0, 1000));
    const auto layer = built.layer(pass, "layer", 0, at(0, 600));
    const auto attention = built.layer(layer, "attention", at(0, 300));
    built.kernel(attention, "flash_fwd", at(10, 20),
                 at(30, 30 + static_cast<int>(attention_times[k].count())));
    const auto mlp = built.layer(layer, "mlp", at(300, 600));
    built.kernel(mlp, "gemm", at(310, 320), at(330, 430));
    built.kernel(mlp, "gemm", at(320, 330), at(430, 530));
    const auto sampling = built.layer(pass, "sampling", at(600, 1000));
    built.copy(sampling, 4096, at(610, 620), at(620, 630));
    built.call(sampling, varve::call_kind::synchronise, at(630, 700));
    built.call(sampling, varve::call_kind::allocate, at(700, 710));
  }
  return built;
}

/// Its report, with what a report may or may not know set to what it is.
varve::report report_of(const varve::trace_builder& built) {
  varve::report out = built.analyze();
  for (varve::row& r : out.layers) {
    r.per_pass.clear();
    r.main_kernel = r.label == "attention" ? "flash_fwd" : r.label == "mlp" ? "gemm" : "";
  }
  for (varve::phase_row& p : out.phases) {
    p.samples = {};
  }
  out.findings.clear();
  return out;
}

class matchers : public testing::Test {
 protected:
  [[nodiscard]] varve::found_layer layer(std::string_view label) const {
    return varve::layer_of(report, {label, {}, decode});
  }
  [[nodiscard]] varve::found_phase passes() const { return varve::phase_of(report, decode); }

  varve::report report = report_of(three_passes());
};

/// A row with a verdict, as it comes from a report.
varve::row judged_row(varve::bound by, double share, std::string why) {
  varve::row r;
  r.path = "mlp 2";
  r.label = "mlp";
  r.index = 2;
  r.phase = "decode";
  r.inclusive.calls = 4;
  r.inclusive.kernels = 4;
  r.inclusive.gpu_time = 400;
  r.verdict.by = by;
  r.verdict.roof_share = share;
  r.verdict.memory_share = share;
  r.verdict.compute_share = share / 4;
  r.verdict.why = std::move(why);
  return r;
}

TEST_F(matchers, gpu_time_is_the_median_of_calls) {
  EXPECT_THAT(layer("attention"), varve::gpu_time_below(213us));
  // 200, 212 and 230 µs: mean 642 ÷ 3 = 214; 212 − 200 = 12, which is 6 % of 200.
  EXPECT_EQ(
      failure_of(layer("attention"), varve::gpu_time_below(200us)),
      "Value of: value\n"
      "Expected: GPU time below 200 µs (median of a layer's calls, of a phase's passes)\n"
      "  Actual: decode: layer 0 / attention, "
      "GPU time 212 µs a call (median of 3 calls, 200 µs to 230 µs, mean 214 µs): "
      "12 µs (6 %) above the limit\n"
      "    most in: layer 0 / attention 642 µs in all (flash_fwd)\n"
      "    next: see whether kernels changed (varve::same_kernels_as an earlier report), then profile the "
      "longest (ncu)");
}

TEST_F(matchers, a_limit_is_not_below_itself) {
  EXPECT_NE(failure_of(layer("attention"), varve::gpu_time_below(212us)), "");
}

TEST_F(matchers, take_rows_as_find_gives_them) {
  const varve::row* attention = report.find({"attention", {}, decode});
  EXPECT_THAT(report.find({.label = "attention", .phase = decode}), varve::gpu_time_below(213us));
  EXPECT_THAT(*attention, varve::gpu_time_below(213us));
  EXPECT_EQ(failure_of(attention, varve::gpu_time_below(200us)),
            "Value of: value\n"
            "Expected: GPU time below 200 µs (median of a layer's calls, of a phase's passes)\n"
            "  Actual: decode: layer 0 / attention (of type varve::v0::row const*), "
            "GPU time 212 µs a call (median of 3 calls, 200 µs to 230 µs, mean 214 µs): "
            "12 µs (6 %) above the limit\n"
            "    most in: layer 0 / attention 642 µs in all (flash_fwd)\n"
            "    next: print the report (std::cout << report), which shows its parts and kernels");
}

TEST_F(matchers, fail_for_a_row_that_find_does_not_find) {
  EXPECT_EQ(failure_of(report.find({"attenton", {}, decode}), varve::gpu_time_below(1s)),
            "Value of: value\n"
            "Expected: GPU time below 1 s (median of a layer's calls, of a phase's passes)\n"
            "  Actual: no such layer (of type varve::v0::row const*), the report has none; "
            "varve::layer_of(report, {…}) in place of report.find({…}) lists those that come near");
}

TEST_F(matchers, name_layers_and_phases_that_come_near) {
  // "attention" is one letter away; of the others "sampling" seven, "mlp" eight and "layer" seven.
  EXPECT_THAT(failure_of(layer("attenton"), varve::no_copies()),
              HasSubstr("no such layer, the report has no layer "
                        "with label \"attenton\", phase \"decode\"; nearest: decode: layer 0 / attention, "));
  EXPECT_THAT(failure_of(varve::layer_of(report, {"layer", 7, decode}), varve::no_copies()),
              HasSubstr("label \"layer\", index 7, phase \"decode\"; nearest: decode: layer 0, "));
  EXPECT_EQ(failure_of(varve::phase_of(report, "decod"), varve::no_copies()),
            "Value of: value\n"
            "Expected: no copies\n"
            "  Actual: no such passes, "
            "the report has no passes of decod; nearest: decode");
}

TEST_F(matchers, gpu_time_of_a_phase_is_of_its_passes) {
  // 200 + 200 + 10 = 410, 422 and 440 µs; 1272 ÷ 3 = 424 where single passes are not known.
  EXPECT_THAT(passes(), varve::gpu_time_below(425us));
  EXPECT_EQ(
      failure_of(passes(), varve::gpu_time_below(400us)),
      "Value of: value\n"
      "Expected: GPU time below 400 µs (median of a layer's calls, of a phase's passes)\n"
      "  Actual: decode: 3 passes, "
      "GPU time 424 µs a pass (mean of 3 passes): 24 µs (6 %) above the limit\n"
      "    most in: layer 0 / attention 642 µs in all (flash_fwd), layer 0 / mlp 600 µs in all (gemm), "
      "sampling 30 µs in all\n"
      "    next: see whether kernels changed (varve::same_kernels_as an earlier report), then profile the "
      "longest (ncu)");
  report.phases.front().samples.stride = 1;
  report.phases.front().samples.gpu_time = {410'000, 422'000, 440'000};
  EXPECT_THAT(passes(), varve::gpu_time_below(423us));
  EXPECT_THAT(report.phases.front(), varve::gpu_time_below(423us));
  EXPECT_THAT(failure_of(&report.phases.front(), varve::gpu_time_below(400us)),
              HasSubstr("GPU time 422 µs a pass (median of 3 passes, 410 µs to 440 µs, mean 424 µs)"));
}

TEST_F(matchers, gpu_time_per_pass_takes_all_calls_together) {
  EXPECT_THAT(layer("mlp"), varve::gpu_time_per_pass_below(201us));
  EXPECT_THAT(failure_of(layer("mlp"), varve::gpu_time_per_pass_below(100us)),
              HasSubstr("Expected: GPU time below 100 µs in a pass (median of the passes)\n"
                        "  Actual: decode: layer 0 / mlp, "
                        "GPU time 200 µs a pass (mean of 3 passes): 100 µs (100 %) above the limit\n"));
  varve::row mlp = *layer("mlp");
  EXPECT_THAT(failure_of(mlp, varve::gpu_time_per_pass_below(1s)),
              HasSubstr("its passes are not known; varve::layer_of(report, {…}) knows them"));
  mlp.per_pass = {100, 400, 300};
  EXPECT_THAT(mlp, varve::gpu_time_per_pass_below(301ns));
  EXPECT_THAT(failure_of(mlp, varve::gpu_time_per_pass_below(300ns)),
              HasSubstr("GPU time 300 ns a pass (median of 3 passes, 100 ns to 400 ns, mean 266.667 ns): "
                        "0 ns (0 %) above the limit"));
}

TEST_F(matchers, tell_the_next_step_of_a_finding_on_the_layer) {
  varve::finding slow;
  slow.layer = static_cast<std::uint32_t>(layer("mlp").get() - report.layers.data());
  slow.next_step = "ncu --kernel-name gemm";
  report.findings = {slow};
  EXPECT_THAT(failure_of(layer("mlp"), varve::gpu_time_below(1us)),
              HasSubstr("\n    next: ncu --kernel-name gemm"));
  EXPECT_THAT(failure_of(layer("attention"), varve::gpu_time_below(1us)), Not(HasSubstr("gemm")));
}

TEST_F(matchers, launches_are_counted_a_call) {
  EXPECT_THAT(layer("mlp"), varve::launches_at_most(2));
  EXPECT_THAT(passes(), varve::launches_at_most(3));  // 1 of attention and 2 of the MLP
  EXPECT_EQ(failure_of(passes(), varve::launches_at_most(2.5)),
            "Value of: value\n"
            "Expected: at most 2.5 launches a call (of a phase: a pass)\n"
            "  Actual: decode: 3 passes, "
            "9 launches in 3 passes, 3 a pass\n"
            "    most in: layer 0 / mlp 6 (gemm), layer 0 / attention 3 (flash_fwd)\n"
            "    next: fuse kernels, or capture them in a graph, whose launch counts one");
}

TEST_F(matchers, copies_allocations_and_synchronisations_are_counted) {
  for (const auto& none : {varve::no_copies(), varve::no_allocations(), varve::no_synchronisation()}) {
    EXPECT_THAT(layer("layer"), none);
  }
  EXPECT_EQ(failure_of(passes(), varve::no_copies()),
            "Value of: value\n"
            "Expected: no copies\n"
            "  Actual: decode: 3 passes, "
            "3 copies of 12288 bytes in 3 passes\n"
            "    most in: sampling 3\n"
            "    next: keep the data on the device, or copy before the passes");
  EXPECT_THAT(failure_of(layer("sampling"), varve::no_allocations()),
              HasSubstr("Expected: no allocations\n"
                        "  Actual: decode: sampling, "
                        "3 allocations in 3 calls\n"
                        "    most in: sampling 3\n"
                        "    next: allocate before the passes, or from a pool"));
  EXPECT_THAT(failure_of(*layer("sampling"), varve::no_synchronisation()),
              HasSubstr("Expected: no synchronisations\n"
                        "  Actual: decode: sampling (of type varve::v0::row), 3 synchronisations in 3 calls\n"
                        "    most in: sampling 3\n"
                        "    next: order streams by events, and wait once after the pass"));
}

TEST_F(matchers, a_bound_is_the_verdict) {
  const varve::row row = judged_row(varve::bound::memory, 0.8, "memory-bound: 4 of 5 TB/s");
  EXPECT_THAT(row, varve::bound_by(varve::bound::memory));
  EXPECT_EQ(failure_of(row, varve::bound_by(varve::bound::compute)),
            "Value of: value\n"
            "Expected: bound by compute\n"
            "  Actual: decode: mlp 2 (of type varve::v0::row), bound by memory: memory-bound: 4 of 5 TB/s\n"
            "    next: print the report (std::cout << report), which shows its parts and kernels");
  for (varve::row& r : report.layers) {
    r.verdict.by = varve::bound::memory;
  }
  EXPECT_THAT(
      failure_of(layer("mlp"), varve::bound_by(varve::bound::compute)),
      HasSubstr("\n    most in: layer 0 / mlp 600 µs in all (gemm)\n    next: see whether kernels changed"));
  EXPECT_THAT(
      failure_of(judged_row(varve::bound::unknown, 0, "withheld: work is missing"),
                 varve::bound_by(varve::bound::compute)),
      HasSubstr("withheld: work is missing\n"
                "    next: declare the work (layer.work(…)) and see that the device's ceilings are known "
                "(analyze_options::ceilings)"));
}

TEST_F(matchers, efficiency_is_the_share_of_the_roof) {
  const varve::row row = judged_row(varve::bound::memory, 0.75, "memory-bound");
  EXPECT_THAT(row, varve::efficiency_at_least(0.75));
  EXPECT_EQ(failure_of(row, varve::efficiency_at_least(0.8)),
            "Value of: value\n"
            "Expected: at least 80 % of the roof\n"
            "  Actual: decode: mlp 2 (of type varve::v0::row), 75 % of the roof (18.75 % of compute, 75 % of "
            "memory): memory-bound\n"
            "    next: print the report (std::cout << report), which shows its parts and kernels");
  EXPECT_THAT(failure_of(layer("mlp"), varve::efficiency_at_least(0.1)),
              HasSubstr("its share of the roof is not known: "));
}

TEST_F(matchers, an_overhead_ratio_is_of_passes) {
  EXPECT_THAT(passes(), varve::overhead_ratio_below(2.4));
  // Wall 3 × 1000 µs, busy 1272 µs: 2.35849. In each pass the device waits for launching calls in [10, 20)
  // and [310, 320) and for the copying one in [610, 620), while the host waits for 70 and allocates for 10;
  // work is submitted and has not begun in [20, 30) and [320, 330). The rest of the 1728 µs is the host's
  // own: 1728 − 3 × (30 + 70 + 10 + 20) = 1338.
  EXPECT_EQ(
      failure_of(passes(), varve::overhead_ratio_below(1.2)),
      "Value of: value\n"
      "Expected: an overhead ratio (wall ÷ GPU busy) below 1.2\n"
      "  Actual: decode: 3 passes, overhead ratio 2.35849 (wall 3 ms, GPU busy 1.272 ms)\n"
      "    idle: starved while the host launched 90 µs, starved while the host synchronised 210 µs, starved "
      "while the host allocated 30 µs, starved while the host ran its own code 1.338 ms, device gap 60 µs\n"
      "    next: a profile of the host between launches");
  EXPECT_THAT(failure_of(layer("mlp"), varve::overhead_ratio_below(9)),
              HasSubstr("an overhead ratio is of passes, not of a layer: varve::phase_of(report, …)"));
}

TEST_F(matchers, attributed_is_what_belongs_to_a_layer) {
  EXPECT_THAT(report, varve::attributed_at_least(1));
  varve::trace_builder built;
  const auto pass = built.pass(decode, {0us, 100us});
  const auto layer = built.layer(pass, "mlp", {0us, 50us});
  built.kernel(layer, "gemm", {0us, 1us}, {1us, 31us});
  built.kernel(pass, "fill", {50us, 51us}, {60us, 70us});
  EXPECT_EQ(failure_of(built.analyze(), varve::attributed_at_least(0.99)),
            "Value of: value\n"
            "Expected: at least 99 % of the GPU time in a layer\n"
            "  Actual: report of trace_builder: 1 phase, 2 layers (of type varve::v0::report), "
            "75 % of the GPU time belongs to a layer\n"  // 30 of 40 µs
            "    in none: decode 10 µs\n"
            "    next: mark what runs outside of layers; varve::arm() before graphs are captured");
}

TEST_F(matchers, kernels_are_compared_by_name_and_number) {
  EXPECT_THAT(report, varve::same_kernels_as(report));
  EXPECT_THAT(passes(), varve::same_kernels_as(report));
  EXPECT_THAT(layer("layer"), varve::same_kernels_as(report));
  EXPECT_THAT(*layer("layer"), varve::same_kernels_as(report));  // by its own numbers alone

  varve::trace_builder built;  // one pass: gemm once, and another attention
  const auto pass = built.pass(decode, {0us, 100us});
  const auto layer = built.layer(pass, "layer", 0, {0us, 100us});
  const auto attention = built.layer(layer, "attention", {0us, 50us});
  built.kernel(attention, "naive_attention", {0us, 1us}, {1us, 31us});
  const auto mlp = built.layer(layer, "mlp", {50us, 100us});
  built.kernel(mlp, "gemm", {50us, 51us}, {60us, 70us});
  varve::report other = report_of(built);
  EXPECT_EQ(
      failure_of(other, varve::same_kernels_as(report)),
      "Value of: value\n"
      "Expected: the same kernels, as often in a pass, as the report of trace_builder\n"
      "  Actual: report of trace_builder: 1 phase, 3 layers (of type varve::v0::report), kernels differ:\n"
      "    gone: decode: flash_fwd, was 1 a pass\n"
      "    changed: decode: gemm, 1 a pass, was 2 a pass\n"
      "    new: decode: naive_attention, 1 a pass\n"
      "    next: see whether the build, a library or its heuristics changed; the other report is the "
      "expectation");
  for (varve::row& r : other.layers) {
    r.main_kernel = r.label == "attention" ? "naive_attention" : "";
  }
  EXPECT_THAT(failure_of(varve::layer_of(other, {"attention"}), varve::same_kernels_as(report)),
              HasSubstr("gone: decode: layer 0 / attention, main kernel flash_fwd\n"
                        "    new: decode: layer 0 / attention, main kernel naive_attention\n"));
  EXPECT_THAT(failure_of(varve::layer_of(other, {"mlp"}), varve::same_kernels_as(report)),
              HasSubstr("changed: decode: layer 0 / mlp, kernels, 1 a call, was 2 a call\n"));
  EXPECT_THAT(failure_of(report.phases.front(), varve::same_kernels_as(report)),
              HasSubstr("varve::phase_of(report, …) knows them"));
}

TEST_F(matchers, another_report_without_a_source_has_no_name) {
  varve::report other = report;
  other.source.clear();
  other.kernels.clear();
  EXPECT_THAT(failure_of(report, varve::same_kernels_as(other)),
              HasSubstr("Expected: the same kernels, as often in a pass, as the other report\n"));
}

TEST_F(matchers, kernels_are_told_apart_by_all_of_their_name) {
  // Names of templates differ beyond what a message shows of them.
  const std::string start(350, 'k');
  const auto named = [&](const char* end) {
    varve::report r = report;
    for (varve::row& k : r.kernels) {
      k.path = k.path == "gemm" ? start + end : k.path;
    }
    for (varve::row& l : r.layers) {
      l.main_kernel = l.label == "mlp" ? start + end : l.main_kernel;
    }
    return r;
  };
  const varve::report now = named("<64>");
  const varve::report base = named("<128>");
  EXPECT_THAT(now, varve::same_kernels_as(now));
  EXPECT_THAT(failure_of(now, varve::same_kernels_as(base)), HasSubstr("gone: decode: kkk"));
  EXPECT_THAT(failure_of(varve::layer_of(now, {"mlp"}), varve::same_kernels_as(base)),
              HasSubstr("gone: decode: layer 0 / mlp, main kernel kkk"));
  EXPECT_THAT(failure_of(now, varve::same_kernels_as(base)), HasSubstr("kkk<128>, was"))
      << "what differs is shown";
}

TEST_F(matchers, a_phase_that_the_other_report_lacks_is_a_difference) {
  varve::trace_builder both = three_passes();
  const auto pass = both.pass(varve::prefill, {4ms, 5ms});
  both.kernel(both.layer(pass, "mlp", {4ms, 5ms}), "gemm", {4ms, 4100us}, {4200us, 4300us});
  const varve::report more = report_of(both);
  EXPECT_THAT(failure_of(report, varve::same_kernels_as(more)),
              HasSubstr("gone: prefill: gemm, was 1 a pass"));
  EXPECT_THAT(failure_of(more, varve::same_kernels_as(report)), HasSubstr("new: prefill: gemm, 1 a pass"));
  EXPECT_THAT(varve::phase_of(more, decode), varve::same_kernels_as(report));
  EXPECT_THAT(failure_of(varve::phase_of(more, varve::prefill), varve::same_kernels_as(report)),
              HasSubstr("nothing to compare with: the other report has no prefill"));
}

TEST_F(matchers, a_report_matches_when_each_phase_that_serves_does) {
  varve::trace_builder built = three_passes();
  const auto pass = built.pass(varve::warm_up, {4ms, 5ms});
  const auto loads = built.layer(pass, "weights", {4ms, 5ms});
  for (int i = 0; i < 9; ++i) {
    built.kernel(loads, "fill", {4ms, 4100us}, {4200us, 4300us});
  }
  const varve::report warm = built.analyze();
  EXPECT_THAT(warm, varve::launches_at_most(3));
  EXPECT_THAT(failure_of(warm, varve::launches_at_most(2)),
              HasSubstr("decode: 9 launches in 3 passes, 3 a pass\n"));
}

TEST_F(matchers, devices_and_batches_are_told_apart) {
  varve::trace_builder built = three_passes();
  built.kernel(0, "gather", {700us, 701us}, {710us, 720us}, {1, 4});
  const varve::report two = built.analyze();
  EXPECT_THAT(two, varve::same_kernels_as(two));
  EXPECT_THAT(failure_of(two, varve::same_kernels_as(report)),
              HasSubstr("    new: decode on device 1: gather, 1 a pass\n"));
  varve::row row = judged_row(varve::bound::memory, 0.5, "");
  row.batch = "decode 16";
  const varve::report none;
  EXPECT_THAT(failure_of(row, varve::same_kernels_as(none)),
              HasSubstr("the other report has no decode: mlp 2 (decode 16)"));
}

TEST_F(matchers, records_that_are_missing_fail) {
  const varve::report whole = report;  // 12 activities: 1 % of them is less than one
  report.quality.losses = {{"activity records dropped by CUPTI", "cupti", 1'000'000}};
  const std::string lost = "records are missing, more than 1 % of the activities: activity records dropped";
  EXPECT_THAT(failure_of(layer("attention"), varve::gpu_time_below(1s)), HasSubstr(lost));
  EXPECT_THAT(failure_of(passes(), varve::no_allocations()), HasSubstr(lost));
  EXPECT_THAT(failure_of(report, varve::launches_at_most(99)), HasSubstr(lost));
  report = whole;
  report.quality.attributed = 0.2;
  const std::string few = "only 20 % of the GPU time belongs to a layer, 95 % are needed";
  EXPECT_THAT(failure_of(layer("mlp"), varve::gpu_time_below(1s)), HasSubstr(few));
  EXPECT_THAT(failure_of(layer("mlp"), varve::no_copies()), HasSubstr(few));
  EXPECT_THAT(passes(), varve::gpu_time_below(1s)) << "passes need no layers";
  report = whole;
  report.phases.front().total.kernels = 5;  // and 3 copies, by the 9 launches, which 8 are too few for
  report.phases.front().total.launches = 9;
  EXPECT_THAT(failure_of(passes(), varve::gpu_time_below(1s)),
              HasSubstr("9 launches ran 8 kernels, copies and sets: the records of others are missing"));
}

TEST_F(matchers, what_was_not_recorded_does_not_pass) {
  varve::trace_builder built;
  built.layer(built.pass(decode, {0us, 9us}), "mlp", {0us, 8us});
  built.records().collectors.push_back(
      {"cupti", "", varve::collector_state::unavailable, "no libcupti was found"});
  const varve::report blind = built.analyze();
  const std::string why = "nothing that ran on a device was recorded\n    cupti: no libcupti was found";
  EXPECT_THAT(failure_of(blind, varve::no_copies()), HasSubstr(why));
  EXPECT_THAT(failure_of(varve::phase_of(blind, decode), varve::launches_at_most(9)), HasSubstr(why));
  EXPECT_THAT(failure_of(varve::layer_of(blind, {"mlp"}), varve::gpu_time_below(1s)), HasSubstr(why));
  EXPECT_THAT(failure_of(blind.find({"mlp"}), varve::no_copies()),
              HasSubstr("nothing that it ran was recorded"));
  EXPECT_THAT(failure_of(blind, varve::attributed_at_least(0)),
              HasSubstr("nothing that ran on a device was recorded\n    cupti"));
  EXPECT_THAT(
      failure_of(varve::report{}, varve::no_copies()),
      HasSubstr("report of nothing: 0 phases, 0 layers (of type varve::v0::report), it has no passes but "
                "such of load, capture and warm-up"));
}

TEST_F(matchers, calls_that_nobody_recorded_are_not_none) {
  varve::trace_builder built = three_passes();
  varve::trace stripped = built.records();
  stripped.calls = {};
  const varve::report blind = varve::analyze(stripped);
  const std::string why =
      "the launches of 12 of 12 activities were not recorded";  // 3 kernels, 1 copy a pass
  for (const auto& none : {varve::no_allocations(), varve::no_synchronisation()}) {
    EXPECT_THAT(failure_of(blind, none), HasSubstr(why));
  }
  EXPECT_THAT(failure_of(varve::phase_of(blind, decode), varve::launches_at_most(9)), HasSubstr(why));
  // Of a report in which little is missing, a phase may miss all of its own.
  report.phases.front().total.launches = report.phases.front().total.allocations = 0;
  EXPECT_THAT(failure_of(report, varve::no_allocations()),
              HasSubstr("kernels of decode ran, and none of their launches was recorded"));
  EXPECT_THAT(failure_of(layer("mlp"), varve::no_allocations()), HasSubstr("none of their launches"));
  // A row by itself may also be inside of a graph, whose launch is counted outside.
  varve::row mlp = *layer("mlp");
  mlp.inclusive.launches = 0;
  EXPECT_THAT(failure_of(mlp, varve::launches_at_most(9)),
              HasSubstr("it ran kernels without a launch; varve::layer_of(report, {…}) says whether launches "
                        "were recorded"));
}

TEST_F(matchers, copies_that_may_be_missing_are_not_none) {
  EXPECT_THAT(layer("mlp"), varve::no_copies());
  report.phases.front().partition.unrecorded = 151'000;  // of 3 ms: more than a twentieth
  EXPECT_THAT(failure_of(layer("mlp"), varve::no_copies()),
              HasSubstr("what the GPU did is not recorded for 151 µs of the passes' 3 ms"));
}

TEST_F(matchers, a_layer_that_ran_nothing_has_no_gpu_time_to_be_below_a_limit) {
  varve::trace_builder built = three_passes();
  built.layer(0, "empty", {900us, 950us});
  const varve::report with_empty = built.analyze();
  EXPECT_THAT(failure_of(varve::layer_of(with_empty, {"empty"}), varve::gpu_time_below(1s)),
              HasSubstr("nothing of it ran on a device"));
  EXPECT_THAT(varve::layer_of(with_empty, {"empty"}), varve::no_copies());
}

TEST_F(matchers, a_time_of_which_records_are_missing_does_not_pass) {
  report.phases.front().partition.unrecorded = 151'000;  // of 3 ms: more than a twentieth
  EXPECT_THAT(failure_of(layer("mlp"), varve::gpu_time_below(1s)),
              HasSubstr("what the GPU did is not recorded for 151 µs of the passes' 3 ms"));
  report.phases.front().partition.unrecorded = 150'000;
  EXPECT_THAT(layer("mlp"), varve::gpu_time_below(1s));
}

TEST_F(matchers, combine_with_those_of_googlemock) {
  EXPECT_THAT(layer("mlp"), testing::AllOf(varve::gpu_time_below(1s), Not(varve::launches_at_most(1))));
  EXPECT_THAT(report.select({"mlp"}), testing::Each(varve::no_copies()));
  EXPECT_THAT(
      failure_of(layer("mlp"), Not(varve::launches_at_most(2))),
      HasSubstr("Expected: not at most 2 launches a call (of a phase: a pass)\n  Actual: decode: layer 0 / "
                "mlp, 6 launches in 3 calls, 2 a call"));
}

TEST_F(matchers, names_from_files_do_not_reach_a_terminal_as_they_are) {
  varve::row row = judged_row(varve::bound::memory, 0.5, "w\x1b[31m");
  row.path = "mlp\x1b[31m " + std::string(200, 'x');
  const std::string told = failure_of(row, varve::bound_by(varve::bound::compute));
  EXPECT_EQ(told.find('\x1b'), std::string::npos);
  EXPECT_THAT(told, HasSubstr("decode: mlp?[31m xxx"));
  EXPECT_THAT(told, Not(HasSubstr(std::string(100, 'x'))));
}

}  // namespace

}  // namespace varve_test

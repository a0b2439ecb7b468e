// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/compare.hpp>

#include "compare/made_report.hpp"
#include "formats/table/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing_support::made_report;
using varve::comparison;
using varve::contribution;
using varve::outcome;

made_report decoder(varve::time_ns attention = 100'000, varve::time_ns mlp = 200'000) {
  made_report r;
  for (const std::string i : {"0", "1"}) {
    r.add("layer " + i).add("layer " + i + " / attention", attention).add("layer " + i + " / mlp", mlp);
  }
  return r;
}

const varve::row_change& row_of(const comparison& c, const std::string& path) {
  for (const varve::row_change& r : c.rows) {
    if (r.path == path) {
      return r;
    }
  }
  throw std::runtime_error{"no " + path};
}

const varve::comparability_reason* reason(const comparison& c, const std::string& what) {
  for (const auto& r : c.reasons) {
    if (r.what == what) {
      return &r;
    }
  }
  return nullptr;
}

TEST(compare, a_report_with_itself_has_no_difference) {
  const varve::report r = decoder().make();
  const comparison c = compare(r, r);
  EXPECT_TRUE(c.no_difference());
  EXPECT_TRUE(c.comparable());
  EXPECT_EQ(c.score, 1);
  EXPECT_THAT(c.reasons, testing::IsEmpty());
  for (const auto& row : c.rows) {
    EXPECT_EQ(row.gpu_time.verdict, outcome::same) << row.path;
  }
  EXPECT_THAT(to_table(c), HasSubstr("No difference."));
}

// Every layer is the same, but steps take 0.6 or 1.4 of what they did.
TEST(compare, a_step_that_cannot_be_told_is_not_called_no_difference) {
  const varve::report base = decoder().make();
  varve::report fresh = base;
  for (std::size_t i = 0; i < fresh.phases[0].samples.step.size(); ++i) {
    fresh.phases[0].samples.step[i] = i % 2 == 0 ? 420'000 : 980'000;
  }
  const comparison c = compare(base, fresh);
  EXPECT_EQ(c.phases[0].step.verdict, outcome::inconclusive);
  EXPECT_FALSE(c.no_difference());
  EXPECT_TRUE(c.inconclusive());
  EXPECT_THAT(to_table(c), HasSubstr("No difference can be told from noise."));
}

TEST(compare, nothing_in_common_is_not_called_no_difference) {
  const comparison c = compare(varve::report{}, varve::report{});
  EXPECT_FALSE(c.no_difference());
  EXPECT_TRUE(c.inconclusive());
  EXPECT_THAT(to_table(c), Not(HasSubstr("No difference")));
}

TEST(compare, other_kernels_or_work_in_the_same_time_are_a_difference) {
  made_report base = decoder();
  base.kernel("gemm", 4, 128, 50'000);
  made_report fresh = decoder();
  fresh.kernel("gemm", 2, 128, 50'000);
  const comparison kernels = compare(base.make(), fresh.make());
  EXPECT_FALSE(kernels.no_difference());
  EXPECT_FALSE(kernels.inconclusive());
  EXPECT_THAT(to_table(kernels),
              HasSubstr("decode: step the same. 0 layers worse, 0 better, 6 the same; 1 kernel changed."));
  const comparison work = compare(decoder().work("layer 0 / mlp", {5000, 1000, 0, 0, {}, 0, 0}).make(),
                                  decoder().work("layer 0 / mlp", {5000, 500, 0, 0, {}, 0, 0}).make());
  EXPECT_FALSE(work.no_difference());
  EXPECT_THAT(to_table(work),
              AllOf(HasSubstr("0 layers worse, 0 better, 6 the same; 1 layer with other work."),
                    HasSubstr("6 the same; 5 of them not listed")));
}

// In every fourth of 40 passes MLP takes 1.4 ms instead of 0.2: 0.5 ms in the mean, while the median stays.
TEST(compare, what_the_mean_alone_shows_is_told_with_the_mean) {
  made_report r{40};
  const varve::report base = r.add("mlp", 200'000).make();
  varve::report fresh = base;
  varve::row& mlp = fresh.layers[0];
  for (std::size_t i = 0; i < 40; i += 4) {
    mlp.per_pass[i] += 1'200'000;
  }
  mlp.inclusive.gpu_time = mlp.exclusive.gpu_time = 40 * 500'000;
  const comparison c = compare(base, fresh);
  EXPECT_EQ(row_of(c, "mlp").gpu_time.verdict, outcome::worse);
  EXPECT_THAT(to_table(c), HasSubstr("mean +150.0 %"));
}

// A median of −13 % whose interval holds 0, beside a mean of −11.5 % whose interval does not.
TEST(compare, a_mean_that_tells_stands_beside_a_median_that_does_not) {
  comparison c = compare(decoder().make(), decoder().make());
  varve::time_change& step = c.phases[0].step;
  step.verdict = outcome::better;
  step.relative = -0.13;
  step.low = -0.301;
  step.high = 0.082;
  step.p = 0.19;
  step.mean_relative = -0.115;
  step.mean_low = -0.172;
  step.mean_high = -0.054;
  step.mean_p = 0.0015;
  EXPECT_THAT(to_table(c), AllOf(HasSubstr("step -11.5 % in the mean, better"),
                                 HasSubstr("mean -11.5 % (-17.2 % to -5.4 %)")));
  step.high = -0.01;
  EXPECT_THAT(to_table(c), HasSubstr("step -13.0 %, better"));
}

// MLP 200 → 220 µs in each of two layers: +10 %; layers 300 → 320 µs, +6.7 %; the step of 700 µs, of which
// the device starves for 100, +40 µs.
TEST(compare, names_what_got_slower_and_what_made_the_total) {
  const comparison c = compare(decoder().make(), decoder(100'000, 220'000).make());
  EXPECT_FALSE(c.no_difference());
  EXPECT_EQ(row_of(c, "layer 0 / mlp").gpu_time.verdict, outcome::worse);
  EXPECT_NEAR(row_of(c, "layer 0 / mlp").gpu_time.relative, 0.1, 1e-3);
  EXPECT_EQ(row_of(c, "layer 0 / attention").gpu_time.verdict, outcome::same);
  ASSERT_EQ(c.phases.size(), 1U);
  const varve::phase_change& p = c.phases[0];
  EXPECT_EQ(p.step.verdict, outcome::worse);
  EXPECT_DOUBLE_EQ(p.base_wall, 700'000);
  EXPECT_DOUBLE_EQ(p.fresh_wall, 740'000);
  EXPECT_EQ(c.rows[p.contributions[0].row].label, "mlp");
  EXPECT_DOUBLE_EQ(p.contributions[0].change(), 20'000);
  EXPECT_DOUBLE_EQ(p.contributions[1].change(), 20'000);
  double sum = 0;
  double base = 0;
  for (const contribution& one : p.contributions) {
    sum += one.change();
    base += one.base;
  }
  EXPECT_NEAR(sum, 40'000, 1e-6);
  EXPECT_NEAR(base, 700'000, 1e-6);
  // Both layers' MLP together: 400 → 440 µs.
  const auto label =
      std::find_if(c.labels.begin(), c.labels.end(), [](const auto& l) { return l.label == "mlp"; });
  ASSERT_NE(label, c.labels.end());
  EXPECT_EQ(label->rows, 2);
  EXPECT_NEAR(label->gpu_time.base_mean, 400'000, 1e-6);
  EXPECT_EQ(label->gpu_time.verdict, outcome::worse);
  EXPECT_THAT(to_table(c),
              AllOf(HasSubstr("decode: step +5.7 %, worse. 4 layers worse, 0 better, 2 the same."),
                    HasSubstr("What made +40.0 µs a pass"), HasSubstr("mlp (2)")));
}

TEST(compare, samples_at_other_strides_are_not_paired) {
  const varve::report base = decoder().make();
  varve::report fresh = base;
  fresh.phases[0].samples.stride = 2;
  EXPECT_TRUE(row_of(compare(base, base), "layer 0 / mlp").gpu_time.paired);
  const comparison c = compare(base, fresh);
  EXPECT_FALSE(c.phases[0].step.paired);
  EXPECT_FALSE(row_of(c, "layer 0 / mlp").gpu_time.paired);
  for (const varve::label_change& l : c.labels) {
    EXPECT_FALSE(l.gpu_time.paired);
  }
}

TEST(compare, is_the_same_every_time) {
  const varve::report base = decoder().make();
  const varve::report fresh = decoder(101'000, 203'000).make();
  EXPECT_EQ(to_table(compare(base, fresh)), to_table(compare(base, fresh)));
}

TEST(compare, contributions_add_up_whatever_was_added_removed_or_wrapped) {
  made_report base = decoder();
  base.add("head", 50'000);
  made_report fresh;
  fresh.add("model", 7'000).add("model / layer 0", 3'000).add("model / layer 0 / attention", 90'000);
  fresh.add("model / layer 0 / moe", 250'000).add("model / layer 0 / router", 5'000).add("sampler", 20'000);
  const comparison c = compare(base.make(), fresh.make());
  const varve::phase_change& p = c.phases[0];
  double sum = 0;
  for (const contribution& one : p.contributions) {
    sum += one.change();
  }
  EXPECT_NEAR(sum, p.fresh_wall - p.base_wall, 1e-6);
  EXPECT_NEAR(p.base_wall, 750'000, 1e-6);   // 2 · 300 + 50 + 100 starved
  EXPECT_NEAR(p.fresh_wall, 475'000, 1e-6);  // 7 + 3 + 90 + 250 + 5 + 20 + 100
}

TEST(compare, without_samples_tells_no_change_and_says_so) {
  const comparison c = compare(decoder().make(false), decoder(101'000, 230'000).make(false));
  EXPECT_EQ(row_of(c, "layer 0 / attention").gpu_time.verdict, outcome::same);
  EXPECT_EQ(row_of(c, "layer 0 / mlp").gpu_time.verdict, outcome::inconclusive);
  EXPECT_NEAR(row_of(c, "layer 0 / mlp").gpu_time.relative, 0.15, 1e-12);
  EXPECT_FALSE(row_of(c, "layer 0 / mlp").gpu_time.has_interval);
  ASSERT_NE(reason(c, "samples"), nullptr);
  EXPECT_THAT(reason(c, "samples")->text,
              HasSubstr("what changed by more than 2.0 % is not told from chance"));
  EXPECT_TRUE(c.comparable());
}

TEST(compare, keeps_repeated_runs_apart) {
  std::vector<varve::report> base;
  std::vector<varve::report> fresh;
  for (const varve::time_ns off : {-4'000, 0, 5'000}) {
    base.push_back(decoder(100'000, 200'000 + off).make());
    fresh.push_back(decoder(100'000, 202'000 - off).make());
  }
  const comparison c = compare(base, fresh);
  EXPECT_EQ(c.base_runs, 3);
  const varve::time_change& mlp = row_of(c, "layer 0 / mlp").gpu_time;
  EXPECT_EQ(mlp.base_runs, 3);
  EXPECT_EQ(mlp.base_passes, 60);
  // Each run's passes tell its time to a thousandth, but runs of one side differ by 2 %: 1 % is no change.
  EXPECT_EQ(mlp.verdict, outcome::inconclusive);
  EXPECT_LT(mlp.low, 0);
  EXPECT_GT(mlp.high, 0.02);
}

TEST(compare, other_devices_models_and_quality_are_refused) {
  const varve::report base = decoder().make();
  varve::report other = base;
  other.devices[0].device.name = "GPU Y";
  EXPECT_FALSE(compare(base, other).comparable());
  EXPECT_THAT(reason(compare(base, other), "device")->text, HasSubstr("GPU X against GPU Y"));

  other = base;
  other.quality.attributed = 0.5;
  EXPECT_THAT(reason(compare(base, other), "quality")->text, HasSubstr("100.0 % against 50.0 %"));
  EXPECT_FALSE(compare(base, other).comparable());

  other = base;
  varve::report named = base;
  for (auto* const r : {&other, &named}) {
    r->phases[0].model = r == &other ? "llama" : "qwen";
    for (varve::row& layer : r->layers) {
      layer.model = r->phases[0].model;
    }
  }
  EXPECT_FALSE(compare(named, other).comparable());
  EXPECT_THAT(reason(compare(named, other), "model")->text, HasSubstr("qwen against llama"));
  EXPECT_TRUE(compare(base, other).comparable());  // not every source knows the model

  other = base;
  other.devices[0].ceilings = varve::ceilings{};
  other.devices[0].ceilings->clock = 1.98e9;
  varve::report slower = other;
  slower.devices[0].ceilings->clock = 1.2e9;
  EXPECT_FALSE(compare(slower, other).comparable());
  EXPECT_THAT(to_table(compare(slower, other)),
              HasSubstr("! not comparable: the device's clock: 1,200 MHz against"));
}

// As the driver tells them, without any ceilings.
TEST(compare, other_clocks_of_the_device_are_refused) {
  varve::report base = decoder().make();
  base.devices[0].device.clock = 1'980'000'000;
  base.devices[0].device.memory_clock = 2'619'000'000;
  EXPECT_TRUE(compare(base, base).comparable());
  EXPECT_TRUE(compare(base, decoder().make()).comparable());  // not every source knows them
  varve::report other = base;
  other.devices[0].device.clock = 1'755'000'000;
  EXPECT_FALSE(compare(base, other).comparable());
  EXPECT_THAT(reason(compare(base, other), "clock")->text,
              HasSubstr("the device's highest clock: 1,980 MHz against 1,755 MHz"));
  other = base;
  other.devices[0].device.memory_clock = 1'593'000'000;
  EXPECT_FALSE(compare(base, other).comparable());
  EXPECT_THAT(reason(compare(base, other), "clock")->text, HasSubstr("clock of the device's memory"));
}

// The clock of each run settles elsewhere: beyond 2 % it is told, beyond 10 % refused.
TEST(compare, clocks_that_gauges_read_may_differ_by_a_tenth) {
  const auto at = [](double hertz, bool read) {
    varve::report r = decoder().make();
    r.devices[0].ceilings = varve::ceilings{};
    r.devices[0].ceilings->clock = hertz;
    if (read) {
      r.devices[0].gauges.emplace_back().what = varve::gauge_kind::sm_clock;
    }
    return r;
  };
  EXPECT_EQ(reason(compare(at(2e9, true), at(1.97e9, true)), "clock"), nullptr);
  const comparison told = compare(at(2e9, true), at(1.85e9, true));
  EXPECT_TRUE(told.comparable());
  EXPECT_THAT(reason(told, "clock")->text, HasSubstr("the device's clock: 2,000 MHz against 1,850 MHz"));
  EXPECT_FALSE(compare(at(2e9, true), at(1.75e9, true)).comparable());
  EXPECT_FALSE(compare(at(2e9, false), at(1.97e9, false)).comparable());
  // The published clock is not the run's.
  EXPECT_EQ(reason(compare(at(2e9, true), at(1.2e9, false)), "clock"), nullptr);
}

// A trace without its calls: launches, synchronisations and what follows from them are zeros that nobody
// counted.
TEST(compare, activities_without_their_launches_are_no_ground_to_compare_calls) {
  varve::report base = decoder().make();
  base.quality.activities = base.quality.matched = 1000;
  varve::report stripped = base;
  stripped.quality.matched = 0;
  stripped.quality.unmatched = 1000;
  EXPECT_FALSE(compare(base, stripped).comparable());
  EXPECT_THAT(reason(compare(base, stripped), "quality")->text,
              HasSubstr("activities whose launch is not in the trace: 0 % against 100.0 %"));
  const comparison both = compare(stripped, stripped);
  EXPECT_TRUE(both.comparable());
  EXPECT_LT(both.score, 1);
  stripped.quality.unmatched = 10;  // 1 % were launched before the window
  EXPECT_THAT(compare(base, stripped).reasons, testing::IsEmpty());
}

TEST(compare, every_run_of_both_sides_is_looked_at) {
  const varve::report good = decoder().make();
  varve::report other = good;
  other.devices[0].device.name = "GPU Y";
  EXPECT_FALSE(varve::compare({good, other}, {good}).comparable());
  EXPECT_FALSE(varve::compare({good}, {good, other}).comparable());
  other = good;
  other.quality.attributed = 0.5;
  EXPECT_NE(reason(varve::compare({good, other}, {good}), "quality"), nullptr);

  varve::report llama = good;
  varve::report qwen = good;
  llama.phases[0].model = "llama";
  qwen.phases[0].model = "qwen";
  EXPECT_THAT(reason(varve::compare({llama, qwen}, {llama}), "model")->text, HasSubstr("llama against qwen"));
  EXPECT_FALSE(varve::compare({good, llama}, {good, qwen}).comparable());

  varve::report bare = good;
  bare.phases[0].phase = "prefill";
  const comparison c = varve::compare({good, good, bare}, {good, good});
  EXPECT_TRUE(c.comparable());
  EXPECT_THAT(reason(c, "phases")->text, HasSubstr("decode: 1 of 3 runs of the base has no such passes"));
}

TEST(compare, ranks_and_other_batches_are_warned_of) {
  const varve::report base = decoder().make();
  varve::report one = base;
  varve::report other = base;
  one.rank = 0;
  other.rank = 1;
  one.world_size = other.world_size = 8;
  const comparison ranks = compare(one, other);
  EXPECT_TRUE(ranks.comparable());
  EXPECT_LT(ranks.score, 1);
  EXPECT_THAT(reason(ranks, "ranks")->text, HasSubstr("ranks 0 and 1 of 8"));
  other.world_size = 4;
  EXPECT_FALSE(compare(one, other).comparable());

  other = base;
  other.phases[0].decode_tokens *= 2;
  EXPECT_THAT(reason(compare(base, other), "batch")->text, HasSubstr("1.00 tokens a pass against 2.00"));
}

TEST(compare, tells_kernels_that_came_went_or_run_otherwise) {
  made_report base = decoder();
  base.kernel("gemm", 4, 128, 50'000)
      .kernel("old", 2, 64, 20'000)
      .kernel("norm", 4, 8, 1'000)
      .kernel("copy", 1, 1, 100);
  made_report fresh = decoder();
  fresh.kernel("gemm", 4, 256, 50'000)
      .kernel("norm", 2, 8, 1'000)
      .kernel("new", 2, 64, 30'000)
      .kernel("copy", 1, 1, 100);
  const comparison c = compare(base.make(), fresh.make());
  std::vector<std::string> found;
  for (const auto& k : c.kernels) {
    found.push_back(k.name + ' ' + std::to_string(static_cast<int>(k.what)));
  }
  using kind = varve::kernel_change::kind;
  const auto told = [](const char* name, kind what) {
    return name + (' ' + std::to_string(static_cast<int>(what)));
  };
  EXPECT_THAT(found, ElementsAre(told("gemm", kind::shape), told("new", kind::added),
                                 told("old", kind::removed), told("norm", kind::count)));
  EXPECT_THAT(to_table(c), HasSubstr("128×0×0 of 0×0×0 → 256×0×0 of 0×0×0"));
}

TEST(compare, a_kernel_of_another_number_and_grid_shows_both) {
  made_report base = decoder();
  base.kernel("gemm", 4, 128, 50'000);
  made_report fresh = decoder();
  fresh.kernel("gemm", 8, 256, 50'000);
  EXPECT_THAT(to_table(compare(base.make(), fresh.make())),
              HasSubstr("count; 128×0×0 of 0×0×0 → 256×0×0 of 0×0×0"));
}

TEST(compare, work_that_one_side_alone_declares_is_other_work) {
  const comparison c =
      compare(decoder().make(), decoder().work("layer 0 / mlp", {5000, 1000, 0, 0, {}, 0, 0}).make());
  EXPECT_TRUE(row_of(c, "layer 0 / mlp").work_changed);
  EXPECT_FALSE(row_of(c, "layer 1 / mlp").work_changed);
  EXPECT_THAT(to_table(c), HasSubstr("FLOPs new"));
}

/// MLP reads 1000 bytes of weights a pass, or 500.
comparison halved(varve::time_ns before, varve::time_ns then, bool samples = true) {
  made_report base;
  base.add("mlp", before).work("mlp", {5000, 1000, 0, 0, {}, 0, 0});
  made_report fresh;
  fresh.add("mlp", then).work("mlp", {5000, 500, 0, 0, {}, 0, 0});
  return compare(base.make(samples), fresh.make(samples));
}

TEST(compare, what_gains_less_than_a_fifth_by_half_the_bytes_was_not_bound_by_them) {
  using result = varve::hypothesis_check::result;
  const comparison little = halved(200'000, 190'000);
  ASSERT_EQ(little.hypotheses.size(), 1U);
  EXPECT_EQ(little.hypotheses[0].label, "mlp");
  EXPECT_EQ(little.hypotheses[0].outcome, result::not_bound);
  EXPECT_NEAR(little.hypotheses[0].speedup, 0.05, 1e-3);
  EXPECT_TRUE(row_of(little, "mlp").work_changed);
  EXPECT_THAT(to_table(little),
              AllOf(HasSubstr("mlp: half the bytes of its weights, 5.0 % less time"),
                    HasSubstr("it was not bound by reading them"), HasSubstr("weight bytes -50.0 %")));
  EXPECT_EQ(halved(200'000, 120'000).hypotheses[0].outcome, result::bound);
  // Of totals alone: 20 % within the noise floor of 2 %.
  EXPECT_EQ(halved(200'000, 160'000, false).hypotheses[0].outcome, result::undecided);
  EXPECT_THAT(compare(decoder().make(), decoder(1, 1).make()).hypotheses, testing::IsEmpty());
}

// 20 % less time, told to a thousandth by the passes of two single runs, which may differ by 2 %.
TEST(compare, a_hypothesis_is_not_decided_within_the_noise_of_single_runs) {
  using result = varve::hypothesis_check::result;
  EXPECT_EQ(halved(200'000, 157'500).hypotheses[0].outcome, result::undecided);  // 0.7875 · 1.02 > 0.8
  EXPECT_EQ(halved(200'000, 163'000).hypotheses[0].outcome, result::undecided);  // 0.815 · 0.98 < 0.8
  EXPECT_EQ(halved(200'000, 150'000).hypotheses[0].outcome, result::bound);
  EXPECT_EQ(halved(200'000, 170'000).hypotheses[0].outcome, result::not_bound);
}

// The base says: with graphs 700 µs would be 640 (600 to 650) µs.
TEST(compare, checks_predictions_whose_change_the_new_report_shows) {
  using result = varve::prediction_check::result;
  varve::report base = decoder().make();
  base.phases[0].total.launches = 20 * 50;
  varve::prediction& p = base.predictions.emplace_back();
  p.what = varve::prediction::change::graphs;
  p.phase = 0;
  p.now = 700'000;
  p.at_best = 600'000;
  p.expected = 640'000;
  p.at_worst = 650'000;
  const auto outcome_of = [&](varve::time_ns mlp, std::int64_t graphs) {
    varve::report fresh = decoder(100'000, mlp).make();
    fresh.phases[0].total.launches = fresh.phases[0].total.graph_launches = graphs;
    return compare(base, fresh);
  };
  EXPECT_THAT(outcome_of(170'000, 0).predictions, testing::IsEmpty());
  // 2 · 270 + 100 = 640 µs and 2 · 278 + 100 = 656, which is within 2 % of 650, up to 663.
  EXPECT_EQ(outcome_of(170'000, 20).predictions[0].outcome, result::held);
  EXPECT_EQ(outcome_of(178'000, 20).predictions[0].outcome, result::held);
  const comparison held = outcome_of(165'000, 20);  // 2 · 265 + 100 = 630 µs
  ASSERT_EQ(held.predictions.size(), 1U);
  EXPECT_DOUBLE_EQ(held.predictions[0].measured, 630'000);
  EXPECT_EQ(held.predictions[0].outcome, result::held);
  EXPECT_THAT(to_table(held),
              HasSubstr("decode with CUDA graphs: predicted 640 µs (600 µs to 650 µs), measured 630 µs"));
  EXPECT_EQ(outcome_of(200'000, 20).predictions[0].outcome, result::slower);
  EXPECT_EQ(outcome_of(100'000, 20).predictions[0].outcome, result::faster);
}

// 700 µs, of which 1 % was to be gained: less than the noise of 2 %.
TEST(compare, a_prediction_of_no_gain_is_checked_where_something_changed) {
  varve::report base = decoder().make();
  base.phases[0].total.launches = 20 * 50;
  varve::prediction& p = base.predictions.emplace_back();
  p.what = varve::prediction::change::graphs;
  p.phase = 0;
  p.now = 700'000;
  p.at_best = p.expected = p.at_worst = 693'000;
  const auto checked = [&](varve::time_ns mlp) {
    varve::report fresh = decoder(100'000, mlp).make();
    fresh.phases[0].total.launches = fresh.phases[0].total.graph_launches = 20;
    return compare(base, fresh).predictions;
  };
  EXPECT_THAT(checked(197'000), testing::IsEmpty());  // 2 · 297 + 100 = 694 µs: nothing came of nothing
  ASSERT_EQ(checked(100'000).size(), 1U);             // 2 · 200 + 100 = 500 µs
  EXPECT_EQ(checked(100'000)[0].outcome, varve::prediction_check::result::faster);
}

/// 20 passes of 200 µs, of which 130 would be left with graphs, and as many that take `fresh`.
varve::prediction_check graphs_predicted(const std::vector<varve::time_ns>& fresh, bool samples = true) {
  made_report r{static_cast<std::int64_t>(fresh.size())};
  varve::report base = r.add("mlp", 100'000).make();  // and 100 starved
  base.phases[0].total.launches = 20 * 50;
  varve::prediction& p = base.predictions.emplace_back();
  p.what = varve::prediction::change::graphs;
  p.phase = 0;
  p.now = 200'000;
  p.at_best = p.expected = p.at_worst = 130'000;
  varve::report then = base;
  varve::phase_row& decode = then.phases[0];
  decode.total.graph_launches = decode.total.launches;
  decode.samples.step = fresh;
  decode.wall = std::accumulate(fresh.begin(), fresh.end(), varve::time_ns{0});
  decode.step.mean = static_cast<double>(decode.wall) / static_cast<double>(fresh.size());
  if (!samples) {
    base.phases[0].samples = decode.samples = {};
  }
  return compare(base, then).predictions.at(0);
}

// 130 µs ± 2 % are 127.4 to 132.6: what lies in there with its interval came true.
TEST(compare, a_prediction_came_true_where_the_measured_interval_is_within_the_noise_of_it) {
  using result = varve::prediction_check::result;
  const std::vector<varve::time_ns> near(20, 132'000);
  EXPECT_EQ(graphs_predicted(near).outcome, result::held);
  EXPECT_THAT(graphs_predicted(near).text, HasSubstr("measured 132 µs"));
  EXPECT_THAT(graphs_predicted(near).text, HasSubstr("it came true"));
  EXPECT_EQ(graphs_predicted(std::vector<varve::time_ns>(20, 128'000)).outcome, result::held);
  EXPECT_EQ(graphs_predicted(std::vector<varve::time_ns>(20, 135'000)).outcome, result::slower);
  EXPECT_EQ(graphs_predicted(std::vector<varve::time_ns>(20, 120'000)).outcome, result::faster);
  // 112 and 152 by turns, 132 in the mean: the interval reaches beyond.
  std::vector<varve::time_ns> wide(20, 112'000);
  for (std::size_t i = 0; i < wide.size(); i += 2) {
    wide[i] = 152'000;
  }
  EXPECT_EQ(graphs_predicted(wide).outcome, result::undecided);
  EXPECT_THAT(graphs_predicted(wide).text, HasSubstr("more passes, or repeated runs, would tell"));
}

TEST(compare, a_prediction_is_not_refuted_by_what_names_no_change) {
  using result = varve::prediction_check::result;
  EXPECT_EQ(graphs_predicted(std::vector<varve::time_ns>(5, 130'000)).outcome, result::held);
  EXPECT_EQ(graphs_predicted(std::vector<varve::time_ns>(5, 150'000)).outcome, result::undecided);
  EXPECT_EQ(graphs_predicted(std::vector<varve::time_ns>(20, 132'000), false).outcome, result::held);
  EXPECT_EQ(graphs_predicted(std::vector<varve::time_ns>(20, 150'000), false).outcome, result::undecided);
}

TEST(compare, of_nothing_refuses) {
  EXPECT_FALSE(compare(std::vector<varve::report>{}, {decoder().make()}).comparable());
  const comparison c = compare(varve::report{}, varve::report{});
  EXPECT_FALSE(c.comparable());
  EXPECT_THAT(to_table(c), HasSubstr("neither side has any phase"));
}

// What a file may hold: times beyond all bounds, samples of another length, phases and parents that are not
// there, numbers that are none.
TEST(compare, hostile_reports_are_compared_like_others) {
  varve::report bad = decoder().make();
  bad.phases[0].wall = std::numeric_limits<varve::time_ns>::max();
  bad.phases[0].passes = -5;
  bad.phases[0].step.mean = std::nan("");
  bad.phases[0].partition.starved.launching = std::numeric_limits<varve::time_ns>::min();
  bad.phases[0].prefill_tokens = bad.phases[0].decode_tokens = std::numeric_limits<std::int64_t>::max();
  bad.phases[0].samples.step.resize(3, -1);
  bad.phases.push_back(bad.phases[0]);
  bad.layers[0].per_pass.assign(20, std::numeric_limits<varve::time_ns>::max());
  bad.layers[1].per_pass.resize(2);
  bad.layers[2].exclusive.shared_time = std::numeric_limits<double>::infinity();
  bad.layers[3].inclusive.gpu_time = std::numeric_limits<varve::time_ns>::min();
  bad.layers[3].inclusive.declared.flops = std::numeric_limits<std::int64_t>::min();
  bad.layers[4].parent = 1000;
  bad.layers[5].path = "a | b\x1b[31m`<script>@all \xff";
  bad.quality.attributed = std::nan("");
  bad.predictions.resize(3);
  bad.predictions[0].phase = 77;
  bad.predictions[1].phase = 0;
  bad.predictions[1].layer = 4000;
  bad.predictions[1].what = varve::prediction::change::fused;
  const varve::report good = decoder().make();
  for (const auto& [base, fresh] : {std::pair{bad, good}, {good, bad}, {bad, bad}}) {
    const comparison c = compare(base, fresh);
    EXPECT_THAT(to_table(c), Not(HasSubstr("\x1b")));
    EXPECT_THAT(to_markdown(c),
                AllOf(Not(HasSubstr("<script>")), Not(HasSubstr("@all")), Not(HasSubstr("\x1b"))));
    for (const varve::phase_change& p : c.phases) {
      for (const contribution& one : p.contributions) {
        EXPECT_TRUE(std::isfinite(one.change()));
      }
    }
  }
}

// Of 100,000 samples every 25th counts, which are 4,000.
TEST(compare, of_very_many_samples_takes_some) {
  varve::report r = decoder().make();
  for (std::vector<varve::time_ns>* const times :
       {&r.phases[0].samples.step, &r.phases[0].samples.gpu_time}) {
    times->resize(100'000, 50'000);
  }
  r.layers[0].per_pass.resize(100'000, 70'000);
  const comparison c = compare(r, r, {0.95, 0.02, 99, 1});
  EXPECT_EQ(c.phases[0].step.base_passes, 4'000);
  EXPECT_EQ(c.rows[0].gpu_time.base_passes, 4'000);
  EXPECT_TRUE(c.no_difference());
}

TEST(compare, options_beyond_sense_are_taken_as_the_nearest) {
  const comparison c = compare(decoder().make(), decoder().make(), {std::nan(""), -1, 0, 1});
  EXPECT_EQ(c.options.confidence, 0.95);
  EXPECT_EQ(c.options.noise, 0);
  EXPECT_EQ(c.options.resamples, 99);
  // Of 3,999 resamples two are beyond each end of an interval of 99.9 %.
  const comparison sure = compare(decoder().make(), decoder().make(), {0.9999, 0.02, 999, 1});
  EXPECT_EQ(sure.options.confidence, 0.999);
  EXPECT_EQ(sure.options.resamples, 3999);
  EXPECT_EQ(compare(decoder().make(), decoder().make()).options.resamples, 999);
}

TEST(compare, a_table_fits_the_terminal) {
  const comparison c = compare(decoder().make(), decoder(100'000, 220'000).make());
  for (const int width : {60, 100}) {
    std::istringstream in{to_table(c, {20, width, false})};
    for (std::string line; std::getline(in, line);) {
      EXPECT_LE(varve::table::columns(line), static_cast<std::size_t>(width)) << line;
    }
  }
}

TEST(markdown, is_a_table_with_its_verdicts) {
  const std::string text = to_markdown(compare(decoder().make(), decoder(100'000, 220'000).make()));
  EXPECT_THAT(text,
              AllOf(HasSubstr("**decode: step +5.7 %, worse. 4 layers worse, 0 better, 2 the same.**"),
                    HasSubstr("| a pass | base | new | change | interval | verdict | notes |\n|---|---:|"),
                    HasSubstr("| layer 0 / mlp | 200 µs | 220 µs | +10.0 % |")));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What devices counted in ranges, beside what was declared.
#include "analyze/trace_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace {

using namespace varve_test;
using testing::HasSubstr;
using testing::IsEmpty;
using varve::count_kind;
using varve::counted_work;
using varve::finding;
using varve::math_pipe;

void count(varve::trace& t, std::uint32_t range, count_kind what, std::int64_t value,
           math_pipe pipe = math_pipe::unknown, std::uint8_t part = 0, std::uint32_t device = 0) {
  t.counts.push_back({range, device, value, what, pipe, part});
}

void dram(varve::trace& t, std::uint32_t range, std::int64_t read, std::int64_t written) {
  count(t, range, count_kind::dram_read, read);
  count(t, range, count_kind::dram_written, written);
}

void declare(varve::trace& t, std::uint32_t range, std::int64_t flops, std::int64_t bytes) {
  t.works.push_back({range, {flops, bytes, 0, 0, math_pipe::bf16_tensor}, varve::work_source::engine});
}

/// Two passes with an MLP each.
struct two_passes {
  trace_builder b;
  std::uint32_t pass[2];
  std::uint32_t mlp[2];
  two_passes() {
    for (int i = 0; i < 2; ++i) {
      const time_ns at = 1000 * (i + 1);
      pass[i] = b.phase("decode", at, at + 100);
      mlp[i] = b.layer(pass[i], "mlp", no_index, at, at + 90);
    }
  }
  [[nodiscard]] varve::report analyze() const { return b.analyze(); }
};

const counted_work& counted_in(const varve::report& r, const char* path = "mlp") {
  static const counted_work nothing;
  const varve::row& row = row_of(r.layers, path, "decode");
  EXPECT_TRUE(row.counted);
  return row.counted ? *row.counted : nothing;
}

std::vector<finding> differences_in(const varve::report& r) {
  std::vector<finding> out;
  std::copy_if(r.findings.begin(), r.findings.end(), std::back_inserter(out),
               [](const finding& f) { return f.what == finding::kind::counted_difference; });
  return out;
}

TEST(counted, are_means_of_the_calls_that_were_counted) {
  two_passes p;
  dram(p.b.t, p.mlp[0], 1000, 10);
  dram(p.b.t, p.mlp[1], 2000, 30);
  const varve::report r = p.analyze();
  const counted_work& c = counted_in(r);
  EXPECT_EQ(c.calls, 2);
  EXPECT_EQ(c.dram_read, 1500);
  EXPECT_EQ(c.dram_written, 20);
  EXPECT_EQ(c.tensor_ops, -1);  // nobody counted any
  EXPECT_EQ(c.core_flops, -1);
  EXPECT_EQ(c.intensity, 0);
  EXPECT_EQ(c.why, "");
  EXPECT_FALSE(phase_of(r, "decode").counted);
}

TEST(counted, add_up_parts_that_were_counted_in_different_passes) {
  two_passes p;
  // In the first pass DRAM bytes and one part of FP16, in the second the other part, and FP32.
  dram(p.b.t, p.mlp[0], 900, 100);
  count(p.b.t, p.mlp[0], count_kind::operations, 6000, math_pipe::fp16_tensor, 0);
  count(p.b.t, p.mlp[1], count_kind::operations, 2000, math_pipe::fp16_tensor, 1);
  count(p.b.t, p.mlp[1], count_kind::operations, 500, math_pipe::fp32);
  const varve::report r = p.analyze();
  const counted_work& c = counted_in(r);
  EXPECT_EQ(c.calls, 1);  // each of them once
  EXPECT_EQ(c.tensor_ops, 8000);
  EXPECT_EQ(c.core_flops, 500);
  EXPECT_DOUBLE_EQ(c.intensity, 8500.0 / 1000);
}

TEST(counted, are_not_known_where_a_part_is_missing) {
  two_passes p;
  const auto attention = p.b.layer(p.pass[0], "attention", no_index, 1090, 1095);
  dram(p.b.t, p.mlp[0], 900, 100);
  count(p.b.t, p.mlp[0], count_kind::operations, 6000, math_pipe::fp16_tensor, 0);
  dram(p.b.t, attention, 900, 100);
  count(p.b.t, attention, count_kind::operations, 1, math_pipe::fp16_tensor, 1);
  const varve::report r = p.analyze();
  EXPECT_EQ(counted_in(r).tensor_ops, -1);  // a sum without the other part is less than there was
  EXPECT_EQ(counted_in(r).intensity, 0);
  EXPECT_EQ(counted_in(r).dram_read, 900);
}

TEST(counted, of_whole_passes_are_the_phases) {
  two_passes p;
  dram(p.b.t, p.pass[0], 4000, 100);
  const varve::report r = p.analyze();
  ASSERT_TRUE(phase_of(r, "decode").counted);
  EXPECT_EQ(phase_of(r, "decode").counted->dram_read, 4000);
  EXPECT_FALSE(row_of(r.layers, "mlp", "decode").counted);
}

TEST(counted, say_that_data_was_read_again) {
  two_passes p;
  for (const std::uint32_t mlp : p.mlp) {
    declare(p.b.t, mlp, 8000, 1000);
    dram(p.b.t, mlp, 2300, 100);
    count(p.b.t, mlp, count_kind::operations, 8000, math_pipe::bf16_tensor);
  }
  const varve::report r = p.analyze();
  // 2400 ÷ 1000 = 2.4; operations are as declared. Arithmetic intensity 8, operational 8000 ÷ 2400.
  EXPECT_EQ(
      counted_in(r).why,
      "DRAM moved 2.4 times the declared bytes (2.4 kB against 1 kB a call): data is read again, or what "
      "does not fit in registers and caches is written out and read back");
  EXPECT_DOUBLE_EQ(counted_in(r).intensity, 8000.0 / 2400);
  const auto found = differences_in(r);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].value, 1.4);
  EXPECT_DOUBLE_EQ(found[0].threshold, 0.2);
  EXPECT_EQ(r.layers[found[0].layer].path, "mlp");
  EXPECT_THAT(
      found[0].text,
      HasSubstr("differ by more than 20 % in 1 of 1 rows of decode, most in mlp: DRAM moved 2.4 times"));
}

TEST(counted, say_that_caches_had_it) {
  two_passes p;
  declare(p.b.t, p.mlp[0], 8000, 1000);
  dram(p.b.t, p.mlp[0], 250, 50);
  const varve::report r = p.analyze();
  EXPECT_EQ(
      counted_in(r).why,
      "DRAM moved 0.3 of the declared bytes (300 B against 1 kB a call): the rest came from caches, or is "
      "not touched");
  EXPECT_EQ(differences_in(r).size(), 1U);
}

TEST(counted, say_nothing_of_what_is_as_declared) {
  two_passes p;
  declare(p.b.t, p.mlp[0], 8000, 1000);
  dram(p.b.t, p.mlp[0], 1100, 90);  // 1190 of 1000: within a fifth
  const varve::report r = p.analyze();
  EXPECT_EQ(counted_in(r).why, "DRAM moved the declared 1 kB a call within 20 %");
  EXPECT_THAT(differences_in(r), IsEmpty());
}

TEST(counted, say_that_operations_differ) {
  two_passes p;
  declare(p.b.t, p.mlp[0], 8000, 1000);
  dram(p.b.t, p.mlp[0], 1000, 0);
  count(p.b.t, p.mlp[0], count_kind::operations, 16'000, math_pipe::bf16_tensor);
  EXPECT_THAT(counted_in(p.analyze()).why,
              HasSubstr("within 20 %; operations are 2 times the declared ones: tiles are padded"));
}

TEST(counted, survive_counts_of_nothing) {
  two_passes p;
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  count(p.b.t, 77, count_kind::dram_read, 1);
  count(p.b.t, none, count_kind::dram_read, 1);
  count(p.b.t, p.mlp[0], count_kind::dram_read, -5);
  count(p.b.t, p.mlp[0], static_cast<count_kind>(9), 5);
  count(p.b.t, p.mlp[0], count_kind::dram_read, most);
  count(p.b.t, p.mlp[1], count_kind::dram_read, most);
  count(p.b.t, p.mlp[0], count_kind::dram_read, 1, math_pipe::unknown, 0, 5);  // on a device of its own
  const varve::report r = p.analyze();
  EXPECT_DOUBLE_EQ(counted_in(r).dram_read, static_cast<double>(most));
  EXPECT_TRUE(std::any_of(r.quality.losses.begin(), r.quality.losses.end(), [](const varve::loss& l) {
    return l.what == "counts of ranges or devices that are not there" && l.count == 5;
  }));
}

/// A run that timed: the MLP of each pass is replayed from a graph, in which no range is open.
varve::report timed_run() {
  trace_builder b;
  for (const time_ns at : {1000, 2000}) {
    const auto pass = b.phase("decode", at, at + 100);
    if (at == 1000) {
      const auto label = b.label(b.label(none, "capture", no_index, varve::range_kind::phase), "mlp");
      b.node(7, label, false, {4000, 500, 0, 0, math_pipe::bf16_tensor});
    }
    b.kernel(b.call(varve::call_kind::graph_launch, pass, at, at + 10), at + 20, at + 60, "k", 0, 0);
  }
  return b.analyze();
}

TEST(counted, stand_beside_the_times_of_another_run_also_of_replays) {
  two_passes counting;
  dram(counting.b.t, counting.mlp[0], 900, 100);
  dram(counting.b.t, counting.mlp[1], 900, 300);
  counting.b.t.collectors = {{"counters", "13.0", varve::collector_state::stopped, "GH100"}};
  counting.b.t.losses = {{"ranges not counted: dropped by CUPTI", "counters", 3}};
  varve::report timed = timed_run();
  ASSERT_EQ(row_of(timed.layers, "mlp", "decode").inclusive.gpu_time, 80);
  ASSERT_FALSE(row_of(timed.layers, "mlp", "decode").counted);
  varve::add_counted(timed, counting.analyze());
  const counted_work& c = counted_in(timed);
  EXPECT_EQ(c.dram_read, 900);
  EXPECT_EQ(c.dram_written, 200);
  EXPECT_EQ(c.calls, 2);
  EXPECT_THAT(c.why, HasSubstr("2.2 times the declared bytes (1.1 kB against 500 B a call)"));
  ASSERT_EQ(differences_in(timed).size(), 1U);
  EXPECT_TRUE(std::any_of(timed.quality.losses.begin(), timed.quality.losses.end(),
                          [](const varve::loss& l) { return l.where == "counters" && l.count == 3; }));
  // Again: nothing is told twice.
  varve::add_counted(timed, counting.analyze());
  EXPECT_EQ(differences_in(timed).size(), 1U);
}

TEST(counted, are_joined_by_batch_where_both_have_it) {
  two_passes counting;
  dram(counting.b.t, counting.mlp[0], 100, 0);
  dram(counting.b.t, counting.mlp[1], 300, 0);
  for (int i = 0; i < 2; ++i) {
    counting.b.t.attributes.push_back({counting.pass[i], VARVE_DECODE_SEQUENCES, 1 + i});
    counting.b.t.attributes.push_back({counting.pass[i], VARVE_DECODE_TOKENS, 1 + i});
  }
  varve::analyze_options by_batch;
  by_batch.by_batch = true;
  const varve::report counted = counting.b.analyze(by_batch);
  varve::report apart = counting.b.analyze(by_batch);
  varve::add_counted(apart, counted);
  std::vector<double> read;
  for (const varve::row& r : apart.layers) {
    if (r.path == "mlp") {
      read.push_back(r.counted->dram_read);
    }
  }
  EXPECT_THAT(read, testing::UnorderedElementsAre(100, 300));
  varve::report together = counting.analyze();
  varve::add_counted(together, counted);  // the mean of both batches
  EXPECT_EQ(counted_in(together).dram_read, 200);
  EXPECT_EQ(counted_in(together).calls, 2);
}

TEST(counted, have_a_table_of_their_own) {
  two_passes p;
  declare(p.b.t, p.mlp[0], 8000, 1000);
  dram(p.b.t, p.mlp[0], 2300, 100);
  count(p.b.t, p.mlp[0], count_kind::operations, 7200, math_pipe::bf16_tensor);
  count(p.b.t, p.mlp[0], count_kind::operations, 800, math_pipe::fp32);
  const std::string table = varve::to_table(p.analyze());
  EXPECT_THAT(table, HasSubstr("counted, a call"));
  // Read, written, declared, operations of tensor and other cores, FLOP ÷ byte declared and counted.
  EXPECT_THAT(table, testing::ContainsRegex("mlp +1 +2.30 kB +100 B +1.00 kB +7.20 k +800 +8.00 +3.33"));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Rates and verdicts that rest on what was counted in another run. The device does 1,000,000 FLOPs a
// nanosecond on BF16 tensor cores, 50,000 on FP32 cores, and moves 2,000 bytes a nanosecond.
#include "analyze/on_gpu.hpp"
#include "analyze/trace_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace varve_test;
using testing::HasSubstr;
using varve::bound;
using varve::count_kind;
using varve::math_pipe;
using varve::work_source;

constexpr std::int64_t million = 1'000'000;

/// One pass of some layers, in a run that is timed or in one that counts.
class run {
 public:
  explicit run(const char* phase = "decode", std::int64_t tokens = 8) : pass_{b_.phase(phase, 0, 10)} {
    b_.t.attributes.push_back({pass_, VARVE_DECODE_TOKENS, tokens});
  }

  /// Launched at once after what is before it, in `time` ns on the device; 0: it runs nothing.
  run& layer(const char* name, time_ns time, std::int64_t bytes = 0, std::uint32_t parent = none) {
    last_ = b_.layer(parent == none ? pass_ : parent, name, no_index, at_, at_ + 5);
    if (time > 0) {
      b_.launched_kernel(last_, at_, at_ + 5, busy_, busy_ + time);
    }
    at_ += 10;
    busy_ += time;
    if (bytes > 0) {
      b_.t.works.push_back(
          {last_, {100 * million, bytes, 0, 0, math_pipe::bf16_tensor}, work_source::engine});
    }
    b_.t.ranges[pass_].end = std::max(at_, busy_);
    return *this;
  }
  run& dram(std::int64_t read, std::int64_t written) {
    b_.t.counts.push_back({last_, 0, read, count_kind::dram_read});
    b_.t.counts.push_back({last_, 0, written, count_kind::dram_written});
    return *this;
  }
  run& operations(math_pipe pipe, std::int64_t n) {
    b_.t.counts.push_back({last_, 0, n, count_kind::operations, pipe, 0});
    return *this;
  }
  [[nodiscard]] std::uint32_t last() const { return last_; }
  [[nodiscard]] varve::report analyze() const { return b_.analyze(on_gpu); }

 private:
  trace_builder b_;
  std::uint32_t pass_;
  std::uint32_t last_ = none;
  time_ns at_ = 0;
  time_ns busy_ = 100;
};

const varve::row& mlp_of(const varve::report& r, const char* phase = "decode") {
  return row_of(r.layers, "mlp", phase);
}

double known_by(const varve::report& r, work_source source) {
  return r.quality.work_known[static_cast<std::size_t>(source)];
}

std::uint64_t lost(const varve::report& r, const std::string& what) {
  std::uint64_t sum = 0;
  for (const varve::loss& l : r.quality.losses) {
    sum += l.what.find(what) != std::string::npos ? l.count : 0;
  }
  return sum;
}

// 100 MB take 50 µs of 100: neither side reaches 60 %. 150 MB take 75 µs of 100. 100 million FLOPs take 100
// ns.
TEST(counted_roofs, change_a_verdict) {
  varve::report r = run{}.layer("mlp", 100'000, 100 * million).analyze();
  ASSERT_EQ(mlp_of(r).verdict.by, bound::latency);
  ASSERT_DOUBLE_EQ(mlp_of(r).verdict.memory_share, 0.5);
  varve::add_counted(r, run{}.layer("mlp", 0, 100 * million).dram(140 * million, 10 * million).analyze());
  const varve::row& mlp = mlp_of(r);
  EXPECT_EQ(mlp.verdict.by, bound::memory);
  EXPECT_DOUBLE_EQ(mlp.verdict.memory_share, 0.75);
  EXPECT_DOUBLE_EQ(mlp.verdict.roof_share, 0.75);
  EXPECT_DOUBLE_EQ(mlp.verdict.compute_share, 0.001);  // as declared
  EXPECT_THAT(mlp.verdict.why, HasSubstr("memory-bound: 1.5 of 2 TB/s (75 %)"));
  EXPECT_THAT(mlp.verdict.why, HasSubstr("DRAM bytes as counted, operations as declared"));
  ASSERT_TRUE(mlp.counted && mlp.rated);
  EXPECT_TRUE(mlp.counted->used);
  EXPECT_THAT(mlp.counted->why, HasSubstr("DRAM moved 1.5 times the declared bytes"));
  EXPECT_DOUBLE_EQ(mlp.rated->bytes, 150e6);
  EXPECT_DOUBLE_EQ(mlp.rated->flops, 100e6);
  EXPECT_DOUBLE_EQ(mlp.rated->roof.memory, 75'000);
  EXPECT_DOUBLE_EQ(mlp.rated->counted_share, 1);
  EXPECT_DOUBLE_EQ(mlp.rated->unknown_share, 0);
  // What is declared stays beside.
  EXPECT_EQ(mlp.inclusive.declared.bytes(), 100 * million);
  EXPECT_DOUBLE_EQ(mlp.inclusive.roof.memory, 50'000);
  // The phase holds nothing else.
  EXPECT_EQ(phase_of(r, "decode").verdict.by, bound::memory);
  EXPECT_DOUBLE_EQ(phase_of(r, "decode").verdict.memory_share, 0.75);
  EXPECT_DOUBLE_EQ(known_by(r, work_source::counters), 1);
  EXPECT_DOUBLE_EQ(known_by(r, work_source::engine), 0);
  const std::string table = to_table(r);
  EXPECT_THAT(table, HasSubstr("known by counters for 100.0 %"));
  EXPECT_THAT(table, testing::ContainsRegex("mlp .* 1,?500 .*memory"));  // GB/s
}

TEST(counted_roofs, that_are_as_declared_change_nothing) {
  varve::report r = run{}.layer("mlp", 100'000, 100 * million).analyze();
  const varve::verdict before = mlp_of(r).verdict;
  const varve::verdict phase = phase_of(r, "decode").verdict;
  varve::add_counted(r, run{}.layer("mlp", 0, 100 * million).dram(99 * million, million).analyze());
  for (const auto& [now, then] :
       {std::pair{mlp_of(r).verdict, before}, {phase_of(r, "decode").verdict, phase}}) {
    EXPECT_EQ(now.by, then.by);
    EXPECT_EQ(now.side, then.side);
    EXPECT_EQ(now.pipe, then.pipe);
    EXPECT_DOUBLE_EQ(now.roof_share, then.roof_share);
    EXPECT_DOUBLE_EQ(now.compute_share, then.compute_share);
    EXPECT_DOUBLE_EQ(now.memory_share, then.memory_share);
    EXPECT_THAT(now.why, testing::StartsWith(then.why));
  }
}

// 50e9 operations of tensor cores take 50 µs; 3.5e9 of the others, beside them, 70 µs; 20 MB take 10 µs.
TEST(counted_roofs, tell_the_math_pipe) {
  varve::report r = run{}.layer("mlp", 100'000, 100 * million).analyze();
  ASSERT_EQ(mlp_of(r).verdict.pipe, math_pipe::bf16_tensor);
  varve::add_counted(r, run{}
                            .layer("mlp", 0, 100 * million)
                            .dram(20 * million, 0)
                            .operations(math_pipe::bf16_tensor, 50'000 * million)
                            .operations(math_pipe::fp32, 3'500 * million)
                            .analyze());
  const varve::verdict& v = mlp_of(r).verdict;
  EXPECT_EQ(v.by, bound::compute);
  EXPECT_EQ(v.pipe, math_pipe::fp32);
  EXPECT_DOUBLE_EQ(v.compute_share, 0.7);
  EXPECT_DOUBLE_EQ(v.memory_share, 0.1);
  EXPECT_DOUBLE_EQ(v.roof_share, 0.7);  // of one operator, as far as counters tell
  EXPECT_THAT(v.why, HasSubstr("DRAM bytes and operations as counted"));
  EXPECT_DOUBLE_EQ(mlp_of(r).rated->flops, 53.5e9);
  EXPECT_DOUBLE_EQ(mlp_of(r).counted->intensity, 53.5e9 / 20e6);
}

TEST(counted_roofs, take_only_bytes_where_a_kind_of_operations_is_missing) {
  varve::report r = run{}.layer("mlp", 100'000, 100 * million).analyze();
  varve::add_counted(r, run{}
                            .layer("mlp", 0, 100 * million)
                            .dram(150 * million, 0)
                            .operations(math_pipe::bf16_tensor, 50'000 * million)
                            .layer("attention", 0)
                            .operations(math_pipe::fp32, 1)
                            .analyze());
  EXPECT_FALSE(mlp_of(r).counted->all_operations);
  EXPECT_DOUBLE_EQ(mlp_of(r).rated->flops, 100e6);
  EXPECT_DOUBLE_EQ(mlp_of(r).verdict.compute_share, 0.001);
  EXPECT_EQ(lost(r, "counted rows without a row of times"), 1U);  // attention
}

// Declared 50 µs of 100 each. The MLP counts 75, and nobody counts the attention: (50 + 75) ÷ 200 = 62.5 %.
TEST(counted_roofs, leave_their_source_to_rows_without_counts) {
  varve::report r =
      run{}.layer("attention", 100'000, 100 * million).layer("mlp", 100'000, 100 * million).analyze();
  ASSERT_EQ(phase_of(r, "decode").verdict.by, bound::latency);
  const varve::verdict before = row_of(r.layers, "attention", "decode").verdict;
  varve::add_counted(r, run{}.layer("mlp", 0, 100 * million).dram(150 * million, 0).analyze());
  const varve::row& attention = row_of(r.layers, "attention", "decode");
  EXPECT_FALSE(attention.rated || attention.counted);
  EXPECT_EQ(attention.verdict.by, bound::latency);
  EXPECT_EQ(attention.verdict.why, before.why);
  const varve::phase_row& phase = phase_of(r, "decode");
  EXPECT_EQ(phase.verdict.by, bound::memory);
  EXPECT_DOUBLE_EQ(phase.verdict.memory_share, 0.625);
  EXPECT_THAT(phase.verdict.why, HasSubstr("counted for 50 % of its GPU time"));
  ASSERT_TRUE(phase.rated);
  EXPECT_DOUBLE_EQ(phase.rated->bytes, 250e6);
  EXPECT_DOUBLE_EQ(phase.rated->flops, 200e6);
  EXPECT_DOUBLE_EQ(phase.rated->counted_share, 0.5);
  EXPECT_DOUBLE_EQ(known_by(r, work_source::counters), 0.5);
  EXPECT_DOUBLE_EQ(known_by(r, work_source::engine), 0.5);
}

// The block's own 20 MB, 10 µs of 20, stay as declared; of the MLP inside 75 of 100 are counted.
TEST(counted_roofs, count_for_the_rows_around) {
  const auto make = [](time_ns block, time_ns mlp, bool counts) {
    run made;
    made.layer("block", block, 20 * million);
    made.layer("mlp", mlp, 100 * million, made.last());
    if (counts) {
      made.dram(150 * million, 0);
    }
    return made.analyze();
  };
  varve::report r = make(20'000, 100'000, false);
  varve::add_counted(r, make(0, 0, true));
  const varve::row& block = row_of(r.layers, "block", "decode");
  ASSERT_TRUE(block.rated);
  EXPECT_FALSE(block.counted);
  EXPECT_DOUBLE_EQ(block.rated->bytes, 170e6);
  EXPECT_DOUBLE_EQ(block.rated->roof.total, 85'000);
  EXPECT_DOUBLE_EQ(block.verdict.memory_share, 85.0 / 120);
  EXPECT_DOUBLE_EQ(row_of(r.layers, "block / mlp", "decode").verdict.memory_share, 0.75);
  EXPECT_DOUBLE_EQ(phase_of(r, "decode").rated->bytes, 170e6);
}

// Nothing is declared. Where the MLP is 95 of 100 µs that is enough for the phase; 94 are not.
TEST(counted_roofs, tell_nothing_of_a_phase_below_95_percent) {
  for (const time_ns norm : {5'000, 6'000}) {
    varve::report r = run{}.layer("mlp", 100'000 - norm).layer("norm", norm).analyze();
    ASSERT_EQ(mlp_of(r).verdict.by, bound::unknown);
    varve::add_counted(
        r,
        run{}.layer("mlp", 0).dram(150 * million, 0).operations(math_pipe::bf16_tensor, million).analyze());
    EXPECT_EQ(mlp_of(r).verdict.by, bound::memory);
    EXPECT_DOUBLE_EQ(mlp_of(r).verdict.memory_share, 75'000 / (100'000.0 - static_cast<double>(norm)));
    const varve::phase_row& phase = phase_of(r, "decode");
    EXPECT_DOUBLE_EQ(phase.rated->unknown_share, static_cast<double>(norm) / 100'000);
    EXPECT_EQ(phase.verdict.by, norm == 5'000 ? bound::memory : bound::unknown);
    EXPECT_THAT(phase.verdict.why, HasSubstr(norm == 5'000 ? "counted for 95 %" : "known for only 94 %"));
    EXPECT_DOUBLE_EQ(known_by(r, work_source::counters), 1 - static_cast<double>(norm) / 100'000);
  }
}

TEST(counted_roofs, need_operations_from_somebody) {
  varve::report r = run{}.layer("mlp", 100'000).analyze();
  varve::add_counted(r, run{}.layer("mlp", 0).dram(150 * million, 0).analyze());
  EXPECT_FALSE(mlp_of(r).rated);
  EXPECT_FALSE(mlp_of(r).counted->used);
  EXPECT_THAT(mlp_of(r).counted->why,
              HasSubstr("not used for rates and verdict: its operations were neither"));
  EXPECT_EQ(mlp_of(r).verdict.by, bound::unknown);
}

// 16 tokens a pass in one run, 8 in the other.
TEST(counted_roofs, are_not_those_of_other_batches) {
  varve::report r = run{"decode", 8}.layer("mlp", 100'000, 100 * million).analyze();
  const varve::verdict before = mlp_of(r).verdict;
  varve::add_counted(r, run{"decode", 16}.layer("mlp", 0, 100 * million).dram(150 * million, 0).analyze());
  EXPECT_FALSE(mlp_of(r).rated);
  EXPECT_EQ(mlp_of(r).counted->dram_read, 150e6);  // shown all the same
  EXPECT_EQ(mlp_of(r).counted->why,
            "not used for rates and verdict: it was counted in passes of 16 decode tokens, these are of 8 "
            "decode tokens");
  EXPECT_EQ(mlp_of(r).verdict.why, before.why);
  EXPECT_EQ(lost(r, "whose counts are of other work"), 1U);
  EXPECT_DOUBLE_EQ(known_by(r, work_source::counters), 0);
  for (const varve::finding& f : r.findings) {
    EXPECT_NE(f.what, varve::finding::kind::counted_difference);
  }
}

// As many tokens, but a longer context: the engine declares 106 MB where it declared 100. 105 would do.
TEST(counted_roofs, are_not_those_of_calls_that_declare_other_work) {
  varve::report r = run{}.layer("mlp", 100'000, 100 * million).analyze();
  varve::add_counted(r, run{}.layer("mlp", 0, 106 * million).dram(150 * million, 0).analyze());
  EXPECT_FALSE(mlp_of(r).rated);
  EXPECT_THAT(mlp_of(r).counted->why, HasSubstr("declare 106 MB and 100 MFLOP, these 100 MB and 100 MFLOP"));
  varve::add_counted(r, run{}.layer("mlp", 0, 105 * million).dram(150 * million, 0).analyze());
  EXPECT_TRUE(mlp_of(r).rated);
}

TEST(counted_roofs, are_not_those_of_another_phase) {
  varve::report r = run{}.layer("mlp", 100'000, 100 * million).analyze();
  varve::add_counted(r, run{"prefill"}.layer("mlp", 0, 100 * million).dram(150 * million, 0).analyze());
  EXPECT_FALSE(mlp_of(r).counted || mlp_of(r).rated);
  EXPECT_EQ(mlp_of(r).verdict.by, bound::latency);
  EXPECT_EQ(lost(r, "counted rows without a row of times"), 1U);
}

// Whatever it moves, it waits: the second layer comes 300 µs late.
TEST(counted_roofs, leave_a_phase_starved) {
  const auto late = [](bool timed) {
    trace_builder b;
    const auto pass = b.phase("decode", 0, 401'000);
    for (const time_ns at : {0, 350'000}) {
      const auto mlp = b.layer(pass, "mlp", no_index, at, at + 5);
      b.t.works.push_back({mlp, {million, 50 * million, 0, 0, math_pipe::bf16_tensor}});
      if (timed) {
        b.launched_kernel(mlp, at, at + 5, at + 100, at + 50'100);
      } else {
        b.t.counts.push_back({mlp, 0, 75 * million, count_kind::dram_read});
        b.t.counts.push_back({mlp, 0, 0, count_kind::dram_written});
      }
    }
    return b.analyze(on_gpu);
  };
  varve::report r = late(true);
  ASSERT_EQ(phase_of(r, "decode").verdict.by, bound::starved);
  const std::string why = phase_of(r, "decode").verdict.why;
  varve::add_counted(r, late(false));
  EXPECT_EQ(phase_of(r, "decode").verdict.by, bound::starved);
  EXPECT_EQ(phase_of(r, "decode").verdict.why, why);
  EXPECT_DOUBLE_EQ(phase_of(r, "decode").verdict.memory_share, 0.75);  // 37.5 µs of 50, twice
  EXPECT_DOUBLE_EQ(mlp_of(r).rated->bytes, 150e6);                     // the mean of a call, twice
}

TEST(counted_roofs, can_be_exchanged_and_taken_away) {
  varve::report r = run{}.layer("mlp", 100'000, 100 * million).analyze();
  const varve::verdict before = mlp_of(r).verdict;
  const std::string table = to_table(r);
  varve::add_counted(r, run{}.layer("mlp", 0, 100 * million).dram(150 * million, 0).analyze());
  varve::add_counted(r, run{}.layer("mlp", 0, 100 * million).dram(180 * million, 0).analyze());
  EXPECT_DOUBLE_EQ(mlp_of(r).verdict.memory_share, 0.9);
  EXPECT_DOUBLE_EQ(phase_of(r, "decode").verdict.memory_share, 0.9);
  varve::add_counted(r, varve::report{});
  EXPECT_FALSE(mlp_of(r).rated || mlp_of(r).counted);
  EXPECT_EQ(mlp_of(r).verdict.by, before.by);
  EXPECT_EQ(mlp_of(r).verdict.why, before.why);
  EXPECT_DOUBLE_EQ(mlp_of(r).verdict.memory_share, before.memory_share);
  EXPECT_FALSE(phase_of(r, "decode").rated);
}

// A run with counts and times, as no session makes it.
TEST(counted_roofs, are_those_of_the_trace_itself_too) {
  const varve::report r = run{}.layer("mlp", 100'000, 100 * million).dram(150 * million, 0).analyze();
  EXPECT_DOUBLE_EQ(mlp_of(r).verdict.memory_share, 0.75);
  EXPECT_DOUBLE_EQ(phase_of(r, "decode").verdict.memory_share, 0.75);
}

// The layers declare 100 + 100 million FLOPs, 200 ns; DRAM moves 150 MB in 200 µs.
TEST(counted_roofs, of_bytes_of_whole_passes_take_the_operations_of_their_layers) {
  const auto make = [](time_ns time) {
    return run{}.layer("mlp", time, 100 * million).layer("attention", time, 100 * million).analyze();
  };
  varve::report r = make(100'000);
  varve::report counted = make(0);
  counted.phases.at(0).counted.emplace();
  counted.phases[0].counted->calls = 1;
  counted.phases[0].counted->dram_read = 150e6;
  counted.phases[0].counted->dram_written = 0;
  varve::add_counted(r, counted);
  const varve::phase_row& phase = phase_of(r, "decode");
  EXPECT_DOUBLE_EQ(phase.verdict.memory_share, 0.375);
  EXPECT_DOUBLE_EQ(phase.verdict.compute_share, 0.001);
  EXPECT_DOUBLE_EQ(mlp_of(r).verdict.memory_share, 0.5);
}

// Of whole passes: 150 MB and 1e9 operations in 100 + 100 µs, of which half have declared work.
TEST(counted_roofs, of_whole_passes_are_the_phases) {
  varve::report r = run{}.layer("mlp", 50'000, 100 * million).layer("norm", 50'000).analyze();
  ASSERT_EQ(phase_of(r, "decode").verdict.by, bound::unknown);
  varve::report counted = run{}.layer("mlp", 0, 100 * million).analyze();
  ASSERT_EQ(counted.phases.size(), 1U);
  counted.phases[0].counted.emplace();
  counted.phases[0].counted->calls = 1;
  counted.phases[0].counted->dram_read = 150e6;
  counted.phases[0].counted->dram_written = 0;
  counted.phases[0].counted->tensor_ops = 1e9;
  counted.phases[0].counted->operations[static_cast<std::size_t>(math_pipe::bf16_tensor)] = 1e9;
  counted.phases[0].counted->all_operations = true;
  varve::add_counted(r, counted);
  const varve::phase_row& phase = phase_of(r, "decode");
  EXPECT_EQ(phase.verdict.by, bound::memory);
  EXPECT_DOUBLE_EQ(phase.verdict.memory_share, 0.75);
  EXPECT_DOUBLE_EQ(phase.verdict.compute_share, 0.01);
  EXPECT_FALSE(row_of(r.layers, "norm", "decode").rated);
  EXPECT_DOUBLE_EQ(known_by(r, work_source::counters), 1);
  EXPECT_DOUBLE_EQ(mlp_of(r).verdict.memory_share, 1);  // by what is declared
}

}  // namespace

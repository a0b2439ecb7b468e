// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// `varve report` on traces of real GPUs, which are no part of the project.
#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/process.hpp"
#include "formats/real_traces.hpp"
#include "formats/table/text.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::folder;
using testing_support::outcome;
using testing_support::run;

class real_report : public real_traces, public testing::WithParamInterface<const char*> {};

TEST_P(real_report, fits_every_view_into_every_width) {
  for (const char* view : {"layer", "label", "phase", "kernel", "category"}) {
    for (const char* width : {"80", "120", "200"}) {
      const outcome o = run({"report", path(GetParam()), "--by", view, "--width", width});
      EXPECT_EQ(o.code, 0) << o.err;
      EXPECT_EQ(o.err, "");
      std::istringstream in{o.out};
      std::size_t lines = 0;
      for (std::string line; std::getline(in, line); ++lines) {
        EXPECT_LE(varve::table::columns(line), std::stoul(width)) << line;
      }
      EXPECT_GE(lines, 15U) << view;
    }
  }
}

TEST_P(real_report, prints_the_same_from_its_json) {
  const folder files;
  const outcome json = run({"report", path(GetParam()), "--json"});
  const std::string copy = files.write("copy.json", json.out);
  EXPECT_EQ(run({"report", copy, "--by", "kernel"}).out,
            run({"report", path(GetParam()), "--by", "kernel"}).out);
  EXPECT_EQ(varve::to_json(varve::read_report(copy)) + '\n', json.out);
}

INSTANTIATE_TEST_SUITE_P(files, real_report,
                         testing::Values("h100-transformer-block", "h100-qwen1.5-0.5b", "b200-vllm-prefill",
                                         "v100-cuda-graphs", "two-ranks.rank0", "two-ranks.rank1"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           for (char& c : name) {
                             c = c == '-' || c == '.' ? '_' : c;
                           }
                           return name;
                         });

// Figures of the reference values: 9,876 kernels, 801,858 µs summed, 621,446 µs as a union, 717,943 µs busy;
// stream 7 541,335 µs, 15 251,341 µs, 14 9,067 µs.
TEST_F(real_report, tells_the_times_of_the_v100_from_those_of_its_streams) {
  EXPECT_THAT(run({"report", path("v100-cuda-graphs"), "--width", "200"}).out,
              AllOf(HasSubstr("device 1, Tesla V100-SXM2-16GB · busy 718 ms"),
                    HasSubstr("9,876 kernels, 802 ms summed, 621 ms where overlap counts once"),
                    HasSubstr("kernels in 3 streams: 7 for 541 ms, 15 for 251 ms, 14 for 9.07 ms")));
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
    ++n;
  }
  return n;
}

// 36 blocks with 7 rows each below attention and MLP: 4 of attention, 1 below these, 2 of the MLP. Attention
// has 0.7 % of the GPU time in each block and 25.5 % in all: it is shown, as are the two norms of a block.
TEST_F(real_report, shows_the_blocks_of_a_model_and_their_parts) {
  const std::string table = run({"report", path("b200-vllm-prefill"), "--width", "140"}).out;
  EXPECT_THAT(
      table, AllOf(HasSubstr("\n  blocks   36 × TransformerBlock of 312 µs, 97.0 % · in them MLPBlock 69.7 % "
                             "· OAIAttention 26.3 % · RMSNorm 4.0 %\n"),
                   HasSubstr("\n… 252 rows lie deeper and count for those above: --depth ")));
  EXPECT_EQ(times(table, "─ TransformerBlock "), 36U);
  EXPECT_EQ(times(table, "─ MLPBlock "), 36U);
  EXPECT_EQ(times(table, "─ OAIAttention "), 36U);
  EXPECT_EQ(times(table, "─ RMSNorm "), 72U);
  EXPECT_THAT(table, HasSubstr("\n… 5 rows under 1 %: 0.9 %"));
  EXPECT_EQ(times(table, "─ FusedMoE "), 0U);

  const std::string parts =
      run({"report", path("b200-vllm-prefill"), "--layers", "^(TransformerBlock|OAIAttention|MLPBlock)$"})
          .out;
  EXPECT_EQ(times(parts, "─ OAIAttention "), 36U);
  EXPECT_EQ(times(parts, "─ MLPBlock "), 36U);
}

TEST_F(real_report, says_how_many_kernels_of_qwen_were_launched_before_the_window) {
  EXPECT_THAT(run({"report", path("h100-qwen1.5-0.5b")}).out, HasSubstr("! 436 kernels ("));
}

}  // namespace

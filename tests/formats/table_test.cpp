// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "formats/report_fields.hpp"
#include "formats/small_report.hpp"
#include "formats/table/text.hpp"
#include "formats/table_lines.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::layer;
using testing_support::lines_of;
using testing_support::names;
using testing_support::rows_only;
using testing_support::small_report;
using testing_support::times;

// Shares are of the phase's 7.5 ms: layer 0 4.5 ÷ 7.5 = 60 %, its mlp 3 ÷ 7.5 = 40 %, attention 1.5 ÷ 7.5 =
// 20 %; layer 1 2.94 ÷ 7.5 = 39.2 %, mlp 2.04 ÷ 7.5 = 27.2 %, attention 0.9 ÷ 7.5 = 12 %. Embedding and
// sampling have 0.03 ÷ 7.5 = 0.4 % each, together 0.8 %, and are folded. Both mlp: 5.04 ÷ 7.5 = 67.2 %, both
// attention 2.4 ÷ 7.5 = 32 %. 10 ms wall ÷ 7.5 ms busy = 1.33; 8 tokens ÷ 10 ms = 800/s; 10 ms ÷ 8 = 1.25 ms.
// Bar: the text begins in column 11, so 89 columns are free, more than its 72. 60 % of 72 = 43.2, 10 % = 7.2
// (thrice), 5 % = 3.6, 15 % = 10.8: 43 + 7 + 3 + 10 + 7 = 70; the two largest remainders (.8 starved, .6
// copy) get one more.
TEST(table, prints_a_small_report_as_it_should_be) {
  varve::table_options options;
  options.width = 100;
  EXPECT_EQ(varve::to_table(small_report(), options),
            R"(session · 12.0 ms recorded
  GPU X · busy 7.50 ms, 76.5 % of the 9.80 ms from its first to its last event
    1,400 kernels, 7.20 ms summed, 7.00 ms where overlap counts once

decode · 2 passes · 8 tokens · 800 tokens/s
  step     mean 5.00 ms · p50 4.90 ms · p95 5.10 ms · 1.25 ms a token
  wall     10.0 ms · GPU busy 7.50 ms · overhead ratio 1.33 (wall ÷ busy) · GPU span 9.80 ms
           ███████████████████████████████████████████▓▓▓▓▓▓▓▒▒▒▒░░░░░░░░░░░╌╌╌╌╌╌╌
           █ compute 60.0 %  ▓ exposed communication 10.0 %  ▒ exposed copy 5.0 %  ░ starved 15.0 %
           ╌ device gap 10.0 %
  starved  while the host launched 10.0 % · ran its own code 5.0 %
  launch   1,400 launches · 700 a pass · 175 a token · 7.00 ms of CPU time
           queue delay p50 12.0 µs, p95 80.0 µs
  slowest  mlp 67.2 % (2 of them) · attention 32.0 % (2 of them)
           slowest one: layer 0 / mlp, 40.0 %

layer         calls  GPU time      %  cum %      avg      med      max  launches  launch (CPU)
──────────────────────────────────────────────────────────────────────────────────────────────
layer 0           2   4.50 ms   60.0   60.0  2.25 ms  1.80 ms  2.70 ms       700       3.50 ms
├─ mlp            2   3.00 ms   40.0   40.0  1.50 ms  1.20 ms  1.80 ms       200       1.00 ms
└─ attention      2   1.50 ms   20.0   60.0   750 µs   600 µs   900 µs       500       2.50 ms
layer 1           2   2.94 ms   39.2   99.2  1.47 ms  1.18 ms  1.76 ms       680       3.40 ms
├─ mlp            2   2.04 ms   27.2   27.2  1.02 ms   816 µs  1.22 ms       200       1.00 ms
└─ attention      2    900 µs   12.0   39.2   450 µs   360 µs   540 µs       480       2.40 ms
… 2 rows under 1 %: 0.8 %
total                 7.50 ms  100.0                                       1,400       7.00 ms

What the numbers rest on
    All GPU time belongs to a layer.
    Clock: test clock.
)");
}

TEST(table, drops_the_least_important_columns_where_it_is_narrow) {
  varve::table_options options = rows_only();
  options.width = 52;
  // Name 12 and columns 5 + 8 + 5 + 7 with 2 before each: 12 + 7 + 10 + 7 + 9 = 45; "launch (CPU)" needs 14.
  EXPECT_EQ(varve::to_table(small_report(), options), R"(decode
layer         calls  GPU time      %      avg
─────────────────────────────────────────────
layer 0           2   4.50 ms   60.0  2.25 ms
├─ mlp            2   3.00 ms   40.0  1.50 ms
└─ attention      2   1.50 ms   20.0   750 µs
layer 1           2   2.94 ms   39.2  1.47 ms
├─ mlp            2   2.04 ms   27.2  1.02 ms
└─ attention      2    900 µs   12.0   450 µs
… 2 rows under 1 %: 0.8 %
total                 7.50 ms  100.0

)");
}

TEST(table, is_what_the_stream_operator_prints) {
  std::ostringstream out;
  out << small_report();
  EXPECT_EQ(out.str(), varve::to_table(small_report()));
}

TEST(table, shows_all_rows_where_nothing_is_to_be_folded) {
  varve::table_options options = rows_only();
  options.fold_below = 0;
  EXPECT_THAT(names(small_report(), options),
              testing::ElementsAre("layer 0", "├─ mlp", "└─ attention", "layer 1", "├─ mlp", "└─ attention",
                                   "embedding", "sampling", "total"));
}

TEST(table, does_not_fold_a_single_row) {
  varve::report r = small_report();
  r.layers.pop_back();  // sampling: embedding alone is under 1 %
  EXPECT_THAT(names(r, rows_only()),
              AllOf(testing::Contains("embedding"), Not(testing::Contains(HasSubstr("…")))));
}

TEST(table, shows_the_ten_largest_of_many_small_siblings) {
  varve::report r = small_report();
  r.layers.clear();
  for (int i = 0; i < 200; ++i) {  // 200 rows of 37 µs: 0.493 % each, 98.7 % together
    r.layers.push_back(layer("layer " + std::to_string(i), "layer", i, varve::none, 37, 1));
  }
  const auto shown = names(r, rows_only());
  ASSERT_EQ(shown.size(), 12U);
  EXPECT_EQ(shown[0], "layer 0");
  EXPECT_EQ(shown[9], "layer 9");
  EXPECT_EQ(shown[10], "… 190 rows under 1 %: 93.7 %");  // 190 · 37 µs ÷ 7.5 ms
}

TEST(table, takes_the_largest_rows_whose_parents_are_there) {
  varve::table_options options = rows_only();
  options.top = 3;  // layer 0 (4.5), its mlp (3), layer 1 (2.94); layer 0's attention is only 1.5
  EXPECT_THAT(names(small_report(), options),
              testing::ElementsAre("layer 0", "└─ mlp", "layer 1",
                                   "… 5 more rows: 60.0 %, of which 59.2 % in the rows above", "total"));
  // Left out: attention 20 %, mlp 27.2 % and attention 12 % of layer 1 are below rows that are shown;
  // embedding and sampling with 0.8 % are not.
}

TEST(table, sorts_siblings_by_the_key) {
  varve::table_options options = rows_only();
  options.sort = varve::sort_key::launches;
  EXPECT_THAT(names(small_report(), options),
              testing::ElementsAre("layer 0", "├─ attention", "└─ mlp", "layer 1", "├─ attention", "└─ mlp",
                                   "… 2 rows under 1 %: 0.8 %", "total"));
  options.sort = varve::sort_key::order;
  options.fold_below = 0;
  EXPECT_THAT(names(small_report(), options),
              testing::ElementsAre("embedding", "layer 0", "├─ attention", "└─ mlp", "layer 1",
                                   "├─ attention", "└─ mlp", "sampling", "total"));
}

TEST(table, does_not_fold_a_row_that_is_large_in_what_it_is_sorted_by) {
  varve::report r = small_report();
  r.layers[7].inclusive.starved.other = 1000000;  // sampling: little GPU time, all of the starved time
  varve::table_options options = rows_only();
  options.sort = varve::sort_key::starved;
  const auto shown = names(r, options);
  EXPECT_EQ(shown.front(), "sampling");
}

TEST(table, keeps_the_path_of_rows_whose_parents_the_filter_leaves_out) {
  varve::table_options options = rows_only();
  options.filter = "MLP";
  EXPECT_THAT(names(small_report(), options),
              testing::ElementsAre("layer 0 / mlp", "layer 1 / mlp", "total"));
  options.filter = "sampling";  // 0.4 %, yet asked for
  EXPECT_THAT(names(small_report(), options), testing::ElementsAre("sampling", "total"));
  options.filter = "nothing of that name";
  EXPECT_THAT(varve::to_table(small_report(), options), HasSubstr("no row matches the filter"));
}

TEST(table, shows_work_columns_only_where_work_is_declared) {
  varve::report r = small_report();
  EXPECT_THAT(varve::to_table(r), Not(HasSubstr("TFLOP/s")));
  // layer 0: 9e9 FLOP in 4.5 ms = 2 TFLOP/s; 4.5e6 bytes in 4.5 ms = 1 GB/s; 9e9 ÷ 4.5e6 = 2,000 FLOP/B.
  r.layers[1].inclusive.declared = {9000000000, 4000000, 300000, 200000};
  r.layers[1].inclusive.calls_with_work = 2;
  // layer 1: one of two calls declared 2.94e9 FLOP: at least 2.94e9 ÷ 2.94 ms = 1 TFLOP/s.
  r.layers[4].inclusive.declared = {2940000000, 0, 0, 0};
  r.layers[4].inclusive.calls_with_work = 1;
  const auto lines = lines_of(varve::to_table(r, rows_only()));
  EXPECT_THAT(lines[1], HasSubstr("TFLOP/s  GB/s  FLOP/B"));
  EXPECT_THAT(lines[3], testing::EndsWith("     2.00  1.00   2,000"));
  EXPECT_THAT(lines[6], testing::EndsWith("    ≥1.00"));
}

// layer 0: work is known of 1 of 4.5 ms, which takes 0.9 ms at the least: a fifth of them or more. No side
// is.
TEST(table, shows_what_binds_where_work_is_partly_known) {
  varve::report r = small_report();
  r.layers[1].inclusive.unknown_work_time = 3'500'000;
  r.layers[1].verdict.by = varve::bound::starved;
  r.layers[1].verdict.roof_share = 0.2;
  const auto lines = lines_of(varve::to_table(r, rows_only()));
  EXPECT_THAT(lines[1], testing::EndsWith("   bound  % roof"));
  EXPECT_THAT(lines[3], testing::EndsWith("  starved   ≥20.0"));
}

// layer 0: 9e9 FLOP ÷ 4.5 ms = 2 TFLOP/s, ÷ 4.5e6 bytes = 2,000 FLOP/B. 3.5 ms of it are of unknown work: all
// of collectives, which have none, or but 46 µs, more than a hundredth of 4.5 ms.
TEST(table, collectives_leave_no_work_unknown) {
  varve::report r = small_report();
  r.layers[1].inclusive.declared = {9000000000, 4000000, 300000, 200000};
  r.layers[1].inclusive.calls_with_work = 2;
  r.layers[1].inclusive.unknown_work_time = r.layers[1].inclusive.unknown_collective_time = 3'500'000;
  EXPECT_THAT(lines_of(varve::to_table(r, rows_only()))[3], testing::EndsWith("     2.00  1.00   2,000"));
  r.layers[1].inclusive.unknown_collective_time -= 46'000;
  EXPECT_THAT(lines_of(varve::to_table(r, rows_only()))[3], testing::EndsWith("    ≥2.00  ≥1.00"));
  r.quality.work_known[static_cast<std::size_t>(varve::work_source::description)] = 0.999;
  EXPECT_THAT(varve::to_table(r), HasSubstr("description for 99.9 % of the GPU time."));
  r.collectives.emplace_back();
  EXPECT_THAT(varve::to_table(r), HasSubstr("description for 99.9 % of the GPU time, collectives left out."));
}

TEST(table, shows_kernel_time_only_where_it_differs) {
  varve::report r = small_report();
  r.layers[0].inclusive.kernel_time = 0;  // copies alone
  EXPECT_THAT(varve::to_table(r), Not(HasSubstr("kernel time")));
  r.layers[1].inclusive.kernel_time = 5000000;  // two streams
  EXPECT_THAT(lines_of(varve::to_table(r, rows_only()))[3], HasSubstr("5.00 ms"));
  EXPECT_THAT(varve::to_table(r), HasSubstr("kernel time"));
}

TEST(table, tells_devices_models_and_batches_apart) {
  varve::report r = small_report();
  r.devices.push_back(r.devices[0]);
  r.devices[1].device.id = 1;
  varve::phase_row other = r.phases[0];
  other.device = 1;
  other.model = "draft";
  other.batch = "decode 16";
  r.phases.push_back(other);
  const std::size_t rows = r.layers.size();
  for (std::size_t i = 0; i < rows; ++i) {
    varve::row copy = r.layers[i];
    copy.device = 1;
    copy.model = "draft";
    copy.batch = "decode 16";
    copy.parent += copy.parent == varve::none ? 0 : static_cast<std::uint32_t>(rows);
    r.layers.push_back(copy);
  }
  const std::string text = varve::to_table(r);
  EXPECT_THAT(text, HasSubstr("device 0, GPU X"));
  EXPECT_THAT(text, HasSubstr("device 1, GPU X"));
  EXPECT_THAT(text, HasSubstr("decode on device 0 · 2 passes"));
  EXPECT_THAT(text, HasSubstr("decode of draft on device 1 · 16 sequences · 2 passes"));
  EXPECT_EQ(names(r, rows_only()).size(), 16U);  // six rows, a counted line and a total, twice
}

// The words of each form that analyze() gives a batch; what is none of these stays as it is.
TEST(table, says_what_a_batch_is_made_of) {
  const auto name = [](const char* phase, const char* batch) {
    varve::report r = small_report();
    for (varve::phase_row& p : r.phases) {
      p.phase = phase;
      p.batch = batch;
    }
    const std::string text = varve::to_table(r);
    const std::size_t at = text.find(phase);
    return text.substr(at, text.find(" · 2 passes", at) - at);
  };
  EXPECT_EQ(name("decode", ""), "decode");
  EXPECT_EQ(name("decode", "decode 1"), "decode · 1 sequence");
  EXPECT_EQ(name("decode (ramp)", "decode 16"), "decode (ramp) · 16 sequences");
  EXPECT_EQ(name("decode", "decode 4×2"), "decode · 4 × 2 tokens");
  EXPECT_EQ(name("prefill", "prefill 1×10"), "prefill · 1 × 10 tokens");
  EXPECT_EQ(name("prefill", "prefill 2×1"), "prefill · 2 × 1 token");
  EXPECT_EQ(name("prefill", "prefill 3 (1000 tokens)"), "prefill · 3 sequences, 1000 tokens");
  EXPECT_EQ(name("prefill", "prefill 700 tokens"), "prefill · 700 tokens");
  EXPECT_EQ(name("mixed", "prefill 1×512, decode 16"),
            "mixed · prefill 1 × 512 tokens + decode 16 sequences");
  EXPECT_EQ(name("verify", "decode 3×4"), "verify · decode 3 × 4 tokens");
  EXPECT_EQ(name("decoder", "decode 3"), "decoder · decode 3 sequences");
  EXPECT_EQ(name("prefill", "prefill 1×512, decode 16"),
            "prefill · prefill 1 × 512 tokens + decode 16 sequences");
  for (const char* other : {"decode", "decode x", "decode 1×", "decode 1 (2)", "prefill 1, other",
                            "decode 1, prefill 1", "4 sequences"}) {
    EXPECT_EQ(name("decode", other), std::string{"decode · "} + other);
  }
}

TEST(table, shows_work_outside_any_pass_in_a_section_of_its_own) {
  varve::report r = small_report();
  varve::row outside = layer("", "", varve::no_index, varve::none, 750, 3);
  outside.phase = "";
  r.layers.push_back(outside);
  const std::string text = varve::to_table(r);
  // There is no phase to take a share of: the row is all of what ran there.
  EXPECT_THAT(text, HasSubstr("\noutside any pass · launched while no pass was open"));
  EXPECT_THAT(text, HasSubstr("\n(outside layers)      2    750 µs  100.0"));
}

TEST(table, names_kernels_with_their_shape) {
  varve::report r = small_report();
  varve::row kernel =
      layer("void gemm<float>(float*)", "void gemm<float>(float*)", varve::no_index, varve::none, 6000, 8);
  kernel.inclusive.kernels = 2;
  kernel.shape = {{128, 4, 1}, {256, 1, 1}, 32, 0, 0};
  kernel.shapes = 3;
  varve::row copy = layer("Memcpy HtoD (Pinned -> Device)", "", varve::no_index, varve::none, 1500, 0);
  copy.inclusive.copies = 2;
  copy.inclusive.copy_bytes = 12345678;
  r.kernels = {kernel, copy};
  varve::table_options options = rows_only();
  options.by = varve::view::kernel;
  const auto lines = lines_of(varve::to_table(r, options));
  EXPECT_THAT(lines[1], AllOf(HasSubstr("kernel "), testing::EndsWith("copied      grid · block")));
  EXPECT_THAT(lines[3], AllOf(testing::StartsWith("gemm<float>  "), testing::EndsWith("128×4 · 256 (+2)")));
  EXPECT_THAT(lines[4],
              AllOf(testing::StartsWith("Memcpy HtoD (Pinned -> Device)  "), testing::EndsWith("12.3 MB")));
  EXPECT_THAT(lines[1], Not(HasSubstr("launch")));
}

TEST(table, compares_phases) {
  varve::table_options options = rows_only();
  options.by = varve::view::phase;
  EXPECT_EQ(
      varve::to_table(small_report(), options),
      R"(phase   passes     wall     step      p50      p95  tokens/s  a token  wall ÷ busy  compute %  comm %  copy %  starved %  gap %  launches  launch (CPU)
───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
decode       2  10.0 ms  5.00 ms  4.90 ms  5.10 ms       800  1.25 ms         1.33       60.0    10.0     5.0       15.0   10.0     1,400       7.00 ms

)");
}

TEST(table, lists_requests_with_the_phases) {
  varve::report r = small_report();
  r.requests.resize(2);
  r.requests[0].label = "chat";
  r.requests[0].index = 7;
  r.requests[0].passes = 3;
  r.requests[0].time_to_first_token = 31000000;
  r.requests[1].label = "chat";
  r.requests[1].index = 8;
  varve::table_options options;
  options.by = varve::view::phase;
  const std::string text = varve::to_table(r, options);
  EXPECT_THAT(text, HasSubstr("2 requests · first token p50 31.0 ms, p95 31.0 ms"));
  EXPECT_THAT(text, HasSubstr("\nchat 7        3      31.0 ms\n"));
  EXPECT_THAT(text, HasSubstr("\nchat 8        0\n"));  // nothing known
}

TEST(table, says_how_little_was_recorded) {
  const std::string text = varve::to_table(varve::report{});
  EXPECT_THAT(text, HasSubstr("No work on a GPU was recorded"));
  varve::table_options options;
  options.by = varve::view::phase;
  EXPECT_THAT(varve::to_table(varve::report{}, options), HasSubstr("(no phases)"));
}

TEST(table, says_that_no_layers_are_marked) {
  varve::report r = small_report();
  r.quality.attributed = 0;
  EXPECT_THAT(varve::to_table(r), HasSubstr("! No GPU time belongs to a layer"));
  r.quality.attributed = 0.5;
  EXPECT_THAT(varve::to_table(r), HasSubstr("! Only 50.0 % of the GPU time belongs to a layer"));
  r.quality.attributed = 0.95;
  EXPECT_THAT(varve::to_table(r), HasSubstr("  95.0 % of the GPU time belongs to a layer."));
}

TEST(table, says_what_kinds_of_kernels_a_phase_ran) {
  varve::report r = small_report();
  const auto category = [&](const char* name, std::int64_t gpu) {
    r.categories.push_back(layer(name, name, varve::no_index, varve::none, gpu, 1));
  };
  category("normalisation", 75);  // 75 µs ÷ 7.5 ms = 1 %
  category("linear", 6000);       // 80 %
  category("copy", 74);           // less than 1 %
  EXPECT_THAT(varve::to_table(r), HasSubstr("\n  work     linear 80.0 % · normalisation 1.0 %\n"));
}

/// The small report as a steady view's, whose first phase is a ramp of 1.2 ms with 0.9 ms busy in two passes.
varve::report with_a_ramp() {
  varve::report r = small_report();
  varve::phase_row ramp;
  ramp.phase = "decode (ramp)";
  ramp.passes = 2;
  ramp.wall = 1200000;
  ramp.decode_tokens = 3;  // 3 ÷ 1.2 ms = 2,500 tokens/s
  ramp.partition.compute = 900000;
  ramp.partition.starved.other = 300000;
  ramp.total.gpu_time = 900000;
  r.phases.insert(r.phases.begin(), ramp);
  r.layers.push_back(layer("only in the ramp", "only in the ramp", varve::no_index, varve::none, 900, 4));
  r.layers.back().phase = ramp.phase;
  r.quality.steady = true;
  r.quality.ramp_passes = 2;
  return r;
}

TEST(table, has_a_line_for_a_ramp_after_the_steady_phases) {
  const std::string line =
      "decode (ramp) · 2 passes · 3 tokens · 2,500 tokens/s · wall 1.20 ms · GPU busy 900 µs\n";
  varve::report r = with_a_ramp();
  const std::string text = varve::to_table(r);
  EXPECT_THAT(text, AllOf(HasSubstr("\n\n" + line + "\nWhat"), Not(HasSubstr("only in the ramp"))));
  EXPECT_LT(text.find("\ndecode · "), text.find("\ndecode (ramp) · "));
  EXPECT_THAT(varve::to_table(r, rows_only()), HasSubstr("\n\n" + line));
  r.quality.steady = false;  // then it is a kind of pass as any other
  EXPECT_THAT(varve::to_table(r), HasSubstr("\nonly in the ramp "));
}

TEST(table, puts_ramps_last_among_the_phases) {
  varve::table_options options;
  options.by = varve::view::phase;
  options.sort = varve::sort_key::order;
  const std::string text = varve::to_table(with_a_ramp(), options);
  EXPECT_LT(text.find("\ndecode  "), text.find("\ndecode (ramp)  "));
  EXPECT_THAT(text, Not(HasSubstr("\ndecode (ramp) · ")));  // no head of its own
}

TEST(table, tells_work_from_outside_that_ran_in_the_wall) {
  varve::report r = small_report();
  r.phases[0].total.gpu_time = 6000000;  // of the 7.5 ms that the device was busy
  EXPECT_THAT(varve::to_table(r), HasSubstr("GPU busy 7.50 ms (1.50 ms with work from outside)"));
}

TEST(table, counts_launches_of_graphs) {
  varve::report r = small_report();
  r.phases[0].total.graph_launches = 6;
  EXPECT_THAT(varve::to_table(r),
              HasSubstr("1,400 launches · 700 a pass · 175 a token · 6 of graphs · 7.00 ms"));
}

TEST(table, speaks_of_one_thing_in_the_singular) {
  varve::report r = small_report();
  r.devices[0].kernels = r.phases[0].total.launches = r.phases[0].passes = r.phases[0].decode_tokens = 1;
  r.quality.activities = r.quality.unmatched = 1;
  varve::table_options options;
  options.top = 7;  // of eight rows
  options.fold_below = 0;
  EXPECT_THAT(varve::to_table(r, options),
              AllOf(HasSubstr("1 kernel, "), HasSubstr("decode · 1 pass · 1 token · "),
                    HasSubstr("  launch   1 launch · 1.00 a token"), HasSubstr("\n… 1 more row: "),
                    HasSubstr("1 of 1 activity had no launch")));
}

TEST(table, says_by_how_much_profiling_stretched_the_passes) {
  varve::report r = small_report();
  r.devices[0].partition = r.phases[0].partition;  // 10 ms in passes
  r.devices[0].partition.no_pass = 5000000;
  r.unprofiled_wall = 8000000;  // 10 ÷ 8 = 1.25
  EXPECT_THAT(varve::to_table(r),
              HasSubstr("the passes took 1.25 × the 8.00 ms that they take without profiling"));
}

TEST(table, divides_the_time_from_the_first_pass_to_the_last) {
  varve::report r = small_report();
  r.devices[0].partition = r.phases[0].partition;
  r.devices[0].partition.no_pass = 10000000;  // 20 ms in all, half of them without a pass
  varve::table_options options;
  options.by = varve::view::phase;
  EXPECT_THAT(varve::to_table(r, options),
              AllOf(HasSubstr("\nfrom the first pass to the last\n"), HasSubstr("no pass open 50.0 %")));
}

TEST(table, lists_streams_by_their_time_where_there_are_several) {
  varve::report r = small_report();
  varve::device_row::stream stream;
  stream.stream.stream = 7;
  stream.kernels = 10;
  stream.kernel_union = 1000000;
  r.devices[0].streams = {stream};
  EXPECT_THAT(varve::to_table(r), Not(HasSubstr("streams")));
  stream.stream.stream = 13;
  stream.kernel_union = 6000000;
  r.devices[0].streams.push_back(stream);
  stream.stream.stream = 20;
  stream.kernels = 0;  // copies only
  r.devices[0].streams.push_back(stream);
  EXPECT_THAT(varve::to_table(r), HasSubstr("kernels in 2 streams: 13 for 6.00 ms, 7 for 1.00 ms"));
}

TEST(table, says_where_rows_overlap) {
  varve::report r = small_report();
  EXPECT_THAT(varve::to_table(r), Not(HasSubstr("Rows overlap")));
  r.layers[4].inclusive.gpu_time = 4500000;  // 60 % and 60 %
  EXPECT_THAT(varve::to_table(r), HasSubstr("Rows overlap in time: together they are more than 100 %."));
}

// What was launched in no pass: layer rows of 3 and 1 µs make 4, of which a kernel of 3 has 75 % and a label
// of 3 too.
TEST(table, takes_shares_of_the_same_whole_in_each_view) {
  varve::report r = small_report();
  r.phases.clear();
  r.labels.clear();
  r.kernels.clear();
  r.layers = {layer("a", "a", varve::no_index, varve::none, 3000, 1),
              layer("b", "b", varve::no_index, varve::none, 1000, 1)};
  for (varve::row& l : r.layers) {
    l.phase = "";
  }
  r.labels = r.kernels = {r.layers[0]};
  for (const auto by : {varve::view::layer, varve::view::label, varve::view::kernel}) {
    varve::table_options options;
    options.by = by;
    EXPECT_THAT(varve::to_table(r, options), HasSubstr("3.00 ms  75.0")) << static_cast<int>(by);
  }
}

// A block of 60 % and the attention in it of 20 %: 80 % would be of nothing.
TEST(table, adds_up_no_shares_of_labels_that_hold_one_another) {
  varve::report r = small_report();
  r.labels = {layer("layer", "layer", varve::no_index, varve::none, 4500, 700),
              layer("attention", "attention", varve::no_index, varve::none, 1500, 500)};
  varve::table_options options = rows_only();
  EXPECT_THAT(varve::to_table(r, options), HasSubstr("cum %"));
  options.by = varve::view::label;
  const std::string text = varve::to_table(r, options);
  EXPECT_THAT(text, AllOf(HasSubstr("1.50 ms   20.0 "), Not(HasSubstr("cum %")), Not(HasSubstr("80.0"))));
}

TEST(table, leaves_out_a_section_in_which_nothing_happened) {
  varve::report r = small_report();
  varve::row nothing = layer("", "", varve::no_index, varve::none, 0, 0);
  nothing.inclusive.calls = 0;
  nothing.phase = "";
  r.layers.push_back(nothing);
  EXPECT_THAT(varve::to_table(r), Not(HasSubstr("outside any pass")));
}

TEST(table, does_not_list_rows_of_a_phase_that_ran_nothing) {
  varve::report r = small_report();
  varve::phase_row capture;
  capture.phase = "capture";
  r.phases.push_back(capture);
  for (const char* name : {"first", "second"}) {
    r.layers.push_back(layer(name, name, varve::no_index, varve::none, 0, 0));
    r.layers.back().phase = "capture";
  }
  EXPECT_THAT(varve::to_table(r), AllOf(HasSubstr("nothing ran in its 2 rows"), Not(HasSubstr("second"))));
  varve::table_options options;
  options.fold_below = 0;
  EXPECT_THAT(varve::to_table(r, options), HasSubstr("second"));
}

TEST(table, says_how_many_kernels_were_launched_before_the_window) {
  varve::report r = small_report();
  r.quality.unmatched = 509;
  r.quality.unmatched_kernels = 436;
  EXPECT_THAT(varve::to_table(r),
              HasSubstr("! 436 kernels (509 of 1,400 activities) had no launch in the window"));
}

struct doubt {
  std::int64_t varve::report_quality::*count;
  const char* sentence;
};

TEST(table, names_each_doubt_where_there_is_one_and_only_then) {
  using quality = varve::report_quality;
  const doubt doubts[] = {
      {&quality::unmatched, "1 of 1,400 activities had no launch in the window"},
      {&quality::untimed, "1 activity has no usable times"},
      {&quality::negative_delays, "1 activity begins before the call that launched it"},
      {&quality::duplicate_correlations, "1 correlation id is used by several calls"},
      {&quality::unlabelled_nodes, "1 graph activity has no label of their own"},
      {&quality::stale_nodes, "1 graph activity may carry the layer of an earlier version"},
      {&quality::inferred_nodes, "1 graph activity is in layers that are inferred from repeated kernels"},
      {&quality::positioned_nodes, "1 graph activity has no layer, only a place in a graph"},
      {&quality::graph_launches_without_kernels, "1 graph launch has no activities"},
      {&quality::graph_launches_short, "1 graph launch has fewer activities"},
      {&quality::clipped_ranges, "1 range was open when the recording began or ended"}};
  varve::report r = small_report();
  for (const doubt& d : doubts) {
    EXPECT_THAT(varve::to_table(r), Not(HasSubstr(d.sentence)));
    r.quality.*d.count = 1;
    EXPECT_THAT(varve::to_table(r), HasSubstr(std::string{"  ! "} + d.sentence));
    r.quality.*d.count = 0;
  }
}

TEST(table, tells_short_launches_by_ids_from_those_that_look_short) {
  const auto text = [](std::int64_t all, std::int64_t by_look) {
    varve::report r = small_report();
    r.quality.graph_launches_short = all;
    r.quality.graph_launches_short_by_look = by_look;
    return varve::to_table(r);
  };
  const char* const firm = "have fewer activities than others of the same graph: some records are missing.";
  const char* const guess =
      "look like incomplete launches of another graph (records may be missing): idle time after them";
  EXPECT_THAT(text(5, 0), AllOf(HasSubstr(std::string{"5 graph launches "} + firm), Not(HasSubstr(guess))));
  EXPECT_THAT(text(5, 5), AllOf(HasSubstr(std::string{"5 graph launches "} + guess), Not(HasSubstr(firm))));
  EXPECT_THAT(text(5, 2), AllOf(HasSubstr(std::string{"3 graph launches "} + firm),
                                HasSubstr(std::string{"2 graph launches "} + guess)));
  EXPECT_THAT(text(0, 9), AllOf(Not(HasSubstr(firm)), Not(HasSubstr(guess))));  // of none
}

TEST(table, says_where_the_records_come_from) {
  varve::report r = small_report();
  r.quality.clock_error = 1200;
  r.quality.own_overhead = 3000;
  r.quality.implicit_pass = true;
  r.quality.live_cpu = true;
  r.quality.losses = {{"marker ranges dropped: buffer full", "thread 7", 1234}};
  r.quality.collectors = {{"markers", "0.1", varve::collector_state::running, ""},
                          {"cupti", "", varve::collector_state::unavailable, "libcupti.so was not found"}};
  EXPECT_THAT(varve::to_table(r),
              HasSubstr("    Clock: test clock. Times are known to within 1.20 µs. varve itself took 3.00 µs "
                        "of the host's time.\n"
                        "    markers 0.1 (still running)\n"
                        "  ! cupti is not available: libcupti.so was not found\n"));
  EXPECT_THAT(varve::to_table(r), HasSubstr("  ! 1,234 × marker ranges dropped: buffer full (thread 7)\n"));
  EXPECT_THAT(varve::to_table(r),
              AllOf(HasSubstr("No passes are marked"), HasSubstr("decode · taken as one pass")));
  EXPECT_THAT(varve::to_table(r), HasSubstr("ran on the host's own cores"));
}

TEST(table, colours_only_when_asked_and_changes_nothing_else) {
  varve::table_options options;
  options.width = 90;
  const std::string plain = varve::to_table(small_report(), options);
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  options.colour = true;
  std::string coloured = varve::to_table(small_report(), options);
  EXPECT_THAT(coloured, HasSubstr("\x1b[1m"));
  for (std::size_t at = 0; (at = coloured.find("\x1b[")) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) + 1 - at);
  }
  EXPECT_EQ(coloured, plain);
}

/// A report in which every text holds what a terminal would obey.
varve::report dangerous_report() {
  varve::report r;
  testing_support::filler{}.fill(r);
  const std::string bad =
      "\x1b]0;title\x07\r\n\t\xC2\x9B"
      "2J\xE2\x80\xAE\xFF";
  for (auto* rows : {&r.layers, &r.labels, &r.kernels, &r.categories}) {
    for (varve::row& one : *rows) {
      one.path = one.label = one.phase = one.model = one.batch = bad;
    }
  }
  for (varve::phase_row& p : r.phases) {
    p.phase = p.model = p.batch = bad;
  }
  r.phases.emplace_back();
  r.phases.back().phase = bad + "of no row";
  for (varve::device_row& d : r.devices) {
    d.device.name = bad;
  }
  for (varve::request_row& q : r.requests) {
    q.label = bad;
  }
  for (varve::loss& l : r.quality.losses) {
    l.what = l.where = bad;
  }
  for (varve::collector_status& c : r.quality.collectors) {
    c.name = c.version = c.detail = bad;
  }
  r.source = r.quality.clock = bad;
  return r;
}

constexpr varve::view views[] = {varve::view::layer,  varve::view::label,    varve::view::phase,
                                 varve::view::kernel, varve::view::category, varve::view::operators};

TEST(table, prints_nothing_that_a_terminal_obeys_in_any_view) {
  const varve::report r = dangerous_report();
  for (const varve::view by : views) {
    varve::table_options options;
    options.by = by;
    std::string text = varve::to_table(r, options);
    text.erase(std::remove(text.begin(), text.end(), '\n'), text.end());
    EXPECT_EQ(varve::table::printable(text), text);  // only the line ends were control characters
    EXPECT_THAT(text, HasSubstr("\uFFFD"));
  }
}

TEST(table, stays_within_the_width_in_every_view) {
  varve::report r = small_report();
  r.devices.push_back(r.devices[0]);
  r.layers[3].label = "注意力機構とても長い名前のレイヤー注意力機構とても長い名前のレイヤー";
  r.kernels.push_back(layer(std::string(300, 'k'), "", varve::no_index, varve::none, 1000, 1));
  r.kernels.back().inclusive.kernels = 1;
  r.labels.push_back(layer(std::string(200, 'l'), "", varve::no_index, varve::none, 1000, 1));
  r.categories.push_back(layer("linear", "", varve::no_index, varve::none, 1000, 1));
  r.quality.unmatched = 3;
  for (const varve::view by : views) {
    for (const int width : {40, 60, 80, 120, 200}) {
      varve::table_options options;
      options.by = by;
      options.width = width;
      for (const std::string& line : lines_of(varve::to_table(r, options))) {
        EXPECT_LE(varve::table::columns(line), static_cast<std::size_t>(width)) << line;
      }
    }
  }
}

TEST(table, prints_something_at_any_width) {
  for (const int width : {-5, 1, 2, 3, 10, 23}) {
    for (const varve::view by : views) {
      varve::table_options options;
      options.by = by;
      options.width = width;
      EXPECT_THAT(varve::to_table(small_report(), options),
                  HasSubstr(by == varve::view::operators ? "no operators" : "decode"));
    }
  }
}

TEST(table, survives_extreme_numbers_and_impossible_trees) {
  for (const std::int64_t extreme : {std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::max(), std::int64_t{-1}}) {
    varve::report r = small_report();
    varve::row& one = r.layers[2];
    one.inclusive.gpu_time = one.inclusive.kernel_time = one.inclusive.launch_time = extreme;
    one.inclusive.starved = {extreme, extreme, extreme, extreme, extreme};
    one.inclusive.declared = {extreme, extreme, extreme, extreme};
    one.per_call = times(1, 0, extreme, extreme, extreme);
    one.per_call.mean = std::numeric_limits<double>::infinity();
    r.phases[0].partition.starved = one.inclusive.starved;
    r.phases[0].partition.compute = r.phases[0].partition.device_gap = extreme;
    r.phases[0].prefill_tokens = r.phases[0].decode_tokens = extreme;
    r.begin = extreme;
    r.end = -1;
    r.layers[1].parent = 3;  // its own child
    r.layers[7].parent = 4000000;
    r.layers[2].index = std::numeric_limits<std::int32_t>::max();
    for (const varve::view by : views) {
      varve::table_options options;
      options.by = by;
      options.width = 80;
      EXPECT_NE(varve::to_table(r, options), "");
    }
  }
}

TEST(table, prints_a_tree_of_any_depth) {
  varve::report r = small_report();
  r.layers.clear();
  constexpr std::uint32_t depth = 20000;
  for (std::uint32_t i = 0; i < depth; ++i) {
    r.layers.push_back(
        layer("x", "level", static_cast<std::int32_t>(i), i == 0 ? varve::none : i - 1, 7500, 1));
  }
  varve::table_options options = rows_only();
  options.width = 80;
  const auto lines = lines_of(varve::to_table(r, options));
  EXPECT_EQ(lines.size(), depth + 5U);  // phase, head, rule, rows, total, empty line
  EXPECT_LE(varve::table::columns(lines[depth]), 80U);
  options.filter = "y";
  EXPECT_THAT(varve::to_table(r, options), HasSubstr("no row matches"));
}

}  // namespace

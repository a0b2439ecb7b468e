// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "predict/decode_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace {

using testing_support::add_layer;
using testing_support::decode;
using varve::finding;
using varve::findings_of;
using varve::no_index;

std::vector<finding> of_kind(const varve::report& r, finding::kind what) {
  std::vector<finding> all = findings_of(r);
  all.erase(std::remove_if(all.begin(), all.end(), [&](const finding& f) { return f.what != what; }),
            all.end());
  return all;
}

TEST(findings, nothing_is_found_in_nothing) { EXPECT_TRUE(findings_of({}).empty()); }

TEST(findings, a_phase_that_starves_is_launch_bound) {
  // 58 ms of work in 2350 ms: 2350 ÷ 58 = 40.5; it starves for 2292 ÷ 2350 = 97.5 %.
  varve::report r = decode(20, 58'000'000, 2'292'000'000);
  r.phases[0].total.launches = 5600;  // 280 a pass: graphs help
  r.phases[0].total.launch_time = 1'120'000'000;
  const auto found = of_kind(r, finding::kind::overhead);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].phase, 0U);
  EXPECT_DOUBLE_EQ(found[0].value, 2350.0 / 58);
  EXPECT_EQ(
      found[0].text,
      "decode is launch-bound: the device worked 58.0 ms of 2.35 s and had nothing to do for 97.5 % of it, "
      "overhead ratio 40.5: quantisation won't help, CUDA graphs or larger batches will");
  // Busy for 60 of 100: neither a ratio of 2 nor half of it starved.
  EXPECT_TRUE(of_kind(decode(1, 60, 40), finding::kind::overhead).empty());
}

// Busy for 1000 of 10,000 ns, and for most of the rest the host did something else than launch.
TEST(findings, a_phase_that_starves_is_told_by_what_the_host_did) {
  const auto text_of = [](varve::time_ns varve::starved_time::*part, std::int64_t launches) {
    varve::report r = decode(1, 1000, 1000);
    r.phases[0].wall = 10'000;
    r.phases[0].partition.starved.*part += 8000;
    r.phases[0].total.launches = launches;
    r.phases[0].total.launch_time = 10 * launches;
    const auto found = of_kind(r, finding::kind::overhead);
    return found.size() == 1 ? found[0].text : std::string{};
  };
  using parts = varve::starved_time;
  // One launch a pass, of a graph for example: another graph has nothing to gain.
  EXPECT_EQ(text_of(&parts::synchronising, 1),
            "decode is held up by synchronising: the device worked 1.00 µs of 10.0 µs and had nothing to do "
            "for 90.0 % of it, overhead ratio 10.0: quantisation won't help, fewer waits for the device, or "
            "larger batches will");
  // 100 launches, for which the host took 1000 ns: a tenth of the wall goes, but for one launch of 10 ns.
  EXPECT_THAT(text_of(&parts::synchronising, 100),
              testing::EndsWith("fewer waits for the device, CUDA graphs or larger batches will"));
  EXPECT_THAT(text_of(&parts::allocating, 1), testing::HasSubstr("held up by allocating"));
  EXPECT_THAT(text_of(&parts::graph_building, 1), testing::HasSubstr("held up by building graphs"));
  // Nine launches a pass are few: what the host did besides is not for them. Ten launches are many.
  EXPECT_THAT(
      text_of(&parts::other, 9),
      testing::AllOf(testing::HasSubstr("decode is held up by the engine's own code: "),
                     testing::EndsWith("won't help, less of it in each pass, or larger batches will")));
  EXPECT_THAT(text_of(&parts::launching, 9), testing::HasSubstr("decode is held up by launching: "));
  EXPECT_THAT(text_of(&parts::other, 10), testing::HasSubstr("decode is launch-bound: "));
}

// Ten passes of 1000 ns, busy for 100: the host launches for 20 and runs its own code for 880.
TEST(findings, replays_of_graphs_are_not_launch_bound) {
  varve::report r = decode(10, 1000, 200);
  r.phases[0].wall = 10'000;
  r.phases[0].partition.starved.other = 8800;
  r.phases[0].total.launches = 109;  // a graph, and 9.9 others a pass
  r.phases[0].total.graph_launches = 10;
  ASSERT_EQ(of_kind(r, finding::kind::overhead).size(), 1U);
  EXPECT_THAT(of_kind(r, finding::kind::overhead)[0].text,
              testing::HasSubstr("held up by the engine's own code"));
  r.phases[0].total.launches = 110;
  EXPECT_THAT(of_kind(r, finding::kind::overhead)[0].text, testing::HasSubstr("launch-bound"));
}

TEST(findings, slowest_layers_are_told_with_their_own_share) {
  varve::report r = decode(1, 1000, 0);
  add_layer(r, "layer", 0, 1, 700).exclusive.gpu_time = 100;  // 600 inside
  add_layer(r, "attention", no_index, 1, 600, 0);
  add_layer(r, "head", no_index, 1, 200);
  add_layer(r, "norm", no_index, 1, 50);
  const auto found = of_kind(r, finding::kind::slowest);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].layer, 1U);
  EXPECT_DOUBLE_EQ(found[0].value, 0.6);
  EXPECT_EQ(found[0].text,
            "layer 0 / attention in decode takes 600 ns itself, 60.0 % of its phase's GPU time");
  EXPECT_EQ(found[1].layer, 2U);
  EXPECT_EQ(found[2].layer, 0U);
}

// 36 layers with experts of 18 ns each, 648 of 1000 ns, the 36 norms 5 each, and a head: what one of the
// experts takes is no news, but that the 8th takes 30, more than 1.2 times the mean of 660 ÷ 36 = 18.3.
TEST(findings, layers_of_one_label_are_told_together) {
  varve::report r = decode(1, 1000, 0);
  for (int i = 0; i < 36; ++i) {
    const auto layer = static_cast<std::uint32_t>(r.layers.size());
    add_layer(r, "layer", i, 1, 23).exclusive.gpu_time = 0;
    add_layer(r, "FusedMoE", no_index, 1, i == 7 ? 30 : 18, layer);
    add_layer(r, "norm", no_index, 1, 5, layer);
  }
  add_layer(r, "head", no_index, 1, 160);
  for (const auto& [label, time] : {std::pair{"FusedMoE", 660}, {"norm", 180}, {"head", 160}}) {
    varve::row& all = r.labels.emplace_back();
    all.path = all.label = label;
    all.phase = "decode";
    all.inclusive.gpu_time = all.exclusive.gpu_time = time;
    all.main_kernel = "kernel_of_" + all.label;
  }
  auto found = of_kind(r, finding::kind::slowest);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].text,
            "FusedMoE in decode takes 660 ns itself in 36 layers together, 66.0 % of its phase's GPU time");
  EXPECT_DOUBLE_EQ(found[0].value, 0.66);
  EXPECT_EQ(r.layers[found[0].layer].path, "layer 7 / FusedMoE");
  EXPECT_EQ(found[0].phase, 0U);
  EXPECT_EQ(found[0].next_step,
            "ncu --set full --launch-count 1 --kernel-name 'regex:(^|:)kernel_of_FusedMoE$' ENGINE");
  EXPECT_EQ(found[1].text,
            "norm in decode takes 180 ns itself in 36 layers together, 18.0 % of its phase's GPU time");
  EXPECT_EQ(found[2].text, "head in decode takes 160 ns itself, 16.0 % of its phase's GPU time");
  EXPECT_EQ(found[3].text, "layer 7 / FusedMoE in decode takes 30 ns itself, 3.0 % of its phase's GPU time");
  // Of two phases each has its own: prefill's experts are another's, and one layer alone is told as such.
  varve::row prefill = r.labels[0];
  r.phases.push_back(r.phases[0]);
  r.phases[1].phase = prefill.phase = "prefill";
  r.labels.push_back(prefill);
  add_layer(r, "FusedMoE", 0, 1, 600).phase = "prefill";
  found = of_kind(r, finding::kind::slowest);
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[4].text, "FusedMoE 0 in prefill takes 600 ns itself, 60.0 % of its phase's GPU time");
}

// Six layers, the last five times as slow, and a kernel: a find where something ran.
TEST(findings, of_a_prediction_are_the_slowest_alone_and_nothing_profiles_them) {
  varve::report r = decode(1, 1000, 0);
  for (int i = 0; i < 6; ++i) {
    add_layer(r, "layer", i, 1, i == 5 ? 500 : 100).main_kernel = "gemm";
  }
  varve::row& k = r.kernels.emplace_back();
  k.path = "gemm";
  k.phase = "decode";
  k.inclusive.gpu_time = 1000;
  k.inclusive.kernels = 6;
  EXPECT_EQ(of_kind(r, finding::kind::stands_out).size(), 1U);
  EXPECT_NE(of_kind(r, finding::kind::slowest).front().next_step, "");
  r.quality.collectors.push_back({"prediction", "", varve::collector_state::stopped, ""});
  EXPECT_TRUE(of_kind(r, finding::kind::stands_out).empty());
  const auto slowest = of_kind(r, finding::kind::slowest);
  ASSERT_EQ(slowest.size(), 4U);  // three layers and the kernel
  for (const finding& f : slowest) {
    EXPECT_EQ(f.next_step, "") << f.text;
  }
  // Eight layers of 1, 2, … 8 µs: a trend where something ran.
  varve::report rising = decode(1, 36'000, 0);
  for (int i = 0; i < 8; ++i) {
    add_layer(rising, "layer", i, 1, 1000 * (i + 1));
  }
  EXPECT_EQ(of_kind(rising, finding::kind::drift).size(), 1U);
  rising.quality.collectors = r.quality.collectors;
  EXPECT_TRUE(of_kind(rising, finding::kind::drift).empty());
}

// ncu profiles GPUs.
TEST(findings, of_a_run_on_the_cpu_come_without_a_command) {
  varve::report r = decode(1, 1000, 0);
  add_layer(r, "layer", 0, 1, 500).main_kernel = "gemm";
  varve::row& k = r.kernels.emplace_back();
  k.path = "gemm";
  k.phase = "decode";
  k.inclusive.gpu_time = 500;
  k.inclusive.kernels = 1;
  for (const bool cpu : {false, true}) {
    r.quality.live_cpu = cpu;
    const auto found = of_kind(r, finding::kind::slowest);
    ASSERT_EQ(found.size(), 2U);
    for (const finding& f : found) {
      EXPECT_EQ(f.next_step.empty(), cpu) << f.text;
    }
  }
}

TEST(findings, slowest_kernels_are_told_by_phase_with_what_profiles_them) {
  varve::report r = decode(1, 1000, 0);
  r.phases.emplace_back().phase = "prefill";
  for (const auto& [name, time] : {std::pair{"void gemm<4>(int)", 100},
                                   {"norm", 600},
                                   {"Memcpy HtoD", 900},
                                   {"rope", 50},
                                   {"add", 20}}) {
    varve::row& k = r.kernels.emplace_back();
    k.path = name;
    k.phase = "decode";
    k.inclusive.gpu_time = time;
    k.inclusive.kernels = time == 900 ? 0 : 1;  // a copy is no kernel
  }
  const auto found = of_kind(r, finding::kind::slowest);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].phase, 0U);
  EXPECT_EQ(found[0].layer, varve::none);
  EXPECT_DOUBLE_EQ(found[0].value, 0.6);
  EXPECT_EQ(found[0].text, "kernel norm in decode takes 600 ns, 60.0 % of its phase's GPU time");
  EXPECT_EQ(found[0].next_step, "ncu --set full --launch-count 1 --kernel-name 'regex:(^|:)norm$' ENGINE");
  EXPECT_EQ(found[1].next_step, "ncu --set full --launch-count 1 --kernel-name 'regex:(^|:)gemm$' ENGINE");
  EXPECT_EQ(found[2].text, "kernel rope in decode takes 50 ns, 5.0 % of its phase's GPU time");
}

TEST(findings, a_layer_is_profiled_by_the_kernel_that_it_spends_most_time_in) {
  varve::report r = decode(1, 1000, 0);
  add_layer(r, "layer", 0, 1, 900).exclusive.gpu_time = 100;
  r.layers[0].main_kernel = "norm";
  add_layer(r, "attention", no_index, 1, 500, 0).main_kernel = "flash";
  add_layer(r, "mlp", no_index, 1, 300, 0).main_kernel = "gemm";
  add_layer(r, "head", no_index, 1, 90);  // its kernel isn't known
  const auto found = of_kind(r, finding::kind::slowest);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].next_step, "ncu --set full --launch-count 1 --kernel-name 'regex:(^|:)flash$' ENGINE");
  EXPECT_EQ(found[1].next_step, "ncu --set full --launch-count 1 --kernel-name 'regex:(^|:)gemm$' ENGINE");
  // Of the whole layer 0, itself 100, attention's 500 are most.
  EXPECT_EQ(found[2].next_step, found[0].next_step);
  r.layers.erase(r.layers.begin() + 1, r.layers.begin() + 3);
  EXPECT_EQ(of_kind(r, finding::kind::slowest)[1].next_step, "");
}

TEST(findings, varves_own_markers_select_the_layer_that_launched_the_kernel) {
  varve::report r = decode(1, 1000, 0);
  varve::row& layer = add_layer(r, "attention", 3, 1, 900);
  layer.main_kernel = "flash";
  layer.inclusive.launches = 1;
  const char* const kernel_alone = "ncu --set full --launch-count 1 --kernel-name 'regex:(^|:)flash$' ENGINE";
  EXPECT_EQ(of_kind(r, finding::kind::slowest)[0].next_step, kernel_alone);  // a foreign trace
  r.quality.collectors.push_back({"markers", "0.1.0", varve::collector_state::stopped, ""});
  EXPECT_EQ(of_kind(r, finding::kind::slowest)[0].next_step,
            "ncu --set full --launch-count 1 --kernel-name 'regex:(^|:)flash$' --nvtx --nvtx-include "
            "'varve@attention/' --nvtx-include 'varve@attention' ENGINE");
  r.layers[0].inclusive.graph_launches = 1;
  EXPECT_EQ(of_kind(r, finding::kind::slowest)[0].next_step, kernel_alone);
  r.layers[0].inclusive.graph_launches = r.layers[0].inclusive.launches = 0;  // replayed
  EXPECT_EQ(of_kind(r, finding::kind::slowest)[0].next_step, kernel_alone);
}

/// Layers of 10 calls each, by the GPU time of a call.
varve::report layers_of(const std::vector<varve::time_ns>& times) {
  varve::report r = decode(10, 1, 0);
  for (std::size_t i = 0; i < times.size(); ++i) {
    add_layer(r, "layer", static_cast<std::int32_t>(i), 10, 10 * times[i]);
  }
  return r;
}

TEST(findings, a_layer_that_differs_from_its_peers_stands_out) {
  const auto found = of_kind(layers_of({10'000, 11'000, 10'000, 12'000, 30'000}), finding::kind::stands_out);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].layer, 4U);
  EXPECT_EQ(found[0].phase, 0U);
  EXPECT_DOUBLE_EQ(found[0].value, 19'000 / (1.4826 * 1000));
  EXPECT_EQ(found[0].threshold, 3.5);
  EXPECT_EQ(
      found[0].text,
      "layer 4 in decode takes 30.0 µs a call against 11.0 µs of its 4 peers: 12.8 robust deviations, beyond "
      "3.50");
}

TEST(findings, a_sure_but_small_difference_is_no_news) {
  // All others alike: whatever differs scores without end, and 4 % are too few, 6 % are not.
  EXPECT_TRUE(of_kind(layers_of({1000, 1000, 1000, 1000, 1040}), finding::kind::stands_out).empty());
  EXPECT_EQ(of_kind(layers_of({1000, 1000, 1000, 1000, 1060}), finding::kind::stands_out).size(), 1U);
}

TEST(findings, layers_of_other_work_calls_or_kernels_are_no_peers) {
  varve::report r = layers_of({1000, 1000, 1000, 1000, 3000});
  r.layers[4].inclusive.kernels = 20;
  EXPECT_TRUE(of_kind(r, finding::kind::stands_out).empty());  // 4 are too few to tell
  r = layers_of({1000, 1000, 1000, 1000, 1000, 3000});
  r.layers[5].inclusive.declared.flops = 1;
  EXPECT_TRUE(of_kind(r, finding::kind::stands_out).empty());
}

/// A kernel of a replayed graph, by its place there.
void add_node(varve::report& r, const char* name, std::int32_t place, varve::time_ns time,
              std::uint32_t around) {
  add_layer(r, name, place, 1, time, around).kind = varve::range_kind::op;
}

TEST(findings, kernels_at_other_places_of_a_graph_are_no_peers) {
  // The sixth gemm works on a larger tensor.
  const auto of_graph = [](const char* around) {
    varve::report r = decode(1, 1, 0);
    add_layer(r, around, no_index, 1, 8000).kind = varve::range_kind::op;
    for (int i = 0; i < 6; ++i) {
      add_node(r, "gemm", 3 * i, i == 5 ? 3000 : 1000, 0);
    }
    return of_kind(r, finding::kind::stands_out).size();
  };
  EXPECT_EQ(of_graph("graph 1 (16 nodes)"), 0U);
  EXPECT_EQ(of_graph("graph 12 (1 node)"), 0U);
  EXPECT_EQ(of_graph("graph of calls"), 1U);  // an engine's own name
}

TEST(findings, kernels_at_one_place_of_inferred_layers_are_peers) {
  // Two gemms in each of six layers: one takes 1000 ns and 3000 in layer 4, the other 9000.
  varve::report r = decode(1, 1, 0);
  add_layer(r, "graph 1 (12 nodes)", no_index, 1, 62'000).kind = varve::range_kind::op;
  for (int i = 0; i < 6; ++i) {
    const auto layer = static_cast<std::uint32_t>(r.layers.size());
    add_layer(r, "inferred layer", i, 1, i == 4 ? 12'000 : 10'000, 0);
    add_node(r, "gemm", 0, i == 4 ? 3000 : 1000, layer);
    add_node(r, "gemm", 1, 9000, layer);
  }
  const auto found = of_kind(r, finding::kind::stands_out);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(r.layers[found[0].layer].path, "graph 1 (12 nodes) / inferred layer 4 / gemm 0");
}

TEST(findings, places_of_a_graph_are_not_called_layers) {
  varve::report r = decode(1, 8000, 0);
  add_layer(r, "graph 1 (8 nodes)", no_index, 1, 8000).exclusive.gpu_time = 0;
  for (int i = 0; i < 8; ++i) {
    add_node(r, "gemm", i, 1000, 0);
  }
  varve::row& all = r.labels.emplace_back(r.layers[1]);
  all.exclusive.gpu_time = 8000;
  EXPECT_EQ(
      of_kind(r, finding::kind::slowest).front().text,
      "gemm in decode takes 8.00 µs itself in 8 places of graphs together, 100.0 % of its phase's GPU time");
}

TEST(findings, what_is_inside_tells_for_the_layer_around_it) {
  varve::report r = decode(1, 1, 0);
  for (int i = 0; i < 6; ++i) {
    const bool odd = i == 3;
    const auto layer = static_cast<std::uint32_t>(r.layers.size());
    add_layer(r, "layer", i, 1, odd ? 2000 : 1000);
    add_layer(r, "attention", no_index, 1, odd ? 1400 : 500, layer);  // 900 of the 1000 too many
    add_layer(r, "mlp", no_index, 1, 500, layer);
  }
  const auto found = of_kind(r, finding::kind::stands_out);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(r.layers[found[0].layer].path, "layer 3 / attention");
}

TEST(findings, time_that_rises_from_layer_to_layer_drifts) {
  // 100 more a layer from 1000 to 1900: slope 100, 900 of the median 1450 in all. 45 of 45 pairs rise.
  std::vector<varve::time_ns> times;
  for (int i = 0; i < 10; ++i) {
    times.push_back(1000 + 100 * i);
  }
  const auto found = of_kind(layers_of(times), finding::kind::drift);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].value, 900.0 / 1450);
  EXPECT_EQ(
      found[0].text,
      "from layer 0 to layer 9 in decode GPU time a call rises by 900 ns, 62.1 % of the median 1.45 µs, by "
      "100 ns a layer");
  // As far, but up and down.
  EXPECT_TRUE(
      of_kind(layers_of({1000, 1900, 1000, 1900, 1000, 1900, 1000, 1900, 1000, 1900}), finding::kind::drift)
          .empty());
}

TEST(findings, of_many_that_stand_out_the_rest_is_counted) {
  std::vector<varve::time_ns> times(40, 1000);
  for (std::size_t i = 0; i < 13; ++i) {
    times[3 * i] = 2000;
  }
  const auto found = of_kind(layers_of(times), finding::kind::stands_out);
  ASSERT_EQ(found.size(), 11U);
  EXPECT_EQ(found.back().layer, varve::none);
  EXPECT_EQ(found.back().text, "and 3 layers more that stand out less");
}

}  // namespace

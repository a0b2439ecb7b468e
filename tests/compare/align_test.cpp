// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/compare.hpp>

#include "compare/made_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using testing_support::made_report;
using varve::comparison;
using varve::row_change;

/// "path", "path → new path", "path = new path" (renamed), "+path", "-path".
std::vector<std::string> rows_of(const comparison& c) {
  std::vector<std::string> out;
  for (const row_change& r : c.rows) {
    switch (r.what) {
      case row_change::kind::matched:
        out.push_back(r.path + (r.fresh_path.empty() ? "" : " → " + r.fresh_path));
        break;
      case row_change::kind::renamed:
        out.push_back(r.path + " = " + r.fresh_path);
        break;
      case row_change::kind::added:
        out.push_back('+' + r.path);
        break;
      case row_change::kind::removed:
        out.push_back('-' + r.path);
        break;
    }
  }
  return out;
}

std::vector<std::string> aligned(const made_report& base, const made_report& fresh) {
  return rows_of(compare(base.make(), fresh.make()));
}

TEST(align, layers_of_one_path_are_one) {
  made_report base;
  base.add("layer 0").add("layer 0 / attention", 100'000).add("layer 0 / mlp", 200'000);
  EXPECT_THAT(aligned(base, base), ElementsAre("layer 0", "layer 0 / attention", "layer 0 / mlp"));
}

TEST(align, other_names_inside_are_compared_at_the_lowest_row_that_both_have) {
  made_report base;
  base.add("layer 0").add("layer 0 / attention").add("layer 0 / attention / q", 30'000);
  base.add("layer 0 / attention / k", 30'000).add("layer 0 / attention / v", 40'000);
  made_report fresh;
  fresh.add("layer 0").add("layer 0 / attention").add("layer 0 / attention / qkv", 60'000);
  const comparison c = compare(base.make(), fresh.make());
  EXPECT_THAT(rows_of(c), ElementsAre("layer 0", "layer 0 / attention"));
  EXPECT_EQ(c.rows[1].base_inside, 3);
  EXPECT_EQ(c.rows[1].fresh_inside, 1);
  EXPECT_EQ(c.rows[1].inside, "q, k, v → qkv");
  // 30 + 30 + 40 and 60 µs: what runs inside counts for the row.
  EXPECT_NEAR(c.rows[1].gpu_time.mean_relative, -0.4, 1e-12);
}

// Three products of 50 µs against one of 120 µs by the same kernel: 2.4 times as long, and no slower q.
TEST(align, layers_that_were_fused_are_no_slowdown_of_the_first) {
  made_report base;
  base.add("layer 0").add("layer 0 / attention").add("layer 0 / attention / q", 50'000, "gemm");
  base.add("layer 0 / attention / k", 50'000, "gemm").add("layer 0 / attention / v", 50'000, "gemm");
  made_report fresh;
  fresh.add("layer 0").add("layer 0 / attention").add("layer 0 / attention / qkv", 120'000, "gemm");
  const comparison c = compare(base.make(), fresh.make());
  EXPECT_THAT(rows_of(c), ElementsAre("layer 0", "layer 0 / attention"));
  EXPECT_EQ(c.rows[1].inside, "q, k, v → qkv");
  EXPECT_NEAR(c.rows[1].gpu_time.mean_relative, -0.2, 1e-12);  // 150 and 120 µs
  EXPECT_THAT(aligned(fresh, base), ElementsAre("layer 0", "layer 0 / attention"));
}

TEST(align, an_engine_that_wraps_its_layers_still_compares) {
  made_report base;
  base.add("layer 0").add("layer 0 / mlp", 100'000).add("layer 1").add("layer 1 / mlp", 100'000);
  made_report fresh;
  fresh.add("model")
      .add("model / layers")
      .add("model / layers / layer 0")
      .add("model / layers / layer 0 / mlp", 100'000);
  fresh.add("model / layers / layer 1").add("model / layers / layer 1 / mlp", 100'000);
  EXPECT_THAT(
      aligned(base, fresh),
      ElementsAre("layer 0 → model / layers / layer 0", "layer 0 / mlp → model / layers / layer 0 / mlp",
                  "layer 1 → model / layers / layer 1", "layer 1 / mlp → model / layers / layer 1 / mlp"));
  EXPECT_THAT(aligned(fresh, base),
              ElementsAre("model / layers / layer 0 → layer 0", testing::_, testing::_, testing::_));
}

TEST(align, a_layer_at_the_same_place_with_the_same_kernel_was_renamed) {
  made_report base;
  base.add("layer 0").add("layer 0 / attention", 100'000, "flash").add("layer 0 / mlp", 200'000);
  made_report fresh;
  fresh.add("layer 0").add("layer 0 / self_attn", 300'000, "flash").add("layer 0 / mlp", 200'000);
  EXPECT_THAT(aligned(base, fresh),
              ElementsAre("layer 0", "layer 0 / attention = layer 0 / self_attn", "layer 0 / mlp"));
}

// Other names at every level, and all of it wrapped: "model" runs the kernels of both layers, so it is none.
TEST(align, an_engine_that_wraps_and_renames_its_layers_still_compares) {
  made_report base;
  made_report fresh;
  fresh.add("model");
  for (const std::string i : {"0", "1"}) {
    base.add("layer " + i).add("layer " + i + " / attention", 100'000, "flash");
    base.add("layer " + i + " / mlp", 200'000, "gemm");
    fresh.add("model / block " + i).add("model / block " + i + " / self_attn", 100'000, "flash");
    fresh.add("model / block " + i + " / ffn", 200'000, "gemm");
  }
  for (made_report* const r : {&base, &fresh}) {
    for (varve::row& one : r->raw().layers) {
      one.main_kernel = one.main_kernel.empty() ? "gemm" : one.main_kernel;
    }
  }
  const comparison c = compare(base.make(), fresh.make());
  EXPECT_THAT(
      rows_of(c),
      UnorderedElementsAre("layer 0 = model / block 0", "layer 0 / attention = model / block 0 / self_attn",
                           "layer 0 / mlp = model / block 0 / ffn", "layer 1 = model / block 1",
                           "layer 1 / attention = model / block 1 / self_attn",
                           "layer 1 / mlp = model / block 1 / ffn"));
  for (const row_change& r : c.rows) {
    EXPECT_EQ(r.gpu_time.verdict, varve::outcome::same) << r.path;
  }
  EXPECT_EQ(rows_of(compare(fresh.make(), base.make())).size(), 6U);
}

TEST(align, the_same_kernel_in_another_number_or_far_longer_is_no_renamed_layer) {
  made_report base;
  base.add("head", 100'000, "gemm");
  made_report fresh;
  fresh.add("adapter", 500'000, "gemm");
  EXPECT_THAT(aligned(base, fresh), ElementsAre("-head", "+adapter"));
  made_report two;
  two.add("adapter").add("adapter / a", 50'000, "gemm").add("adapter / b", 50'000, "gemm");
  two.raw().layers[0].main_kernel = "gemm";
  EXPECT_THAT(aligned(base, two), testing::Contains("-head"));
}

TEST(align, a_layer_of_other_work_was_not_renamed) {
  made_report base;
  base.add("head", 100'000).work("head", {1000, 500, 0, 0, {}, 0, 0});
  made_report fresh;
  fresh.add("sampler", 100'000).work("sampler", {2000, 500, 0, 0, {}, 0, 0});
  EXPECT_THAT(aligned(base, fresh), ElementsAre("-head", "+sampler"));
}

TEST(align, blocks_of_another_name_are_renamed_with_all_that_is_inside) {
  made_report base;
  made_report fresh;
  for (const std::string i : {"0", "1"}) {
    base.add("layer " + i).add("layer " + i + " / mlp", 100'000, "gemm");
    fresh.add("block " + i).add("block " + i + " / mlp", 110'000, "gemm");
  }
  EXPECT_THAT(aligned(base, fresh), ElementsAre("layer 0 = block 0", "layer 0 / mlp → block 0 / mlp",
                                                "layer 1 = block 1", "layer 1 / mlp → block 1 / mlp"));
}

TEST(align, added_and_removed_layers_are_told_with_what_is_inside) {
  made_report base;
  base.add("layer 0").add("layer 0 / mlp", 100'000).add("layer 1").add("layer 1 / mlp", 100'000);
  made_report fresh;
  fresh.add("layer 0").add("layer 0 / mlp", 100'000).add("layer 0 / adapter", 10'000).add("head", 10'000);
  const comparison c = compare(base.make(), fresh.make());
  EXPECT_THAT(rows_of(c),
              UnorderedElementsAre("layer 0", "layer 0 / mlp", "-layer 1", "+layer 0 / adapter", "+head"));
  for (std::size_t i = 0; i < c.rows.size(); ++i) {
    EXPECT_TRUE(c.rows[i].parent == varve::none || c.rows[i].parent < i);
  }
}

TEST(align, another_name_of_the_model_or_number_of_the_device_is_no_other_phase) {
  made_report base;
  base.add("mlp", 100'000);
  made_report fresh;
  fresh.add("mlp", 100'000);
  varve::report& r = fresh.raw();
  r.devices[0].device.id = 3;
  r.phases[0].device = 3;
  r.phases[0].model = "llama";
  r.layers[0].device = 3;
  r.layers[0].model = "llama";
  const comparison c = compare(base.make(), fresh.make());
  ASSERT_EQ(c.phases.size(), 1U);
  EXPECT_THAT(rows_of(c), ElementsAre("mlp"));
  EXPECT_TRUE(c.no_difference());
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "predict/memory_jumps.hpp"

#include "predict/decode_report.hpp"

#include <varve/varve.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using testing_support::add_layer;
using testing_support::decode;
using varve::finding;

std::vector<finding> jumps_in(const varve::report& r) {
  std::vector<finding> found;
  varve::predict::find_memory_jumps(r, varve::predict::find_peers(r), found);
  return found;
}

/// Layers of 10 calls each that leave so many megabytes in use after a call.
varve::report layers_leaving(const std::vector<double>& megabytes) {
  varve::report r = decode(10, 1, 0);
  for (std::size_t i = 0; i < megabytes.size(); ++i) {
    varve::row& layer = add_layer(r, "layer", static_cast<std::int32_t>(i), 10, 1000);
    layer.inclusive.allocated_bytes = static_cast<std::int64_t>(10 * (megabytes[i] + 50) * 1e6);
    layer.inclusive.freed_bytes = std::int64_t{10} * 50'000'000;
  }
  return r;
}

TEST(memory_jumps, a_layer_that_leaves_more_in_use_than_its_peers_is_told) {
  const auto found = jumps_in(layers_leaving({2, 2, 2, 10, 2}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, finding::kind::memory_jump);
  EXPECT_EQ(found[0].phase, 0U);
  EXPECT_EQ(found[0].layer, 3U);
  EXPECT_DOUBLE_EQ(found[0].value, 8e6);
  EXPECT_DOUBLE_EQ(found[0].threshold, 1e6);
  EXPECT_EQ(
      found[0].text,
      "layer 3 in decode leaves 10.0 MB of the device's memory in use after a call, against 2.00 MB of its "
      "4 peers");
  EXPECT_EQ(found[0].next_step, "look at what layer 3 allocates and keeps");
}

TEST(memory_jumps, small_unsure_or_smaller_differences_are_no_news) {
  EXPECT_TRUE(jumps_in(layers_leaving({2, 2, 2, 2.9, 2})).empty());          // 0.9 MB
  EXPECT_TRUE(jumps_in(layers_leaving({100, 100, 100, 104, 100})).empty());  // 4 %
  EXPECT_TRUE(jumps_in(layers_leaving({2, 2, 2, -10, 2})).empty());          // less
  // Median 4; deviations 3, 2, 0, 2, 4: median 2. 8 is 4 ÷ (1.4826 × 2) = 1.3 deviations away.
  EXPECT_TRUE(jumps_in(layers_leaving({1, 2, 4, 6, 8})).empty());
}

TEST(memory_jumps, several_devices_tell_it_once) {
  varve::report r = layers_leaving({2, 2, 2, 10, 2});
  const std::size_t rows = r.layers.size();
  r.phases.push_back(r.phases[0]);
  r.phases[1].device = 1;
  for (std::size_t i = 0; i < rows; ++i) {
    const varve::row copy = r.layers[i];
    r.layers.push_back(copy);
    r.layers.back().device = 1;
  }
  EXPECT_EQ(jumps_in(r).size(), 1U);
}

/// Passes after which so many megabytes are in use.
varve::report passes_of(const std::vector<std::int64_t>& megabytes) {
  varve::report r = decode(static_cast<std::int64_t>(megabytes.size()), 1, 0);
  r.phases[0].samples.stride = 1;
  for (const std::int64_t m : megabytes) {
    r.phases[0].samples.held_bytes.push_back(m * 1'000'000);
  }
  r.phases[0].total.allocated_bytes = (megabytes.back() - megabytes.front()) * 1'000'000;
  return r;
}

TEST(memory_jumps, memory_that_grows_pass_after_pass_is_told) {
  // Each pass leaves 2 MB: slope 2 MB, 14 MB from the first to the last of eight. All 28 pairs rise:
  // 28 ÷ √(8 × 7 × 21 ÷ 18) = 3.46 deviations.
  varve::report r = passes_of({10, 12, 14, 16, 18, 20, 22, 24});
  const std::string text =
      "memory of the device in use grows pass after pass in decode: by 2.00 MB a pass, 14.0 MB in all";
  ASSERT_EQ(jumps_in(r).size(), 1U);
  EXPECT_EQ(jumps_in(r)[0].what, finding::kind::memory_jump);
  EXPECT_EQ(jumps_in(r)[0].phase, 0U);
  EXPECT_EQ(jumps_in(r)[0].layer, varve::none);
  EXPECT_DOUBLE_EQ(jumps_in(r)[0].value, 14e6);
  EXPECT_EQ(jumps_in(r)[0].text, text);
  // Half of it is left by one layer itself.
  add_layer(r, "kv cache", varve::no_index, 8, 10).exclusive.allocated_bytes = 7'000'000;
  EXPECT_EQ(jumps_in(r)[0].layer, 0U);
  EXPECT_EQ(jumps_in(r)[0].text, text + ", most of it in kv cache");
  r.layers[0].exclusive.freed_bytes = 1;
  EXPECT_EQ(jumps_in(r)[0].layer, varve::none);
  // Of every tenth pass.
  r.phases[0].samples.stride = 10;
  EXPECT_EQ(jumps_in(r)[0].text,
            "memory of the device in use grows pass after pass in decode: by 200 kB a pass, 14.0 MB in all");
}

TEST(memory_jumps, what_is_given_back_small_or_meant_to_grow_is_no_news) {
  EXPECT_TRUE(jumps_in(passes_of({10, 24, 10, 24, 10, 24, 10, 24})).empty());
  EXPECT_TRUE(jumps_in(passes_of({10, 24, 24, 24, 24, 24, 24, 24})).empty());  // once: the median slope is 0
  EXPECT_TRUE(jumps_in(passes_of({24, 22, 20, 18, 16, 14, 12, 10})).empty());
  EXPECT_TRUE(jumps_in(passes_of({10, 12, 14, 16, 18, 20, 22})).empty());  // seven
  varve::report r = passes_of({10, 12, 14, 16, 18, 20, 22, 24});
  r.phases[0].phase = VARVE_LOAD;
  EXPECT_TRUE(jumps_in(r).empty());
}

TEST(memory_jumps, hostile_numbers_do_no_harm) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  varve::report r = layers_leaving({2, 2, 2, 10, 2});
  r.phases[0].samples.stride = -1;
  r.phases[0].samples.held_bytes = {-most - 1, most, -most - 1, most, 0, 0, most, most, most};
  r.phases[0].total.allocated_bytes = most;
  r.phases[0].total.freed_bytes = -most - 1;
  for (varve::row& layer : r.layers) {
    layer.exclusive.allocated_bytes = layer.inclusive.freed_bytes = -most - 1;
    layer.exclusive.freed_bytes = layer.inclusive.allocated_bytes = most;
  }
  EXPECT_LE(jumps_in(r).size(), 1U);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Each kernel against double, with a bound on the rounding errors as its tolerance.
#include "cpu_kernels.hpp"
#include "reference.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace {

using decoder::head_shape;
using reference::random_floats;
using reference::roundoff;

/// A matrix with its memory.
struct floats {
  std::vector<float> values;
  std::int64_t rows;
  std::int64_t columns;

  floats(std::int64_t r, std::int64_t c, std::uint64_t seed)
      : values{random_floats(static_cast<std::size_t>(r * c), seed)}, rows{r}, columns{c} {}
  decoder::cpu::matrix view() { return {values.data(), rows, columns}; }
  reference::matrix exact() const { return reference::to_matrix(values, static_cast<std::size_t>(columns)); }
};

decoder::cpu::indices view(std::vector<std::int32_t>& ids) {
  return {ids.data(), static_cast<std::int64_t>(ids.size())};
}

using product_shape = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // m, n, k

class matmul : public testing::TestWithParam<product_shape> {};

// A sum of k products, in any order, is wrong by at most k roundings of the sum of their magnitudes.
TEST_P(matmul, equals_the_double_product_within_k_roundings) {
  const auto [m, n, k] = GetParam();
  floats x{m, k, 1};
  floats weight{n, k, 2};
  floats out{m, n, 3};
  decoder::cpu::matmul(out.view(), x.view(), weight.view());
  const auto a = x.exact();
  const auto b = weight.exact();
  const auto c = out.exact();
  for (std::size_t r = 0; r < c.size(); ++r) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      double magnitude = 0;
      for (std::size_t i = 0; i < a[r].size(); ++i) {
        magnitude += std::abs(a[r][i] * b[j][i]);
      }
      ASSERT_NEAR(c[r][j], reference::dot(a[r], b[j]), static_cast<double>(k) * roundoff * magnitude);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(shapes, matmul,
                         testing::Values(product_shape{1, 1, 1}, product_shape{1, 7, 33},
                                         product_shape{3, 5, 64}, product_shape{17, 31, 129}));

// The mean of n squares is wrong by n roundings, of which the root keeps half; four operations follow.
TEST(rms_norm, equals_double_for_odd_widths) {
  for (const std::int64_t n : {1, 2, 67, 344}) {
    floats x{3, n, 4};
    floats weight{1, n, 5};
    floats out{3, n, 6};
    decoder::cpu::rms_norm(out.view(), x.view(), weight.view(), 1e-5F);
    for (std::size_t r = 0; r < 3; ++r) {
      const auto expected =
          reference::rms_norm(x.exact()[r], weight.exact().front(), static_cast<double>(1e-5F));
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const double tolerance = (static_cast<double>(n) / 2 + 4) * roundoff * std::abs(expected[i]);
        ASSERT_NEAR(out.exact()[r][i], expected[i], tolerance) << "n = " << n;
      }
    }
  }
}

// Sine and cosine, their products and the sum: three roundings of at most |a| + |b| ≤ 2.
TEST(rope, turns_the_pairs_of_each_head_by_their_positions) {
  constexpr std::int64_t size = 10;
  std::vector<std::int32_t> positions{0, 1, 5, 1000};
  floats x{4, 3 * size, 7};
  const auto before = x.exact();
  decoder::cpu::rope(x.view(), view(positions), size, 10000.0F);
  for (std::size_t r = 0; r < positions.size(); ++r) {
    const auto expected = reference::rope(before[r], positions[r], size, 10000.0);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(x.exact()[r][i], expected[i], 6 * roundoff);
    }
  }
}

TEST(rope, leaves_position_0_alone) {
  std::vector<std::int32_t> positions{0};
  floats x{1, 8, 8};
  const auto before = x.values;
  decoder::cpu::rope(x.view(), view(positions), 4, 10000.0F);
  EXPECT_EQ(x.values, before);
}

// exp (two roundings), two additions, division and product.
TEST(swiglu, equals_double_over_the_range_of_float_exponentials) {
  floats gate{5, 13, 9};
  floats up{5, 13, 10};
  gate.values[0] = 30;
  gate.values[1] = -30;
  gate.values[2] = -100;  // exp(100) is infinite in float: the result is -0, in double -3.7e-42
  gate.values[3] = 0;
  const auto before = gate.exact();
  decoder::cpu::swiglu(gate.view(), up.view());
  for (std::size_t r = 0; r < 5; ++r) {
    const auto expected = reference::swiglu(before[r], up.exact()[r]);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double tolerance = 8 * roundoff * std::abs(expected[i]) + std::numeric_limits<float>::min();
      ASSERT_NEAR(gate.exact()[r][i], expected[i], tolerance);
    }
  }
}

// heads, kv_heads, size, context
using attention_case = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

class attention : public testing::TestWithParam<attention_case> {};

// Two sequences of which the last two and the last token ask. A score sums `size` products of magnitude
// 1/4 on average, over sqrt(size): wrong by (size + 2) roundings of sqrt(size) / 4, 8e-6 for size 64. The
// softmax doubles that at most; values are below 1.
TEST_P(attention, equals_double_over_the_cache_up_to_each_rows_position) {
  const auto [heads, kv_heads, size, context] = GetParam();
  const head_shape shape{heads, kv_heads, size};
  const std::int64_t capacity = context + 3;
  const std::int64_t kv_width = shape.kv_heads * shape.size;
  floats keys{2 * capacity, kv_width, 11};
  floats values{2 * capacity, kv_width, 12};
  floats queries{3, shape.heads * shape.size, 13};
  floats out{3, shape.heads * shape.size, 14};
  const auto last = static_cast<std::int32_t>(context - 1);
  std::vector<std::int32_t> sequences{1, 1, 0};
  std::vector<std::int32_t> positions{last - 1, last, last};
  const decoder::cpu::cache cache{keys.view(), values.view(), capacity};
  decoder::cpu::attention(out.view(), queries.view(), cache, {view(sequences), view(positions)}, shape,
                          context);
  for (std::size_t r = 0; r < 3; ++r) {
    const std::ptrdiff_t first = sequences[r] * capacity;
    const std::ptrdiff_t end = first + positions[r] + 1;
    const auto k = keys.exact();
    const auto v = values.exact();
    const auto expected = reference::attention(
        queries.exact()[r], {k.begin() + first, k.begin() + end}, {v.begin() + first, v.begin() + end},
        static_cast<std::size_t>(shape.heads), static_cast<std::size_t>(shape.kv_heads));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(out.exact()[r][i], expected[i], 2e-5) << "row " << r;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(shapes, attention,
                         testing::Values(attention_case{1, 1, 2, 2}, attention_case{4, 4, 6, 7},
                                         attention_case{4, 2, 10, 33}, attention_case{8, 2, 64, 40}));

TEST(attention, result_does_not_depend_on_the_bound) {
  floats keys{8, 4, 15};
  floats values{8, 4, 16};
  floats queries{1, 4, 17};
  floats tight{1, 4, 18};
  floats wide{1, 4, 19};
  std::vector<std::int32_t> sequences{0};
  std::vector<std::int32_t> positions{4};
  const decoder::cpu::cache cache{keys.view(), values.view(), 8};
  const decoder::cpu::places where{view(sequences), view(positions)};
  decoder::cpu::attention(tight.view(), queries.view(), cache, where, {2, 2, 2}, 5);
  decoder::cpu::attention(wide.view(), queries.view(), cache, where, {2, 2, 2}, 512);
  EXPECT_EQ(tight.values, wide.values);
  EXPECT_THROW(decoder::cpu::attention(wide.view(), queries.view(), cache, where, {2, 2, 2}, 4),
               std::out_of_range);
}

TEST(store_kv, writes_each_row_to_its_place_and_nothing_else) {
  floats keys{4, 1, 20};
  floats values{4, 1, 21};
  keys.values.assign(4, 0.0F);
  values.values.assign(4, 0.0F);
  floats new_keys{2, 1, 22};
  floats new_values{2, 1, 23};
  std::vector<std::int32_t> sequences{1, 0};
  std::vector<std::int32_t> positions{0, 1};
  const decoder::cpu::cache cache{keys.view(), values.view(), 2};
  decoder::cpu::store_kv(cache, new_keys.view(), new_values.view(), {view(sequences), view(positions)});
  // Rows of the cache: sequence · 2 + position = 2 and 1.
  EXPECT_EQ(keys.values, (std::vector<float>{0, new_keys.values[1], new_keys.values[0], 0}));
  EXPECT_EQ(values.values, (std::vector<float>{0, new_values.values[1], new_values.values[0], 0}));
  positions[1] = 2;  // the next sequence's place
  EXPECT_THROW(
      decoder::cpu::store_kv(cache, new_keys.view(), new_values.view(), {view(sequences), view(positions)}),
      std::out_of_range);
}

TEST(embedding, copies_the_rows_of_the_tokens_and_refuses_unknown_ones) {
  floats table{3, 2, 24};
  floats out{2, 2, 25};
  std::vector<std::int32_t> tokens{2, 0};
  decoder::cpu::embedding(out.view(), table.view(), view(tokens));
  EXPECT_EQ(out.values,
            (std::vector<float>{table.values[4], table.values[5], table.values[0], table.values[1]}));
  tokens[1] = 3;
  EXPECT_THROW(decoder::cpu::embedding(out.view(), table.view(), view(tokens)), std::out_of_range);
  tokens[1] = -1;
  EXPECT_THROW(decoder::cpu::embedding(out.view(), table.view(), view(tokens)), std::out_of_range);
}

TEST(argmax, takes_the_first_of_equals) {
  floats x{2, 4, 26};
  x.values = {1, 3, 2, 3, -5, -4, -4, -6};
  std::vector<std::int32_t> out{9, 9};
  decoder::cpu::argmax(view(out), x.view());
  EXPECT_EQ(out, (std::vector<std::int32_t>{1, 1}));
}

}  // namespace

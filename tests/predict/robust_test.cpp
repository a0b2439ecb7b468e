// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "predict/robust.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using varve::predict::find_trend;
using varve::predict::median;
using varve::predict::median_deviation;
using varve::predict::robust_score;

TEST(robust, median_of_an_even_number_is_the_mean_of_the_middle_two) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({9, 1, 5, 6}), 5.5);
}

TEST(robust, one_odd_value_does_not_hide_itself) {
  const std::vector<double> values{10, 11, 10, 12, 30};
  // Deviations from 11: 1, 0, 1, 1, 19. Their median is 1, a standard deviation 1.4826.
  EXPECT_EQ(median_deviation(values, 11), 1);
  EXPECT_DOUBLE_EQ(robust_score(30, 11, 1), 19 / 1.4826);
  EXPECT_EQ(robust_score(11, 11, 0), 0);
  EXPECT_TRUE(std::isinf(robust_score(12, 11, 0)));
}

TEST(robust, trend_is_the_median_of_all_slopes) {
  // 10, 11, 10, 12 at 0 to 3: slopes 1, 0, 2/3, −1, 1/2, 2, in order −1, 0, 1/2, 2/3, 1, 2: median 7/12.
  // Four pairs rise, one falls, one is level: S = 3, √(4·3·13 ÷ 18) = 2.944.
  const auto t = find_trend({0, 1, 2, 3}, {10, 11, 10, 12});
  EXPECT_DOUBLE_EQ(t.slope, 7.0 / 12);
  EXPECT_DOUBLE_EQ(t.score, 3 / std::sqrt(4 * 3 * 13 / 18.0));
}

TEST(robust, one_point_has_no_trend) {
  EXPECT_EQ(find_trend({3}, {10}).slope, 0);
  EXPECT_EQ(find_trend({3, 3}, {10, 20}).score, 0);
}

}  // namespace

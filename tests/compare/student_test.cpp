// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/student.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using varve::comparing::student_quantile;
using varve::comparing::student_two_sided;

// Printed tables of the t distribution, two-sided 5 %.
TEST(student, quantiles_are_those_of_the_tables) {
  EXPECT_NEAR(student_quantile(0.05, 1), 12.7062047, 1e-6);
  EXPECT_NEAR(student_quantile(0.05, 2), 4.3026527, 1e-6);
  EXPECT_NEAR(student_quantile(0.05, 10), 2.2281389, 1e-6);
  EXPECT_NEAR(student_quantile(0.05, 120), 1.9799304, 1e-6);
  EXPECT_NEAR(student_quantile(0.05, 1e9), 1.9599640, 1e-6);
  EXPECT_NEAR(student_quantile(0.01, 5), 4.0321430, 1e-6);
}

// With one degree it is Cauchy's: P(|T| > 1) = 1 − 2·atan(1)/π = 1/2; with two P(|T| > t) = 1 − t/√(2 + t²).
TEST(student, probabilities_are_those_of_closed_forms) {
  EXPECT_NEAR(student_two_sided(1, 1), 0.5, 1e-12);
  EXPECT_NEAR(student_two_sided(3, 2), 1 - 3 / std::sqrt(11.0), 1e-12);
  EXPECT_NEAR(student_two_sided(1e6, 1), 2e-6 / 3.14159265358979, 1e-15);
}

TEST(student, ends_of_the_range_are_safe) {
  EXPECT_EQ(student_two_sided(0, 3), 1);
  EXPECT_EQ(student_two_sided(1e200, 3), 0);
  EXPECT_EQ(student_two_sided(std::nan(""), 3), 1);
  EXPECT_GT(student_quantile(1e-9, 1), 1e8);
}

}  // namespace

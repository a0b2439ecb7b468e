// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/budget.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "compare/glob.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using varve::exact_text;
using varve::figure_unit;
using varve::parse_change;
using varve::parse_quantity;
using varve::short_text;

std::string refusal(std::string_view text, figure_unit unit) {
  try {
    const double value = parse_quantity(text, unit);
    return "read as " + std::to_string(value);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

TEST(quantity, is_read_in_the_figures_unit) {
  EXPECT_EQ(parse_quantity("200us", figure_unit::time), 200e3);
  EXPECT_EQ(parse_quantity(" 1.5 ms ", figure_unit::time), 1.5e6);
  EXPECT_EQ(parse_quantity("12.4ms", figure_unit::time), 12.4e6);
  EXPECT_EQ(parse_quantity("3 µs", figure_unit::time), 3e3);
  EXPECT_EQ(parse_quantity("2 min", figure_unit::time), 120e9);
  EXPECT_EQ(parse_quantity("12", figure_unit::count), 12);
  EXPECT_EQ(parse_quantity("95 %", figure_unit::share), 0.95);
  EXPECT_EQ(parse_quantity("0.95", figure_unit::share), 0.95);
  EXPECT_EQ(parse_quantity("1", figure_unit::share), 1);
  EXPECT_EQ(parse_quantity("105 %", figure_unit::share), 1.05);
  EXPECT_EQ(parse_quantity("1.2", figure_unit::ratio), 1.2);
  EXPECT_EQ(parse_quantity("64 KiB", figure_unit::bytes), 65536);
  EXPECT_EQ(parse_quantity("300 GB/s", figure_unit::byte_rate), 300e9);
  EXPECT_EQ(parse_quantity("40 TFLOP/s", figure_unit::flop_rate), 40e12);
  EXPECT_EQ(parse_quantity("100 FLOP/B", figure_unit::intensity), 100);
  EXPECT_EQ(parse_quantity("1200 tokens/s", figure_unit::token_rate), 1200);
}

TEST(quantity, of_a_wrong_unit_is_refused_with_an_example) {
  EXPECT_THAT(refusal("300 GB/s", figure_unit::time),
              AllOf(HasSubstr("\"300 GB/s\" is no time"), HasSubstr("200us or 1.5 ms")));
  EXPECT_THAT(refusal("200", figure_unit::time), HasSubstr("it has no unit"));
  EXPECT_THAT(refusal("12 ms", figure_unit::count), HasSubstr("is no count"));
  EXPECT_THAT(refusal("300 GB", figure_unit::byte_rate), HasSubstr("is no rate of bytes"));
  EXPECT_THAT(refusal("-3 ms", figure_unit::time), HasSubstr("it is negative"));
  EXPECT_THAT(refusal("5 MS", figure_unit::time), HasSubstr("is no time"));
  EXPECT_THAT(refusal("1e20", figure_unit::count), HasSubstr("is no count"));
  EXPECT_THAT(refusal("99999999999999999999", figure_unit::count), HasSubstr("too large"));
  for (const char* const text : {"", " ", "ms", ".", "1.2.3 ms", "nan", "inf", "0x10", "1,5 ms", "5 m s"}) {
    EXPECT_THAT(refusal(text, figure_unit::time), HasSubstr("is no time")) << text;
  }
  EXPECT_THAT(refusal(std::string(100000, '9'), figure_unit::count), HasSubstr("…\" is no count"));
}

TEST(quantity, of_percent_is_no_ratio_and_a_share_above_one_says_its_percent) {
  EXPECT_THAT(refusal("1.2 %", figure_unit::ratio), HasSubstr("\"1.2 %\" is no ratio; give one such as 1.2"));
  for (const char* const text : {"60", "20.5", "120", "1.001"}) {
    EXPECT_THAT(refusal(text, figure_unit::share), HasSubstr("looks like a percentage, and has no %"))
        << text;
  }
  // What is written has its % too, however many digits it has.
  EXPECT_EQ(exact_text(1234.5678901234567, figure_unit::share), "123456.78901234567 %");
  EXPECT_EQ(parse_quantity("123456.78901234567 %", figure_unit::share), 1234.5678901234567);
}

TEST(quantity, that_is_a_change_says_its_direction) {
  EXPECT_EQ(parse_change("+5 %"), 0.05);
  EXPECT_EQ(parse_change("-2.5%"), -0.025);
  EXPECT_EQ(parse_change("+0 %"), 0);
  for (const char* const text : {"5 %", "+5", "+5 ms", "+", "", "+-5 %", "-101 %", "+x %"}) {
    EXPECT_THROW(static_cast<void>(parse_change(text)), std::invalid_argument) << text;
  }
}

TEST(quantity, is_written_as_people_do) {
  EXPECT_EQ(exact_text(12.4e6, figure_unit::time), "12.4 ms");
  EXPECT_EQ(exact_text(999, figure_unit::time), "999 ns");
  EXPECT_EQ(exact_text(0, figure_unit::time), "0 ns");
  EXPECT_EQ(exact_text(0.95, figure_unit::share), "95 %");
  EXPECT_EQ(exact_text(0.07, figure_unit::share), "7 %");
  EXPECT_EQ(exact_text(1.33, figure_unit::ratio), "1.33");
  EXPECT_EQ(exact_text(3.35e12, figure_unit::byte_rate), "3.35 TB/s");
  EXPECT_EQ(exact_text(12, figure_unit::count), "12");
  EXPECT_EQ(short_text(231'400, figure_unit::time), "231 µs");
  EXPECT_EQ(short_text(1400, figure_unit::count), "1,400");
  EXPECT_EQ(short_text(0.9712, figure_unit::share), "97.1 %");
  EXPECT_EQ(short_text(3.351e12, figure_unit::byte_rate), "3.35 TB/s");
  EXPECT_EQ(short_text(812.3, figure_unit::token_rate), "812 tokens/s");
}

TEST(quantity, comes_back_exactly_from_its_text) {
  std::mt19937_64 random{7};
  std::uniform_real_distribution<double> exponent{-3, 17.9};
  for (int i = 0; i < 2000; ++i) {
    const double value = std::pow(10.0, exponent(random));
    for (int unit = 0; unit < 10; ++unit) {
      const auto u = static_cast<figure_unit>(unit);
      EXPECT_EQ(parse_quantity(exact_text(value, u), u), value) << exact_text(value, u);
    }
  }
}

TEST(pattern, has_stars_for_any_text_and_escapes) {
  using varve::budgets::fits;
  EXPECT_TRUE(fits("attention", "attention"));
  EXPECT_FALSE(fits("attention", "attention 3"));
  EXPECT_TRUE(fits("*gemm*", "ampere_gemm_64"));
  EXPECT_TRUE(fits("a*b*c", "aXbXbXc"));
  EXPECT_FALSE(fits("a*b*c", "aXbXb"));
  EXPECT_TRUE(fits("*", ""));
  EXPECT_FALSE(fits("", "x"));
  EXPECT_TRUE(fits(R"(f\*)", "f*"));
  EXPECT_FALSE(fits(R"(f\*)", "fx"));
  EXPECT_TRUE(fits(R"(*\*)", "a**"));
  EXPECT_TRUE(fits(varve::budgets::escaped(R"(void f(float*, \n))"), R"(void f(float*, \n))"));
  EXPECT_FALSE(fits(std::string(256, '*') + "b", std::string(4096, 'a')));
}

TEST(pattern, of_a_path_stays_within_its_steps) {
  const auto path_fits = [](const char* pattern, const char* path) {
    return varve::budgets::path_pattern{pattern}.fits(path);
  };
  EXPECT_TRUE(path_fits("layer * / attention", "layer 12 / attention"));
  EXPECT_FALSE(path_fits("layer *", "layer 12 / attention"));
  EXPECT_FALSE(path_fits("layer * / attention", "layer 1 / block / attention"));
  EXPECT_TRUE(path_fits("**", "layer 1 / block / attention"));
  EXPECT_TRUE(path_fits("** / attention", "layer 1 / block / attention"));
  EXPECT_TRUE(path_fits("** / attention", "attention"));
  EXPECT_TRUE(path_fits("layer * / **", "layer 1"));
  EXPECT_TRUE(path_fits("** / b / ** / d", "a / b / c / b / c / d"));
  EXPECT_FALSE(path_fits("** / b / ** / d", "a / b / c"));
}

}  // namespace

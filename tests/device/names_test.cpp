// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/device.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using varve::ceilings_named;

std::string error_of(std::string_view name) {
  try {
    static_cast<void>(ceilings_named(name));
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "no error";
}

TEST(ceilings_named, takes_any_case_and_punctuation) {
  for (const char* name :
       {"a100-sxm4-80gb", "A100 SXM4 80GB", "A100_SXM4_80GB", "NVIDIA A100-SXM4-80GB", "a100sxm480gb"}) {
    EXPECT_EQ(ceilings_named(name).name, "A100 SXM4 80GB") << name;
  }
  EXPECT_EQ(ceilings_named("rtx4090").name, "GeForce RTX 4090");
  EXPECT_EQ(ceilings_named("GeForce RTX 4090").name, "GeForce RTX 4090");
}

TEST(ceilings_named, a_whole_name_comes_before_longer_ones) {
  EXPECT_EQ(ceilings_named("h200").name, "H200 SXM 141GB");  // which drivers print as "NVIDIA H200"
  EXPECT_EQ(ceilings_named("l40").name, "L40");
  EXPECT_EQ(ceilings_named("a10").name, "A10");
  EXPECT_EQ(ceilings_named("b200").name, "B200 SXM");
  EXPECT_EQ(ceilings_named("tesla t4").name, "T4");
}

TEST(ceilings_named, takes_words_that_one_row_alone_has) {
  EXPECT_EQ(ceilings_named("4090").name, "GeForce RTX 4090");
  EXPECT_EQ(ceilings_named("h100 sxm").name, "H100 SXM5 80GB");
  EXPECT_EQ(ceilings_named("h100sxm").name, "H100 SXM5 80GB");
  EXPECT_EQ(ceilings_named("80gb sxm4 a100").name, "A100 SXM4 80GB");
  EXPECT_EQ(ceilings_named("mi300x").name, "MI300X");
}

TEST(ceilings_named, lists_what_a_name_may_mean) {
  EXPECT_THAT(error_of("h100"), AllOf(HasSubstr("\"h100\" may be any of"), HasSubstr("H100 PCIe 80GB"),
                                      HasSubstr("H100 NVL 94GB"), HasSubstr("H100 SXM5 80GB")));
  EXPECT_THAT(error_of("RTX 3080"),
              AllOf(HasSubstr("GeForce RTX 3080 10GB, GeForce RTX 3080 12GB"), Not(HasSubstr("3090"))));
}

TEST(ceilings_named, lists_the_nearest_names) {
  EXPECT_THAT(error_of("RTX 4099"), AllOf(HasSubstr("not in the table"), HasSubstr("GeForce RTX 4090")));
  EXPECT_THAT(error_of("h10"), HasSubstr("not in the table"));  // no part of a number
  EXPECT_THAT(error_of("h2000"), HasSubstr("H200 SXM 141GB"));
}

TEST(ceilings_named, refuses_what_names_nothing) {
  EXPECT_THAT(error_of(""), HasSubstr("names no device"));
  EXPECT_THAT(error_of(" -- "), HasSubstr("names no device"));
  EXPECT_THAT(error_of("NVIDIA"), HasSubstr("names no device"));
  EXPECT_LT(error_of(std::string(1 << 20, 'a')).size(), 500U);
}

}  // namespace

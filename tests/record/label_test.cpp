// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/ranges.hpp"

namespace {

TEST(label, keeps_one_copy_of_a_name_made_at_run_time) {
  std::string text = "ffn_out";
  const varve::label a{text.c_str(), 12};
  text = "changed";
  const varve::label b{"ffn_out", 3};
  EXPECT_STREQ(a.c_str(), "ffn_out");
  EXPECT_EQ(a.c_str(), b.c_str());
  EXPECT_EQ(a.index(), 12);
}

TEST(label, parses_a_number_behind_the_last_separator) {
  const auto parse = [](const char* text) {
    const varve::label l = varve::label::parse(text);
    return std::pair{std::string{l.c_str()}, l.index()};
  };
  EXPECT_EQ(parse("ffn_out-12"), (std::pair<std::string, std::int32_t>{"ffn_out", 12}));
  EXPECT_EQ(parse("blk.3"), (std::pair<std::string, std::int32_t>{"blk", 3}));
  EXPECT_EQ(parse("attn_07"), (std::pair<std::string, std::int32_t>{"attn", 7}));
  for (const char* whole : {"norm", "ffn-", "-12", "l-1x", "n-99999999999", ""}) {
    EXPECT_EQ(parse(whole), (std::pair<std::string, std::int32_t>{whole, VARVE_NO_INDEX})) << whole;
  }
}

TEST(label, marks_like_a_literal) {
  const varve::label cached = varve::label::parse("Qcur-5");
  varve::session session;
  {
    const varve::layer layer{cached};
    varve::sequence step{varve::label{"a", 1}};
    step.next(cached);
  }
  EXPECT_THAT(varve_test::paths(session.stop()),
              testing::ElementsAre("Qcur 5", "Qcur 5 / a 1", "Qcur 5 / Qcur 5"));
}

TEST(label, takes_nullptr_for_an_empty_name) {
  EXPECT_STREQ(varve::label{nullptr}.c_str(), "");
  EXPECT_STREQ(varve::label::parse(nullptr).c_str(), "");
}

TEST(label, of_more_names_than_there_is_room_for_share_one) {
  const auto in_a_process_of_its_own = [] {
    for (int i = 0; i < 300'000; ++i) {
      varve_label(("name" + std::to_string(i)).c_str(), 0);
    }
    const bool right = std::string_view{varve_label("name7", 0).name} == "name7" &&
                       std::string_view{varve_label("name299999", 3).name} == "(further names)";
    std::_Exit(right ? 0 : 1);
  };
  EXPECT_EXIT(in_a_process_of_its_own(), testing::ExitedWithCode(0), "");
}

}  // namespace

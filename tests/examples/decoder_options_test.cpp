// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

decoder::options parse(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "decoder");
  return decoder::parse_options(static_cast<int>(flags.size()), flags.data());
}

std::string refusal(const std::vector<const char*>& flags) {
  try {
    parse(flags);
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
  return "accepted";
}

TEST(decoder_options, take_sizes_on_top_of_a_preset) {
  const decoder::options o = parse({"--preset", "tiny", "--layers", "5", "--tokens", "7"});
  EXPECT_EQ(o.model.layers, 5);
  EXPECT_EQ(o.model.hidden, 64);
  EXPECT_EQ(o.tokens, 7);
}

TEST(decoder_options, run_both_modes_unless_one_is_named) {
  const auto modes = [](const std::vector<const char*>& flags) {
    const decoder::options o = parse(flags);
    return std::pair{o.eager, o.graphs};
  };
  EXPECT_EQ(modes({}), std::pair(true, true));
  EXPECT_EQ(modes({"--eager"}), std::pair(true, false));
  EXPECT_EQ(modes({"--graph"}), std::pair(false, true));
  EXPECT_EQ(modes({"--graph", "--eager"}), std::pair(true, true));
}

TEST(decoder_options, name_what_is_wrong) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal({"--frob"}), HasSubstr("--frob"));
  EXPECT_THAT(refusal({"--layers"}), HasSubstr("--layers needs a value"));
  EXPECT_THAT(refusal({"--layers", "3x"}), HasSubstr("'3x'"));
  EXPECT_THAT(refusal({"--layers", "0"}), HasSubstr("--layers"));
  EXPECT_THAT(refusal({"--tokens", "1000001"}), HasSubstr("--tokens"));
  EXPECT_THAT(refusal({"--tokens", "99999999999999999999"}), HasSubstr("--tokens"));
  EXPECT_THAT(refusal({"--preset", "huge"}), HasSubstr("'huge'"));
  EXPECT_THAT(refusal({"--heads", "7"}), HasSubstr("heads"));
  EXPECT_THAT(refusal({"--json", "x"}), HasSubstr("--eager"));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Naming rules of the user.
#include "formats/kineto_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using kind = varve::naming_rule::kind;

class rules : public kineto_events {
 protected:
  /// "phase decode 3" of each range, in order.
  std::vector<std::string> ranges(std::vector<varve::naming_rule> given) {
    varve::read_options options;
    options.rules = std::move(given);
    const varve::trace t = read(options);
    std::vector<std::string> out;
    for (const varve::range& r : t.ranges) {
      const varve::label_node& label = t.labels[r.label];
      const char* kinds[] = {"phase ", "layer ", "op "};
      out.push_back(kinds[static_cast<int>(label.kind)] + std::string{t.strings[label.name]} +
                    (label.index == varve::no_index ? "" : " " + std::to_string(label.index)));
    }
    return out;
  }
  static varve::naming_rule rule(const std::string& pattern, kind as, const std::string& name = "") {
    varve::naming_rule r;
    r.pattern = pattern;
    r.as = as;
    r.name = name;
    return r;
  }
  static std::string refusal(const std::string& pattern) {
    try {
      varve::check(rule(pattern, kind::phase));
    } catch (const varve::error& e) {
      return e.what();
    }
    return "";
  }
};

TEST_F(rules, a_group_of_digits_is_the_index_and_another_one_the_name) {
  for (int i = 0; i < 5; ++i) {
    annotation(std::vector<std::string>{"my_step 12 of decoder", "block.3.mlp", "block.x", "other", "7up"}.at(
                   static_cast<std::size_t>(i)),
               10 * i, 10 * i + 10);
  }
  EXPECT_THAT(
      ranges({rule(R"(my_step (\d+) of (\w+))", kind::phase), rule(R"(block\.(\w+)\.(\w+))", kind::layer),
              rule(R"(block\.(\w+))", kind::layer, "renamed"), rule(R"((\d+)(u)(p))", kind::op)}),
      ElementsAre("phase decoder 12", "layer mlp 3", "layer renamed", "op other", "op u 7"));
}

TEST_F(rules, without_groups_the_name_is_what_it_would_be) {
  annotation("generate", 0, 40);
  module("Block_3", 10, 20);
  annotation("step[DECODE bs=4]", 20, 30);
  EXPECT_THAT(
      ranges({rule("^generate$", kind::phase), rule("Block", kind::op), rule("^step", kind::layer, "s")}),
      ElementsAre("phase generate", "op Block 3", "layer s"));
}

TEST_F(rules, the_first_that_fits_comes_before_the_names_that_varve_knows) {
  annotation("step[DECODE bs=4]", 0, 10);
  annotation("step[DECODE bs=8]", 10, 20);
  annotation("step[EXTEND bs=8 toks=9]", 20, 30);
  EXPECT_THAT(ranges({rule("bs=4", kind::ignore), rule("DECODE", kind::phase, "mine"),
                      rule("mine|bs", kind::op, "no")}),
              ElementsAre("phase mine", "op no"));
}

TEST_F(rules, keep_the_numbers_of_a_pass_that_they_rename) {
  annotation("step[DECODE bs=4]", 0, 10);
  launch(2, 3, 5);
  varve::read_options options;
  options.rules = {rule("DECODE", kind::phase, "mine")};
  EXPECT_THAT(phases(varve::analyze(read(options))),
              ElementsAre("mine: 1 passes, 4 sequences, 0 + 4 tokens, 10 us"));
}

TEST_F(rules, look_at_annotations_or_modules_or_both) {
  const auto both = [&] {
    annotation("Thing_1", 0, 10);
    module("Thing_1", 10, 20);
  };
  varve::naming_rule r = rule("Thing", kind::layer, "x");
  both();
  EXPECT_THAT(ranges({r}), ElementsAre("layer x", "layer x"));
  r.modules = false;
  both();
  EXPECT_THAT(ranges({r}), ElementsAre("layer x", "layer Thing 1"));
  r.modules = true;
  r.annotations = false;
  both();
  EXPECT_THAT(ranges({r}), ElementsAre("op Thing_1", "layer x"));
}

TEST_F(rules, count_what_they_ignore) {
  annotation("noise 1", 0, 10);
  annotation("noise 2", 10, 20);
  annotation("kept", 20, 30);
  varve::read_options options;
  options.rules = {rule("^noise", kind::ignore)};
  const varve::trace t = read(options);
  EXPECT_EQ(t.ranges.size(), 1U);
  EXPECT_THAT(t.collectors.at(0).detail, HasSubstr("annotations 1, annotations ignored 2"));
}

TEST_F(rules, say_what_is_wrong_with_a_pattern) {
  EXPECT_EQ(refusal("^step (\\d+)$"), "");
  EXPECT_EQ(refusal(std::string(512, 'a')), "");
  EXPECT_THAT(refusal("("), HasSubstr("naming rule \"(\": is not a regular expression: "));
  EXPECT_EQ(refusal(std::string(513, 'a')),
            "naming rule \"" + std::string(512, 'a') + "\": is longer than 512 bytes");
  EXPECT_EQ(refusal("(a)\\1"), "naming rule \"(a)\\1\": has a back-reference, which is not supported");
  EXPECT_EQ(refusal("((a{999}){999}){999}"),
            "naming rule \"((a{999}){999}){999}\": repeats a part more than 32 times");
  for (const char* often : {"((a?){1,30}){1,30}d", "((a?){1,30}){1,10}d", "a{33}"}) {
    EXPECT_THAT(refusal(often), HasSubstr("repeats a part more than 32 times"));
  }
  // 4096 bytes: 128 · 32. A search takes stack for each state.
  EXPECT_EQ(refusal('(' + std::string(122, 'a') + "){32}"), "");
  EXPECT_THAT(refusal('(' + std::string(123, 'a') + "){32}"),
              HasSubstr("is longer than 4096 bytes with its counts written out"));
  varve::read_options options;
  options.rules = {rule("[", kind::phase)};
  EXPECT_THROW((void)varve::read_pytorch(path("not there"), options), varve::error);
}

TEST_F(rules, look_at_the_first_512_bytes_and_never_take_exponential_time) {
  annotation(std::string(512, 'a') + "b", 0, 10);
  annotation(std::string(511, 'a') + "b", 10, 20);
  EXPECT_THAT(ranges({rule("(a*)*b", kind::phase, "found")}),
              ElementsAre("op " + std::string(512, 'a') + "b", "phase found"));
}

// No rule fits, and finding that out would take seconds for each name: a test that hangs where nothing stops
// it.
TEST_F(rules, cannot_be_made_to_search_for_ever) {
  std::string many_groups;
  std::string many_parts;
  std::string many_empty = "(a*";
  for (int i = 0; i < 100; ++i) {
    many_groups += "(a?)";
    many_parts += ".*";
    many_empty += "()";
  }
  for (const std::string& pattern : {many_groups + "d", many_parts + "d", many_empty + ")*d",
                                     std::string{"((a?){1,32}a*)*d"}, "(" + many_empty + ")*){16}d"}) {
    for (int i = 100; i < 110; ++i) {
      annotation(std::to_string(i) + std::string(1000, 'a'), i, i + 1);
    }
    varve::read_options options;
    options.rules = {rule(pattern, kind::phase)};
    const varve::trace t = read(options);
    EXPECT_THAT(losses(t), testing::ElementsAre(testing::Pair(
                               "names that took a naming rule too long to search: taken as not fitting", 10)))
        << pattern;
  }
}

// A name is looked at once, and an ordinary rule is never given up, whatever the names.
TEST_F(rules, of_the_ordinary_kind_look_at_every_name) {
  for (int i = 1000; i < 2000; ++i) {
    annotation(std::string(96, 'a') + std::to_string(i), i, i + 1);
  }
  varve::read_options options;
  options.rules = {rule(R"((\w+) of (\d+)$)", kind::phase)};
  EXPECT_TRUE(losses(read(options)).empty());
}

}  // namespace

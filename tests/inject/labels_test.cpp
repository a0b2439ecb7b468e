// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/labels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::ElementsAre;
using testing::Pair;
using varve::inject::mark_of;
using varve::inject::range_mark;

struct expected {
  const char* text;
  const char* name;
  std::int32_t index;
  int kind;
};

TEST(nvtx_labels, are_read_as_varves_labels_are) {
  for (const expected& e : {
           expected{"ffn_out-12", "ffn_out", 12, VARVE_KIND_LAYER},
           {"layer_12", "layer", 12, VARVE_KIND_LAYER},
           {"model.layers.3", "model.layers", 3, VARVE_KIND_LAYER},
           {"norm", "norm", VARVE_NO_INDEX, VARVE_KIND_LAYER},
           {"a-b", "a-b", VARVE_NO_INDEX, VARVE_KIND_LAYER},
           {"x--1", "x-", 1, VARVE_KIND_LAYER},
           {"_5", "_5", VARVE_NO_INDEX, VARVE_KIND_LAYER},
           {"big_99999999999", "big_99999999999", VARVE_NO_INDEX, VARVE_KIND_LAYER},
           {"", "", VARVE_NO_INDEX, VARVE_KIND_LAYER},
           {"prefill", "prefill", VARVE_NO_INDEX, VARVE_KIND_PHASE},
           {"Decode_7", "decode", 7, VARVE_KIND_PHASE},
           {"prefilling", "prefilling", VARVE_NO_INDEX, VARVE_KIND_LAYER},
           {"ProfilerStep#3", "ProfilerStep", 3, VARVE_KIND_LAYER},
           {"{'Module': 'Model.layers.3', 'Inputs': []}", "layers", 3, VARVE_KIND_LAYER},
       }) {
    const range_mark& mark = mark_of(e.text);
    EXPECT_STREQ(mark.name, e.name) << e.text;
    EXPECT_EQ(mark.index, e.index) << e.text;
    EXPECT_EQ(mark.kind, e.kind) << e.text;
    EXPECT_FALSE(mark.ignored);
    EXPECT_EQ(&mark_of(std::string{e.text}), &mark) << "looked up, not made again";
  }
}

TEST(nvtx_labels, know_the_passes_of_engines) {
  const range_mark& mark = mark_of("step[EXTEND bs=2 toks=7]");
  EXPECT_STREQ(mark.name, "prefill");
  EXPECT_EQ(mark.kind, VARVE_KIND_PHASE);
  EXPECT_THAT(mark.attributes, ElementsAre(Pair(VARVE_PREFILL_TOKENS, 7), Pair(VARVE_PREFILL_SEQUENCES, 2)));
  EXPECT_TRUE(mark_of("{'Module': 'Model.layers.3', 'Outputs': []}").ignored);
}

TEST(nvtx_labels, are_cut_between_characters) {
  std::string text(511, 'x');
  text += "\u5C42";  // the limit of 512 bytes is inside
  EXPECT_EQ(mark_of(text).name, std::string(511, 'x'));
}

TEST(nvtx_labels, convert_wide_strings) {
  EXPECT_EQ(varve::inject::narrow(L"a\u00E9\u5C42\U0001F600"), "a\u00E9\u5C42\U0001F600");
  const wchar_t bad[] = {0xD800, 0x110000, L'x', 0};
  EXPECT_EQ(varve::inject::narrow(bad), "\uFFFD\uFFFDx");
}

// The last, since it fills the table. 65536 texts and 16384 names are kept, and some names of passes beside.
TEST(nvtx_labels, are_bounded_however_many_texts_come) {
  for (int i = 0; i < 70000; ++i) {
    mark_of("text " + std::to_string(i));
  }
  EXPECT_STREQ(mark_of("text 100").name, "text 100");
  EXPECT_STREQ(mark_of("text 69999").name, "(further names)");
  EXPECT_STREQ(varve::inject::kept_mark_of(mark_of("text 69999"))->name, "(further names)");
  const range_mark& pass = mark_of("execute_context_0(0)_generation_4(4)");
  EXPECT_STREQ(pass.name, "decode");
  EXPECT_EQ(pass.kind, VARVE_KIND_PHASE);
}

}  // namespace

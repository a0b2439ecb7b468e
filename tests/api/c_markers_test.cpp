// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a session records of a pass that is marked in C11.
#include "c_markers.h"

#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "support/ranges.hpp"

namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;
using varve_test::find_range;
using varve_test::paths;

class c_markers : public testing::Test {
 protected:
  static varve::trace record(int (*run)()) {
    varve::session session;
    EXPECT_EQ(run(), 0);
    return session.stop();
  }
};

TEST_F(c_markers, make_ranges_sequences_and_handed_over_work) {
  const varve::trace t = record(c_markers_on);
  EXPECT_THAT(paths(t),
              UnorderedElementsAre("chat 7", "mixed", "mixed / attention 0", "mixed / mlp 0",
                                   "mixed / expert 70000", "mixed / expert 70000 / copy 5", "outside"));
  const auto range = [&](const char* path) { return t.ranges.at(find_range(t, path)); };
  // One clock read: one layer ends as the next begins.
  EXPECT_EQ(range("mixed / attention 0").end, range("mixed / mlp 0").begin);
  EXPECT_EQ(range("mixed / mlp 0").end, range("mixed / expert 70000").begin);
  EXPECT_NE(range("mixed / expert 70000 / copy 5").thread, range("mixed").thread);
  ASSERT_EQ(t.works.size(), 1U);
  EXPECT_EQ(t.works[0].range, find_range(t, "mixed / expert 70000"));
  EXPECT_EQ(t.works[0].declared, (varve::work{100, 20, 3, 4, varve::math_pipe::bf16_tensor}));
  for (const varve::range& r : t.ranges) {
    EXPECT_FALSE(r.clipped_end);
  }
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST_F(c_markers, link_requests_to_the_passes_that_serve_them) {
  const varve::trace t = record(c_markers_on);
  ASSERT_EQ(t.requests.size(), 1U);
  EXPECT_EQ(t.requests[0].request, find_range(t, "chat 7"));
  EXPECT_EQ(t.requests[0].pass, find_range(t, "mixed"));
  EXPECT_LE(t.ranges[t.requests[0].request].begin, t.ranges[t.requests[0].pass].begin);
}

TEST_F(c_markers, tell_each_sequence_of_a_batch_and_the_sums) {
  const varve::trace t = record(c_markers_on);
  ASSERT_EQ(t.sequences.size(), 3U);
  EXPECT_FALSE(t.sequences[0].decode);
  EXPECT_EQ(t.sequences[1].tokens, 2U);
  EXPECT_EQ(t.sequences[1].context, 10U);
  EXPECT_TRUE(t.sequences[2].decode);
  EXPECT_EQ(t.sequences[2].context, 100U);
  std::map<varve_attribute, std::int64_t> values;
  for (const auto& a : t.attributes) {
    EXPECT_EQ(a.range, find_range(t, "mixed"));
    values[a.key] = a.value;
  }
  // Prefill: 3 + 2 tokens, contexts 3 + 10, products 3 · 3 + 2 · 10 = 29. Decode: 1 token, context 100.
  EXPECT_THAT(values, UnorderedElementsAre(
                          Pair(VARVE_PREFILL_TOKENS, 5), Pair(VARVE_PREFILL_SEQUENCES, 2),
                          Pair(VARVE_PREFILL_CONTEXT_TOKENS, 13), Pair(VARVE_PREFILL_QUERY_CONTEXT, 29),
                          Pair(VARVE_DECODE_TOKENS, 1), Pair(VARVE_DECODE_SEQUENCES, 1),
                          Pair(VARVE_DECODE_CONTEXT_TOKENS, 100), Pair(VARVE_DECODE_QUERY_CONTEXT, 100)));
}

TEST_F(c_markers, record_nothing_without_a_session_or_where_they_are_disabled) {
  EXPECT_EQ(c_markers_on(), 0);
  const varve::trace t = record(c_markers_off);
  EXPECT_THAT(t.ranges, IsEmpty());
  EXPECT_THAT(t.losses, IsEmpty());
}

}  // namespace

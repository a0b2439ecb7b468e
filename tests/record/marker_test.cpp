// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "support/ranges.hpp"

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using varve_test::find_range;
using varve_test::lost;
using varve_test::paths;

TEST(marker, records_nested_ranges_with_their_paths_and_parents) {
  varve::session session;
  {
    const varve::phase pass{varve::decode};
    for (int i = 0; i < 2; ++i) {
      const varve::layer layer{"layer", i};
      const varve::op norm{"norm"};
    }
  }
  const varve::trace t = session.stop();
  ASSERT_THAT(paths(t), ElementsAre("decode", "decode / layer 0", "decode / layer 0 / norm",
                                    "decode / layer 1", "decode / layer 1 / norm"));
  EXPECT_EQ(t.ranges[0].parent, varve::none);
  EXPECT_EQ(t.ranges[1].parent, 0U);
  EXPECT_EQ(t.ranges[2].parent, 1U);
  EXPECT_EQ(t.ranges[3].parent, 0U);
  EXPECT_EQ(t.ranges[0].kind, varve::range_kind::phase);
  EXPECT_EQ(t.ranges[1].kind, varve::range_kind::layer);
  EXPECT_EQ(t.ranges[2].kind, varve::range_kind::op);
  for (const varve::range& r : t.ranges) {
    EXPECT_LE(r.begin, r.end);
    EXPECT_FALSE(r.clipped_begin || r.clipped_end);
    if (r.parent != varve::none) {
      EXPECT_LE(t.ranges[r.parent].begin, r.begin);
      EXPECT_LE(r.end, t.ranges[r.parent].end);
    }
  }
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST(marker, ends_before_its_scope_when_told_to) {
  varve::session session;
  {
    varve::layer first{"first", 0};
    first.end();
    first.end();  // does nothing
    const varve::layer second{"second", 0};
  }
  const varve::trace t = session.stop();
  ASSERT_THAT(paths(t), ElementsAre("first 0", "second 0"));
  EXPECT_LE(t.ranges[0].end, t.ranges[1].begin);
}

TEST(marker, ends_when_an_exception_passes) {
  varve::session session;
  try {
    const varve::phase pass{varve::prefill};
    const varve::layer layer{"layer", 7};
    throw std::runtime_error{"out of memory"};
  } catch (const std::runtime_error&) {
    const varve::layer after{"after"};
  }
  const varve::trace t = session.stop();
  ASSERT_THAT(paths(t), ElementsAre("prefill", "prefill / layer 7", "after"));
  EXPECT_FALSE(t.ranges[0].clipped_end);
  EXPECT_FALSE(t.ranges[1].clipped_end);
}

TEST(marker, takes_a_name_chosen_at_run_time_between_constants) {
  varve::session session;
  for (const bool moe : {false, true}) {
    const varve::layer layer{moe ? varve::name{"moe"} : varve::name{"mlp"}, 3};
  }
  EXPECT_THAT(paths(session.stop()), ElementsAre("mlp 3", "moe 3"));
}

TEST(marker, takes_any_integer_as_index_and_wide_ones_whole) {
  varve::session session;
  { const varve::layer l{"l", std::size_t{5}}; }
  { const varve::layer l{"l", 65534}; }
  { const varve::layer l{"l", 65535}; }  // no longer fits beside the address
  { const varve::layer l{"l", 2000000000LL}; }
  { const varve::layer l{"l", -1}; }
  EXPECT_THAT(paths(session.stop()), ElementsAre("l 5", "l 65534", "l 65535", "l 2000000000", "l -1"));
}

TEST(sequence, ends_a_layer_and_begins_the_next_at_one_moment) {
  varve::session session;
  {
    const varve::phase pass{varve::decode};
    varve::sequence step{"attention", 0};
    step.next("mlp", 0);
    step.next("norm");
    step.next("attention", 70000);
  }
  const varve::trace t = session.stop();
  ASSERT_THAT(paths(t), ElementsAre("decode", "decode / attention 0", "decode / mlp 0", "decode / norm",
                                    "decode / attention 70000"));
  EXPECT_EQ(t.ranges[1].end, t.ranges[2].begin);
  EXPECT_EQ(t.ranges[2].end, t.ranges[3].begin);
  EXPECT_EQ(t.ranges[3].end, t.ranges[4].begin);
  EXPECT_EQ(t.ranges[4].parent, 0U);
}

TEST(sequence, goes_on_where_a_range_inside_it_is_still_open) {
  varve::session session;
  varve::handle inner;
  {
    varve::sequence step{"attention", 0};
    inner = varve::begin_op("late", 0);
    step.next("mlp", 0);
    inner.end();
  }
  const varve::trace t = session.stop();
  ASSERT_THAT(paths(t), ElementsAre("attention 0", "attention 0 / late 0", "attention 0 / late 0 / mlp 0"));
  EXPECT_LE(t.ranges[0].end, t.ranges[2].begin);
  EXPECT_FALSE(t.ranges[2].clipped_end);
}

TEST(handle, ends_in_any_order) {
  varve::session session;
  varve::handle a = varve::begin_phase(varve::decode);
  varve::handle b = varve::begin_layer("b", 1);
  varve::handle c = varve::begin_op("c", 2);
  a.end();
  c.end();
  b.end();
  b.end();  // does nothing
  varve::handle nothing;
  nothing.end();
  const varve::trace t = session.stop();
  ASSERT_THAT(paths(t), ElementsAre("decode", "decode / b 1", "decode / b 1 / c 2"));
  EXPECT_LE(t.ranges[0].end, t.ranges[2].end);
  EXPECT_LE(t.ranges[2].end, t.ranges[1].end);
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST(handle, of_a_prefill_pass_means_the_prefill_side) {
  varve::session session;
  varve::handle pass = varve::begin_phase(varve::prefill);
  pass.ref().sequences(5);
  pass.end();
  const varve::trace t = session.stop();
  ASSERT_EQ(t.attributes.size(), 1U);
  EXPECT_EQ(t.attributes[0].key, VARVE_PREFILL_SEQUENCES);
}

TEST(phase, carries_attributes_of_both_sides_and_late_ones) {
  varve::session session;
  varve::phase pass{varve::mixed};
  pass.model("target").prefill_tokens(512).sequences(1).decode_tokens(16).sequences(15).context_tokens(15000);
  const auto ref = pass.ref();
  pass.end();
  varve::pass_ref late = ref;
  late.emitted_tokens(16).logit_tokens(17).accepted_tokens(3);
  const varve::trace t = session.stop();
  std::vector<std::pair<varve_attribute, std::int64_t>> found;
  for (const varve::range_attribute& a : t.attributes) {
    EXPECT_EQ(a.range, 0U);
    found.emplace_back(a.key, a.value);
  }
  EXPECT_THAT(found,
              ElementsAre(std::pair{VARVE_PREFILL_TOKENS, 512}, std::pair{VARVE_PREFILL_SEQUENCES, 1},
                          std::pair{VARVE_DECODE_TOKENS, 16}, std::pair{VARVE_DECODE_SEQUENCES, 15},
                          std::pair{VARVE_DECODE_CONTEXT_TOKENS, 15000}, std::pair{VARVE_EMITTED_TOKENS, 16},
                          std::pair{VARVE_LOGIT_TOKENS, 17}, std::pair{VARVE_ACCEPTED_TOKENS, 3}));
  ASSERT_EQ(t.models.size(), 1U);
  EXPECT_EQ(t.strings[t.models[0].name], "target");
}

TEST(phase, sums_a_batch_given_sequence_by_sequence) {
  varve::session session;
  {
    varve::phase pass{varve::prefill};
    pass.batch({{10, 100}, {20, 50}});
  }
  const varve::trace t = session.stop();
  ASSERT_EQ(t.sequences.size(), 2U);
  EXPECT_FALSE(t.sequences[0].decode);
  EXPECT_EQ(t.sequences[0].tokens, 10U);
  EXPECT_EQ(t.sequences[0].context, 100U);
  EXPECT_EQ(t.sequences[1].context, 50U);
  ASSERT_EQ(t.attributes.size(), 4U);
  EXPECT_EQ(t.attributes[0].value, 10 + 20);
  EXPECT_EQ(t.attributes[1].value, 2);
  EXPECT_EQ(t.attributes[2].value, 100 + 50);
  EXPECT_EQ(t.attributes[3].value, 10 * 100 + 20 * 50);
}

TEST(work, is_evaluated_only_while_recording) {
  int evaluated = 0;
  const auto make = [&] {
    ++evaluated;
    return varve::gemm(16, 4096, 4096, varve::dtype::f16);
  };
  {
    varve::layer off{"off"};
    off.work(make);
  }
  EXPECT_EQ(evaluated, 0);
  varve::session session;
  {
    varve::layer on{"on"};
    on.work(make);
    on.work(make);
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(evaluated, 2);
  ASSERT_EQ(t.works.size(), 2U);
  EXPECT_EQ(t.works[0].range, 0U);
  EXPECT_EQ(t.works[0].declared.flops, 2LL * 16 * 4096 * 4096);
  EXPECT_EQ(t.works[0].declared.weight_bytes, 4096LL * 4096 * 2);
  EXPECT_EQ(t.works[0].declared.kv_bytes, 0);
  EXPECT_EQ(t.works[0].declared.activation_bytes, 2 * 16LL * 4096 * 2);
}

TEST(work, that_throws_is_counted_and_goes_no_further) {
  varve::session session;
  {
    varve::layer layer{"layer"};
    layer.work([]() -> varve::work { throw std::runtime_error{"shape unknown"}; });
  }
  const varve::trace t = session.stop();
  EXPECT_THAT(t.works, IsEmpty());
  EXPECT_EQ(lost(t, "threw"), 1U);
}

TEST(request, is_linked_to_the_passes_that_served_it) {
  varve::session session;
  varve::request moved_from{"chat", 42};
  varve::request chat{std::move(moved_from)};
  for (int i = 0; i < 2; ++i) {
    varve::phase pass{varve::decode};
    pass.serves(chat);
  }
  chat.end();
  const varve::trace t = session.stop();
  const std::uint32_t request = find_range(t, "chat 42");
  ASSERT_NE(request, varve::none);
  EXPECT_EQ(t.ranges[request].kind, varve::range_kind::request);
  EXPECT_FALSE(t.ranges[request].clipped_end);
  ASSERT_EQ(t.requests.size(), 2U);
  EXPECT_EQ(t.requests[0].request, request);
  EXPECT_EQ(varve::label_text(t, t.ranges[t.requests[1].pass].label), "decode");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/trace.hpp>

#include <gtest/gtest.h>

namespace {

TEST(string_table, gives_one_id_a_text) {
  varve::string_table table;
  const auto a = table.intern("gemm");
  EXPECT_EQ(table.intern("gemm"), a);
  EXPECT_NE(table.intern("softmax"), a);
  EXPECT_EQ(table[a], "gemm");
  EXPECT_EQ(table.find("gemm"), a);
  EXPECT_EQ(table.find("rope"), varve::none);
  EXPECT_EQ(table[12345], "");
}

TEST(string_table, copies_do_not_look_into_the_original) {
  auto original = std::make_unique<varve::string_table>();
  for (int i = 0; i < 1000; ++i) {
    original->intern("kernel " + std::to_string(i));
  }
  varve::string_table copy{*original};
  original.reset();
  EXPECT_EQ(copy.find("kernel 7"), 7U);
  EXPECT_EQ(copy[999], "kernel 999");
  const varve::string_table moved{std::move(copy)};
  EXPECT_EQ(moved.find("kernel 500"), 500U);
}

TEST(label_table, interns_paths_step_by_step) {
  varve::trace t;
  const auto decode =
      t.labels.intern({varve::none, t.strings.intern("decode"), varve::no_index, varve::range_kind::phase});
  const auto layer = t.labels.intern({decode, t.strings.intern("layer"), 3, varve::range_kind::layer});
  const auto attention =
      t.labels.intern({layer, t.strings.intern("attention"), varve::no_index, varve::range_kind::op});
  EXPECT_EQ(t.labels.intern({decode, t.strings.intern("layer"), 3, varve::range_kind::layer}), layer);
  EXPECT_EQ(t.labels.find({decode, t.strings.intern("layer"), 3, varve::range_kind::layer}), layer);
  EXPECT_EQ(t.labels.find({decode, t.strings.intern("layer"), 4, varve::range_kind::layer}), varve::none);
  EXPECT_NE(t.labels.intern({decode, t.strings.intern("layer"), 4, varve::range_kind::layer}), layer);
  EXPECT_EQ(varve::label_text(t, attention), "decode / layer 3 / attention");
  EXPECT_EQ(varve::label_text(t, varve::none), "");
}

TEST(trace, interns_streams_shapes_and_sizes) {
  varve::trace t;
  EXPECT_EQ(t.intern_stream({0, 1, 7}), 0);
  EXPECT_EQ(t.intern_stream({0, 1, 8}), 1);
  EXPECT_EQ(t.intern_stream({0, 1, 7}), 0);
  EXPECT_EQ(t.intern_bytes(4096), 0U);
  EXPECT_EQ(t.intern_bytes(8192), 1U);
  EXPECT_EQ(t.intern_bytes(4096), 0U);
  varve::launch_shape shape;
  shape.grid[0] = 128;
  EXPECT_EQ(t.intern_shape(shape), 0U);
  shape.registers = 32;
  EXPECT_EQ(t.intern_shape(shape), 1U);
}

TEST(trace, counts_threads_beyond_its_table_as_one) {
  varve::trace t;
  for (std::uint64_t id = 0; id < 65534; ++id) {
    ASSERT_EQ(t.intern_thread(id), id);
  }
  EXPECT_EQ(t.intern_thread(70000), 65534);
  EXPECT_EQ(t.intern_thread(70001), 65534);
  EXPECT_EQ(t.intern_thread(5), 5);
}

TEST(trace, adds_up_losses_of_one_cause) {
  varve::trace t;
  t.lose("records dropped", "cupti", 3);
  t.lose("records dropped", "cupti", 4);
  t.lose("records dropped", "markers", 1);
  t.lose("never happened", "markers", 0);
  ASSERT_EQ(t.losses.size(), 2U);
  EXPECT_EQ(t.losses[0].count, 7U);
}

}  // namespace

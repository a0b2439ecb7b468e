// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/alias_table.hpp"

#include <gtest/gtest.h>

namespace {

using varve::record::alias_table;

TEST(alias_table, an_id_means_its_outer_call_or_itself) {
  alias_table t;
  EXPECT_EQ(t.outer_of(8), 8U);
  t.set(8, 7);
  t.set(0xFFFF'FFFFU, 0xFFFF'FFFEU);  // the last id, in the last page
  t.set(1, 0xFFFF'FFFFU);             // ids have wrapped
  EXPECT_EQ(t.outer_of(8), 7U);
  EXPECT_EQ(t.outer_of(7), 7U);
  EXPECT_EQ(t.outer_of(0xFFFF'FFFFU), 0xFFFF'FFFEU);
  EXPECT_EQ(t.outer_of(1), 0xFFFF'FFFFU);
  EXPECT_EQ(t.outer_of(alias_table::ids_of_page + 8), alias_table::ids_of_page + 8);
}

// Launches take two ids in turn: 256 of them fill a page of 512 ids.
TEST(alias_table, ids_in_turn_share_pages) {
  alias_table t;
  for (std::uint32_t launch = 0; launch < 2560; ++launch) {
    t.set(2 * launch + 1, 2 * launch);
  }
  EXPECT_EQ(t.bytes(), 10 * alias_table::bytes_of_page);
}

TEST(alias_table, forgets_what_was_written_before_the_last_time) {
  alias_table t;
  t.set(1, 100);
  t.set(1000, 999);
  t.retire();
  EXPECT_EQ(t.outer_of(1), 100U);  // written since the time before
  t.set(1001, 1000);
  t.retire();
  EXPECT_EQ(t.outer_of(1), 1U);
  EXPECT_EQ(t.outer_of(1000), 999U);  // its page was written since
  EXPECT_EQ(t.bytes(), alias_table::bytes_of_page);
  t.retire();
  t.retire();
  EXPECT_EQ(t.bytes(), 0U);
  t.set(1001, 1000);  // into a page anew
  EXPECT_EQ(t.outer_of(1001), 1000U);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/buffers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace {

using varve::cupti::buffer_pool;

constexpr std::size_t bytes = std::size_t{128} << 10U;

TEST(buffers, there_are_so_many_then_small_spare_ones_then_none) {
  buffer_pool pool;
  pool.open(bytes, 3, 3);
  std::set<std::uint8_t*> seen;
  std::vector<std::size_t> sizes;
  for (;;) {
    const buffer_pool::piece p = pool.take();
    if (p.data == nullptr) {
      EXPECT_EQ(p.size, 0U);
      break;
    }
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p.data) % 8, 0U);
    std::memset(p.data, 0xFF, p.size);
    seen.insert(p.data);
    sizes.push_back(p.size);
  }
  std::vector<std::size_t> expected(3, bytes);
  expected.resize(3 + buffer_pool::most_spares, buffer_pool::spare_bytes);
  EXPECT_EQ(sizes, expected);
  EXPECT_EQ(seen.size(), sizes.size()) << "none is lent twice";
  EXPECT_EQ(pool.refused(), 1U);
  EXPECT_EQ(pool.lent(), sizes.size());
  for (std::uint8_t* data : seen) {
    pool.give(data);
  }
  EXPECT_EQ(pool.lent(), 0U);
  const buffer_pool::piece again = pool.take();
  EXPECT_EQ(again.size, bytes) << "large ones first";
  pool.give(again.data);
  pool.close();
}

TEST(buffers, of_some_loans_those_are_lent_that_were_not_given_back) {
  buffer_pool pool;
  pool.open(bytes, 2, 2);
  EXPECT_EQ(pool.loans(), 0U);
  const buffer_pool::piece first = pool.take();
  const buffer_pool::piece second = pool.take();
  ASSERT_EQ(pool.loans(), 2U);
  EXPECT_EQ(pool.lent(0, 2), 2U);
  EXPECT_EQ(pool.lent(1, 2), 1U);
  EXPECT_EQ(pool.loan_of(second.data), 1U);
  pool.give(first.data);
  EXPECT_EQ(pool.loan_of(first.data), 2U) << "it is not lent";
  EXPECT_EQ(pool.lent(0, 2), 1U);
  const buffer_pool::piece third = pool.take();  // the same memory again, another loan
  EXPECT_EQ(third.data, first.data);
  EXPECT_EQ(pool.lent(0, 2), 1U);
  pool.give(second.data);
  EXPECT_EQ(pool.lent(0, 2), 0U);
  EXPECT_EQ(pool.lent(0, 3), 1U);
  pool.give(third.data);
  pool.close();
}

// CUPTI asks on an engine's thread.
TEST(buffers, none_is_made_where_one_is_asked_for) {
  buffer_pool pool;
  pool.open(bytes, 3, 1);
  const buffer_pool::piece first = pool.take();
  EXPECT_EQ(first.size, bytes);
  EXPECT_FALSE(first.is_short);
  const buffer_pool::piece second = pool.take();
  EXPECT_EQ(second.size, buffer_pool::spare_bytes);
  EXPECT_TRUE(second.is_short) << "two may still be made";
  pool.refill();
  const buffer_pool::piece third = pool.take();
  EXPECT_EQ(third.size, bytes);
  EXPECT_FALSE(third.is_short);
  pool.refill();
  const buffer_pool::piece fourth = pool.take();
  EXPECT_EQ(fourth.size, bytes);
  pool.refill();
  const buffer_pool::piece fifth = pool.take();
  EXPECT_EQ(fifth.size, buffer_pool::spare_bytes);
  EXPECT_FALSE(fifth.is_short) << "there are as many as there may be";
  for (const buffer_pool::piece& p : {first, second, third, fourth, fifth}) {
    pool.give(p.data);
  }
  EXPECT_EQ(pool.refused(), 0U);
  pool.close();
}

TEST(buffers, all_are_ready_up_to_one_gib_and_two_in_any_case) {
  constexpr std::size_t mib = std::size_t{1} << 20U;
  EXPECT_EQ(buffer_pool::ready_of(4 * mib, 32), 32U);
  EXPECT_EQ(buffer_pool::ready_of(4 * mib, 1000), 256U);
  EXPECT_EQ(buffer_pool::ready_of(1024 * mib, 100), 2U);
  EXPECT_EQ(buffer_pool::ready_of(1024 * mib, 1), 1U);
}

TEST(buffers, what_comes_back_is_lent_again) {
  buffer_pool pool;
  pool.open(bytes, 1, 1);
  std::uint8_t* const first = pool.take().data;
  pool.give(first);
  EXPECT_EQ(pool.take().data, first);
  EXPECT_EQ(pool.refused(), 0U);
  pool.give(first);
  pool.close();
}

TEST(buffers, what_is_not_lent_is_not_taken_back) {
  buffer_pool pool;
  pool.open(bytes, 1, 1);
  std::uint8_t other = 0;
  pool.give(&other);
  pool.give(nullptr);
  std::uint8_t* const data = pool.take().data;
  pool.give(data);
  pool.give(data);  // twice
  EXPECT_EQ(pool.take().data, data);
  const buffer_pool::piece second = pool.take();
  EXPECT_EQ(second.size, buffer_pool::spare_bytes);
  pool.give(data);
  pool.give(second.data);
  pool.close();
}

TEST(buffers, what_is_lent_over_an_end_goes_when_it_comes_back) {
  buffer_pool pool;
  pool.open(bytes, 1, 1);
  std::uint8_t* const lent = pool.take().data;
  pool.close();
  EXPECT_EQ(pool.take().data, nullptr) << "closed";
  std::memset(lent, 1, bytes);  // CUPTI's still
  pool.open(2 * bytes, 1, 1);
  EXPECT_EQ(pool.lent(), 1U);
  pool.give(lent);
  EXPECT_EQ(pool.lent(), 0U);
  const buffer_pool::piece fresh = pool.take();
  EXPECT_EQ(fresh.size, 2 * bytes) << "not one of the size of before";
  pool.give(fresh.data);
  pool.close();
}

TEST(buffers, refused_is_counted_from_opening_to_closing) {
  buffer_pool pool;
  EXPECT_EQ(pool.take().data, nullptr) << "never opened";
  EXPECT_EQ(pool.refused(), 0U);
  pool.open(bytes, 1, 1);
  std::vector<std::uint8_t*> lent;
  for (std::size_t i = 0; i < 1 + buffer_pool::most_spares + 2; ++i) {
    lent.push_back(pool.take().data);
  }
  EXPECT_EQ(pool.refused(), 2U);
  pool.close();
  EXPECT_EQ(pool.take().data, nullptr);
  EXPECT_EQ(pool.refused(), 2U);
  for (std::uint8_t* data : lent) {
    pool.give(data);
  }
}

TEST(buffers, threads_share_them) {
  buffer_pool pool;
  pool.open(bytes, 4, 0);
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i) {
    all.emplace_back([&] {
      for (int n = 0; n < 200; ++n) {
        if (const buffer_pool::piece p = pool.take(); p.data != nullptr) {
          *p.data = 1;
          pool.give(p.data);
        }
        pool.refill();
      }
    });
  }
  for (std::thread& t : all) {
    t.join();
  }
  EXPECT_EQ(pool.lent(), 0U);
  EXPECT_EQ(pool.refused(), 0U) << "eight of twenty";
  pool.close();
}

}  // namespace

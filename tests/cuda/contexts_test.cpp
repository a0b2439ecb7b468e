// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/contexts.hpp"

#include <gtest/gtest.h>

namespace {

using varve::cupti::context_book;
using varve::cupti::context_handle;
using varve::cupti::recent_contexts;

context_handle context(std::uintptr_t at) { return reinterpret_cast<context_handle>(at); }

TEST(contexts, of_a_thread_that_alternates_are_each_told_once_in_an_era) {
  recent_contexts seen;
  for (const std::uint32_t era : {0U, 1U}) {
    int told = 0;
    for (int round = 0; round < 100; ++round) {
      for (std::uintptr_t gpu = 1; gpu <= recent_contexts::most; ++gpu) {
        told += seen.is_new(context(gpu * 4096), era) ? 1 : 0;  // as far apart as allocators put them
      }
    }
    EXPECT_EQ(told, static_cast<int>(recent_contexts::most));
  }
}

TEST(contexts, beyond_those_that_are_kept_are_told_again) {
  recent_contexts seen;
  for (std::uintptr_t gpu = 1; gpu <= recent_contexts::most + 1; ++gpu) {
    EXPECT_TRUE(seen.is_new(context(gpu), 1));
  }
  EXPECT_TRUE(seen.is_new(context(1), 1)) << "the oldest has made room";
  EXPECT_FALSE(seen.is_new(context(recent_contexts::most + 1), 1));
}

varve::cupti::stream_handle stream(std::uintptr_t at) {
  return reinterpret_cast<varve::cupti::stream_handle>(at * 4096);
}

TEST(context_book, knows_of_no_capture_in_contexts_that_it_was_told_of_when_they_were_made) {
  context_book book;
  book.made(context(1));
  book.saw(context(1));
  EXPECT_FALSE(book.may_capture());
  book.capture_begins(context(1), stream(1));
  EXPECT_TRUE(book.capturing());
  EXPECT_TRUE(book.may_capture());
  book.capture_ends(stream(1));
  EXPECT_FALSE(book.may_capture());
}

TEST(context_book, knows_which_contexts_are_older_than_it) {
  context_book book;
  book.saw(context(1));
  EXPECT_TRUE(book.has_older());
  book.gone(context(1));
  EXPECT_FALSE(book.has_older());
  book.made(context(1));
  EXPECT_FALSE(book.has_older());
  book.clear();  // nobody tells any more
  book.saw(context(1));
  EXPECT_TRUE(book.has_older());
}

TEST(context_book, knows_a_capture_that_began_unseen_by_its_calls_until_it_ends) {
  context_book book;
  book.saw(context(1));
  EXPECT_FALSE(book.may_capture());
  book.call_was_captured();
  EXPECT_FALSE(book.capturing());
  EXPECT_TRUE(book.may_capture());
  book.stream_gone(stream(2));  // of another one
  book.capture_begins(context(1), stream(3));
  book.capture_ends(stream(3));
  EXPECT_TRUE(book.may_capture());
  book.capture_ends(stream(1));
  EXPECT_FALSE(book.may_capture());
}

TEST(context_book, takes_calls_for_those_of_the_capture_that_it_knows) {
  context_book book;
  book.capture_begins(context(1), stream(1));
  book.call_was_captured();
  book.capture_ends(stream(1));
  EXPECT_FALSE(book.may_capture());
}

TEST(context_book, takes_the_end_of_one_capture_for_no_other_one) {
  context_book book;
  book.made(context(1));
  book.capture_begins(context(1), stream(2));
  book.capture_ends(stream(1));  // which began unseen
  EXPECT_TRUE(book.capturing());
}

}  // namespace

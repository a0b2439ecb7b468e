// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a drain up to a chosen time reads. Ticks stand for nanoseconds: the clock mapping is the identity.
#include "record/store.hpp"
#include "record/cut.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

#include "support/ranges.hpp"

namespace {

using namespace varve::record;  // NOLINT(google-build-using-namespace)
using testing::ElementsAre;
using testing::IsEmpty;
using varve_test::paths;

class store_test : public testing::Test {
 protected:
  void SetUp() override {
    pool.open(std::size_t{1} << 20U);
    const std::uint64_t begin = now();
    records.emplace(++current_epoch, begin, std::size_t{1} << 20U);
  }
  void TearDown() override { pool.close(); }

  static thread_log& log() { return this_log != nullptr ? *this_log : *registry.acquire(); }
  static std::uint64_t begin(const char* layer) {
    return log().push(VARVE_KIND_LAYER, layer, varve::no_index, true);
  }
  static void end(std::uint64_t token) { log().pop(token, true); }
  static varve_handoff_t place(std::uint64_t token) {
    varve_handoff_t where{};
    where.id = token;
    where.depth = 1;
    where.kinds[0] = VARVE_KIND_LAYER;
    where.path[0] = {"place", varve::no_index};
    return where;
  }
  varve::trace copy(std::uint64_t until) {
    records->drain(until);
    return records->copy({}, until);
  }

  std::optional<store> records;
};

// This thread:                begin mine |                        adopt late, begin inner
// another:      begin long, |            until | end long, begin late
TEST_F(store_test, takes_nothing_of_after_its_time_from_a_thread_that_handed_work_over) {
  const std::uint64_t mine = begin("mine");
  std::uint64_t until = 0;
  std::uint64_t late = 0;
  std::thread{[&] {
    const std::uint64_t lengthy = begin("long");
    until = now();
    end(lengthy);
    late = begin("late");
  }}.join();
  const std::uint64_t adopted = log().adopt(place(late), true);
  const varve::trace early = copy(until);
  EXPECT_THAT(paths(early), ElementsAre("mine", "long"));
  for (const varve::range& r : early.ranges) {
    EXPECT_LE(r.begin, r.end);
    EXPECT_EQ(r.end, early.end);
    EXPECT_TRUE(r.clipped_end);
  }
  EXPECT_THAT(early.losses, IsEmpty());

  end(begin("inner"));
  end(adopted);
  end(mine);
  const varve::trace whole = copy(now());
  EXPECT_THAT(paths(whole), ElementsAre("mine", "long", "late", "late / inner"));
  EXPECT_FALSE(whole.ranges[1].clipped_end);
  EXPECT_THAT(whole.losses, IsEmpty());
}

TEST_F(store_test, waits_with_attributes_of_a_range_that_it_has_not_come_to) {
  const std::uint64_t mine = begin("mine");
  const std::uint64_t until = now();
  std::uint64_t late = 0;
  std::thread{[&] { late = begin("late"); }}.join();
  const slot attribute[] = {make_slot(event::attribute, VARVE_DECODE_TOKENS, late), {16, 0}};
  log().append(attribute, 2);
  end(mine);
  EXPECT_THAT(copy(until).attributes, IsEmpty());
  const varve::trace whole = copy(now());
  ASSERT_EQ(whole.attributes.size(), 1U);
  EXPECT_EQ(whole.attributes[0].range, varve_test::find_range(whole, "late"));
}

// drain until | begin pass, end pass, its counts and span are handed over
TEST_F(store_test, keeps_what_is_told_of_a_range_that_it_has_not_come_to) {
  const std::uint64_t until = now();
  const std::uint64_t pass = begin("pass");
  end(pass);
  records->drain(until);
  const auto tell = [&](const std::vector<counted_range>& counts, const std::vector<device_span>& spans) {
    records->take_over(counts);
    records->take_over(spans);
  };
  tell({{pass, {varve::none, 0, 42}}}, {{pass, {}, until, 0, 10}});
  EXPECT_THAT(copy(until).counts, IsEmpty());
  EXPECT_THAT(copy(until).losses, IsEmpty());

  records->drain(now());
  tell({}, {});
  const varve::trace t = copy(now());
  ASSERT_EQ(t.counts.size(), 1U);
  EXPECT_EQ(t.counts[0].range, 0U);
  EXPECT_EQ(t.counts[0].value, 42);
  ASSERT_EQ(t.event_spans.size(), 1U);
  EXPECT_EQ(t.event_spans[0].range, 0U);
  EXPECT_THAT(t.losses, IsEmpty());
  tell({}, {});
  EXPECT_EQ(copy(now()).counts.size(), 1U);
}

TEST_F(store_test, a_request_that_may_be_to_come_is_no_loss_before_the_end) {
  const std::uint64_t pass = begin("pass");
  const slot serves[] = {make_slot(event::attribute, key_serves, pass), {7, 0}};
  log().append(serves, 2);
  end(pass);
  EXPECT_THAT(copy(now()).losses, IsEmpty());
  records->drain(now(), true);
  EXPECT_EQ(varve_test::lost(records->copy({}, now()), "passes that served requests"), 1U);
}

TEST_F(store_test, is_not_held_up_by_a_token_that_nobody_gave_out) {
  const std::uint64_t mine = begin("mine");
  end(log().adopt(place(mine + (std::uint64_t{1000} << 2U)), true));  // of this log, not begun
  end(log().adopt(place(make_token(60'000, 1)), true));               // of a log that does not exist
  std::thread{[&] { end(log().adopt(place(mine), true)); }}.join();
  end(begin("inner"));
  end(mine);
  const varve::trace t = copy(now());
  EXPECT_THAT(paths(t), ElementsAre("mine", "mine / inner"));
  EXPECT_EQ(varve_test::lost(t, "handed-over work of a range that was not recorded"), 2U);
}

TEST_F(store_test, ends_with_its_window_whatever_was_written_after_it) {
  const std::uint64_t before = begin("before");
  const std::uint64_t until = now();
  end(before);
  end(begin("after"));
  records->drain(until, true);
  const varve::trace t = records->take({}, until);
  ASSERT_THAT(paths(t), ElementsAre("before"));
  EXPECT_EQ(t.end, static_cast<varve::time_ns>(until));
  EXPECT_EQ(t.ranges[0].end, t.end);
  EXPECT_TRUE(t.ranges[0].clipped_end);
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST_F(store_test, leaves_activities_that_ran_after_its_time_for_later_and_keeps_those_of_the_future) {
  const auto report = [](std::uint64_t first, std::uint64_t last) {
    const slot slots[] = {make_slot(event::activity, 0, reinterpret_cast<std::uintptr_t>("gemm")),
                          {first, last},
                          {0, 0},
                          {0, 0}};
    log().append(slots, 4);
  };
  const std::uint64_t until = now();
  report(until - 10, until);
  report(until, UINT64_MAX);
  report(until, until + 1);
  while (now() == until) {
  }
  EXPECT_EQ(copy(until).activities.size(), 2U);
  EXPECT_EQ(copy(now()).activities.size(), 3U);
}

/// A call with one inside it that has an id of its own.
void nested_call(thread_log& log, std::uint32_t outer, std::uint32_t inner) {
  const slot call = make_slot(event::call_begin, now(), call_payload(varve::call_kind::launch, outer));
  ASSERT_TRUE(log.append(&call, 1, 1));
  log.append_alias(inner, outer);
  log.append_kept(make_slot(event::call_end, now(), outer));
}

/// What a source hands over: work with these correlations.
varve::trace work_of(const std::vector<std::uint32_t>& correlations) {
  varve::trace batch;
  batch.strings.intern("gemm");
  for (const std::uint32_t c : correlations) {
    varve::activity a;
    a.begin = 1;
    a.end = 2;
    a.name = 0;
    a.correlation = c;
    a.stream = batch.intern_stream({});
    batch.add_activity(a);
  }
  return batch;
}

TEST_F(store_test, work_finds_the_outer_call_whether_it_comes_before_or_after_it) {
  varve::trace early = work_of({11, 21});
  records->take_over(early);
  nested_call(log(), 10, 11);
  nested_call(log(), 20, 21);
  varve::trace more;  // nothing has been read in between
  records->take_over(more);
  records->drain(now());
  varve::trace late = work_of({21, 10});
  records->take_over(late);
  EXPECT_THAT(copy(now()).activities.correlation, ElementsAre(10U, 20U, 20U, 10U));
  records->retire();
  records->retire();  // forgets the ids
  EXPECT_THAT(copy(now()).activities.correlation, ElementsAre(10U, 20U, 20U, 10U));
}

// The table of a source, like a trace's, ends at 65534 streams, and 65534 stands for the others.
TEST_F(store_test, work_on_more_streams_than_the_table_holds_goes_to_no_other_stream_and_is_counted) {
  records.emplace(++current_epoch, now(), std::size_t{64} << 20U);
  varve::trace batch = work_of({});
  batch.strings.intern("gemm");
  varve::activity a;
  a.begin = static_cast<varve::time_ns>(now());
  a.end = a.begin + 1;
  a.name = 0;
  for (std::uint32_t s = 0; s < 65'600; ++s) {
    a.stream = batch.intern_stream({0, 0, s});
    batch.add_activity(a);
  }
  a.stream = batch.intern_stream({1, 0, 0});
  EXPECT_EQ(a.stream, 65534);
  batch.add_activity(a);
  records->take_over(batch);
  const varve::trace t = copy(now());
  ASSERT_EQ(t.activities.size(), 65'601U);
  EXPECT_EQ(t.streams.size(), 65'534U);
  for (std::size_t i = 0; i < 65'534; ++i) {
    ASSERT_EQ(t.activities.stream[i], i);
  }
  for (std::size_t i = 65'534; i < t.activities.size(); ++i) {
    ASSERT_EQ(t.activities.stream[i], 65534);
  }
  ASSERT_EQ(records->reasons().size(), 1U);
  EXPECT_EQ(records->reasons()[0].count, 67U);  // 65,601 less 65,534
}

// 100 streams, their activities and a name are more than 20,000 bytes hold.
TEST_F(store_test, streams_count_in_the_memory) {
  records.emplace(++current_epoch, now(), std::size_t{20'000});
  varve::trace batch = work_of({});
  varve::activity a;
  a.begin = static_cast<varve::time_ns>(now());
  a.end = a.begin + 1;
  a.name = batch.strings.intern("gemm");
  for (std::uint32_t s = 0; s < 100; ++s) {
    a.stream = batch.intern_stream({0, 0, s});
    batch.add_activity(a);
  }
  records->take_over(batch);
  const varve::trace t = copy(now());
  // 288 bytes and thrice its text are the name's; then 192 a stream and 35 an activity.
  const std::size_t fit = (20'000 - bytes_of_text - 3 * 4) / (bytes_of_stream + bytes_of_activity);
  EXPECT_EQ(t.activities.size(), fit);
  EXPECT_EQ(t.streams.size(), fit);
  EXPECT_EQ(varve_test::lost(t, "activities not kept"), 100 - fit);
}

TEST_F(store_test, ids_of_inner_calls_give_their_memory_back) {
  nested_call(log(), 10, 11);
  records->drain(now());
  EXPECT_EQ(records->size().used, bytes_of_call + alias_table::bytes_of_page);
  records->retire();
  records->retire();
  EXPECT_EQ(records->size().used, bytes_of_call);
}

// 28 bytes are a call's; a page of ids needs more than the rest.
TEST_F(store_test, what_is_not_kept_is_counted_by_its_kind_once) {
  records.emplace(++current_epoch, now(), bytes_of_call + 100);
  nested_call(log(), 10, 11);
  nested_call(log(), 20, 21);  // its id is not looked for
  end(begin("layer"));
  records->drain(now());
  varve::trace batch = work_of({10, 11, 20});
  records->take_over(batch);
  const varve::trace t = copy(now());
  EXPECT_EQ(t.calls.size(), 1U);
  EXPECT_EQ(varve_test::lost(t, "calls not kept"), 1U);
  EXPECT_EQ(varve_test::lost(t, "calls' ids not kept"), 1U);
  EXPECT_EQ(varve_test::lost(t, "ranges not kept"), 1U);
  EXPECT_EQ(varve_test::lost(t, "activities not kept"), 3U);
  EXPECT_EQ(varve_test::lost(t, "trace memory full"), 6U);
}

// Of a device, whose records come when what they are of was taken.
class late_records : public store_test {
 protected:
  varve::trace take() { return take({}, now()); }
  varve::trace take(const clock_mapping& clock, std::uint64_t until) {
    records->drain(until);
    return records->take_finished(clock, until, {}, 0);
  }
  void ran(varve::time_ns begin, varve::time_ns end) {
    varve::trace batch;
    batch.strings.intern("gemm");
    batch.intern_stream({0, 0, 0});
    batch.add_activity({begin, end, 77, 0, varve::none, varve::none, 0});
    records->take_over(batch);
    records->renew_tables();
  }
};

TEST_F(late_records, of_calls_that_were_taken_are_counted) {
  end(begin("layer"));
  ran(1, 2);  // of long before the session: none of its
  const varve::trace first = take();
  EXPECT_THAT(first.activities.name, IsEmpty());
  EXPECT_THAT(first.losses, IsEmpty());
  ran(first.begin, first.end);
  const varve::trace second = take();
  EXPECT_THAT(second.activities.name, IsEmpty());
  const varve::trace rest = copy(now());
  EXPECT_EQ(varve_test::lost(rest, "came after their pass had been taken"), 1U);
}

TEST_F(late_records, of_memory_are_of_the_next_window) {
  end(begin("layer"));
  const varve::trace first = take();
  varve::trace batch;
  batch.memory_events.push_back({first.begin, 64, true});
  records->take_over(batch);
  const varve::trace rest = copy(now());
  ASSERT_EQ(rest.memory_events.size(), 1U);
  EXPECT_EQ(rest.memory_events[0].at, first.end);
  EXPECT_EQ(rest.memory_events[0].bytes, 64);
}

// The device clock is set forward by 5 s between 1 and 2 s; something is allocated at 2.5 s.
TEST_F(late_records, of_a_clock_that_was_set_are_in_one_window) {
  constexpr std::uint64_t second = 1'000'000'000;
  const std::uint64_t start = records->begin();
  std::vector<clock_anchor> anchors;
  for (std::uint64_t s = 0; s < 8; ++s) {
    const auto at = static_cast<varve::time_ns>(start + s * second);
    anchors.push_back({start + s * second, at, s < 2 ? at : at + 5 * varve::time_ns{second}, 0});
  }
  const clock_mapping clock{anchors};
  ASSERT_TRUE(clock.has_steps());
  end(begin("layer"));
  varve::trace batch;
  batch.memory_events.push_back({anchors[2].epoch + 500'000'000, 64, true});
  records->take_over(batch);
  const varve::trace first = take(clock, start + 3 * second);
  ASSERT_EQ(first.memory_events.size(), 1U);
  EXPECT_EQ(first.memory_events[0].at, anchors[2].monotonic + 500'000'000);
  end(begin("layer"));
  EXPECT_THAT(take(clock, start + 4 * second).memory_events, IsEmpty());
}

TEST_F(store_test, names_the_range_that_holds_up_takes) {
  const std::uint64_t serving = begin("serve");
  log().pop(log().push(VARVE_KIND_PHASE, "decode", varve::no_index, true), true);
  const std::uint64_t until = now();
  records->drain(until);
  const auto later = static_cast<std::uint64_t>(cut::patience_with_overlap);
  EXPECT_THAT(records->take_finished({}, until, {}, 0).ranges, IsEmpty());
  EXPECT_THAT(records->reasons(), IsEmpty());
  EXPECT_THAT(records->take_finished({}, until + later, {}, 0).ranges, IsEmpty());
  ASSERT_EQ(records->reasons().size(), 1U);
  EXPECT_THAT(records->reasons()[0].what, testing::HasSubstr("here \"serve\""));
  end(serving);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Where the process has no memory for records, the engine goes on, columns stay even, and each record is kept
// or counted once.
#include "record/store.hpp"

#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <new>
#include <optional>
#include <thread>

#include "support/ranges.hpp"
#include "support/replaced_new.hpp"

namespace {

constexpr std::int64_t plenty = std::numeric_limits<std::int64_t>::max();

std::atomic<std::int64_t> left{plenty};  // allocations, before one fails
std::atomic<bool> once{false};           // it alone; else all that follow too
std::atomic<bool> failed{false};
thread_local bool spared = false;

}  // namespace

void testing_support::before_allocation() {
  if (!spared && left.load() != plenty && left.fetch_sub(1) <= 0) {
    failed = true;
    if (once) {
      left = plenty;
    }
    throw std::bad_alloc{};
  }
}

namespace {

using namespace varve::record;  // NOLINT(google-build-using-namespace)
using varve_test::lost;

thread_log& log() { return this_log != nullptr ? *this_log : *registry.acquire(); }

/// What mark() does, each time.
constexpr std::size_t ranges_marked = 6;
constexpr std::size_t calls_marked = 1;
constexpr std::size_t activities_marked = 1;

/// All that a log tells: ranges of two threads, nested and handed over, a request, a call in a call, work,
/// attributes and an activity.
void mark(std::uint64_t request) {
  const std::uint64_t pass = log().push(VARVE_KIND_PHASE, "decode", varve::no_index, true);
  const slot begins[] = {make_slot(event::request, now(), request),
                         {reinterpret_cast<std::uintptr_t>("request"), 1}};
  const slot ends[] = {make_slot(event::request, now(), request), {0, 0}};
  const slot serves[] = {make_slot(event::attribute, key_serves, pass), {request, 0}};
  const slot model[] = {make_slot(event::attribute, key_model, pass),
                        {reinterpret_cast<std::uintptr_t>("target"), 0}};
  const slot tokens[] = {make_slot(event::attribute, VARVE_DECODE_TOKENS, pass), {16, 0}};
  const slot work[] = {make_slot(event::work, 0, pass), {1, 2}, {3, 4}};
  log().append(serves, 2);
  log().append(begins, 2);
  log().append(model, 2);
  log().append(tokens, 2);
  log().append(work, 3);
  std::uint64_t layer = log().push(VARVE_KIND_LAYER, "attention", 100'000, true);  // does not pack
  layer = log().next(layer, "mlp", 3, true);
  const slot call = make_slot(event::call_begin, now(), call_payload(varve::call_kind::launch, 7));
  ASSERT_TRUE(log().append(&call, 1, 1));
  log().append_alias(8, 7);
  log().append_kept(make_slot(event::call_end, now(), 7));
  const slot activity[] = {
      make_slot(event::activity, 0, reinterpret_cast<std::uintptr_t>("gemm")), {1, 2}, {0, 0}, {0, 0}};
  log().append(activity, 4);
  std::thread{[&] {
    spared = true;
    const std::uint64_t other = log().push(VARVE_KIND_LAYER, "elsewhere", 1, true);
    varve_handoff_t where{};
    where.id = pass;
    where.depth = 1;
    where.kinds[0] = VARVE_KIND_PHASE;
    where.path[0] = {"decode", varve::no_index};
    const std::uint64_t adopted = log().adopt(where, true);
    log().pop(log().push(VARVE_KIND_OP, "part", 2, true), true);
    log().pop(adopted, true);
    log().pop(other, true);
  }}.join();
  log().append(ends, 2);
  log().pop(layer, true);
  log().pop(pass, true);
}

/// What a source hands over.
constexpr std::size_t kernels_handed_over = 20;
varve::trace kernels() {
  varve::trace batch;
  for (std::uint32_t i = 0; i < kernels_handed_over; ++i) {
    varve::activity a;
    a.begin = 1;
    a.end = 2;
    a.correlation = i % 2 == 0 ? 7 : 8;
    a.name = batch.strings.intern("_Z4gemmILi" + std::to_string(i) + "EEvv");
    a.stream = batch.intern_stream({0, 0, i});
    a.detail = batch.intern_shape({{i + 1, 1, 1}, {32, 1, 1}});
    varve::graph_node n;
    n.id = 1000 + i;
    batch.graph_nodes.push_back(n);
    a.node = i;
    batch.add_activity(a);
  }
  batch.memory_events.push_back({1, 2, true});
  return batch;
}

void check(const varve::trace& t, std::size_t times) {
  EXPECT_EQ(t.ranges.size() + lost(t, "ranges not kept"), times * ranges_marked);
  EXPECT_EQ(t.calls.size() + lost(t, "calls not kept"), times * calls_marked);
  EXPECT_EQ(t.activities.size() + lost(t, "activities not kept"),
            times * (activities_marked + kernels_handed_over));
  EXPECT_EQ(lost(t, "marker memory full"), 0U);
  for (const varve::range& r : t.ranges) {
    EXPECT_LE(r.begin, r.end);
    EXPECT_FALSE(r.clipped_end);
    EXPECT_NE(r.label, varve::none);
    EXPECT_TRUE(r.parent == varve::none || r.parent < t.ranges.size());
  }
  const varve::call_columns& c = t.calls;
  for (const std::size_t size : {c.end.size(), c.correlation.size(), c.range.size(), c.thread.size(),
                                 c.kind.size(), c.captured.size()}) {
    EXPECT_EQ(size, c.begin.size());
  }
  for (std::size_t i = 0; i < c.size(); ++i) {
    EXPECT_LE(c.begin[i], c.end[i]);
  }
  const varve::activity_columns& a = t.activities;
  for (const std::size_t size : {a.end.size(), a.correlation.size(), a.name.size(), a.node.size(),
                                 a.detail.size(), a.stream.size(), a.kind.size()}) {
    EXPECT_EQ(size, a.begin.size());
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(a.node[i] == varve::none || a.node[i] < t.graph_nodes.size());
    EXPECT_TRUE(a.detail[i] == varve::none || a.detail[i] < t.shapes.size());
  }
}

class without_memory : public testing::TestWithParam<bool> {};

// The first allocation fails, then the second in a run of its own, and so on until none does.
TEST_P(without_memory, a_store_keeps_or_counts_everything_once) {
  std::int64_t n = 0;
  for (bool again = true; again && !HasFailure(); ++n) {
    pool.open(std::size_t{4} << 20U);
    const std::uint64_t begin = now();
    std::optional<store> records{std::in_place, ++current_epoch, begin, std::size_t{1} << 30U};
    mark(2 * static_cast<std::uint64_t>(n) + 1);
    varve::trace batch = kernels();
    failed = false;
    once = GetParam();
    left = n;
    records->drain(now());
    records->take_over(batch);
    left = plenty;
    again = failed;
    EXPECT_EQ(batch.activities.size(), 0U);
    check(records->copy({}, now()), 1);
    EXPECT_EQ(records->reasons().empty(), !again);
    mark(2 * static_cast<std::uint64_t>(n) + 2);  // nothing is kept any more, and all is counted
    varve::trace more = kernels();
    records->drain(now(), true);
    records->take_over(more);
    check(records->take({}, now()), 2);
    pool.close();
    EXPECT_FALSE(HasFailure()) << "allocation " << n << " failed";
  }
  EXPECT_GT(n, 50);  // that many are made
}

INSTANTIATE_TEST_SUITE_P(allocations, without_memory, testing::Values(false, true), [](const auto& tested) {
  return std::string{tested.param ? "one_fails" : "all_fail_from_one_on"};
});

TEST(session_without_memory, runs_on_and_says_what_it_has_lost) {
  spared = true;  // the recorder's own thread is not
  varve::session_options options;
  options.gpu.enabled = false;
  varve::session session{std::move(options)};
  std::uint64_t made = 0;
  const auto told = [&] {
    for (const varve::loss& l : session.status().losses) {
      if (l.what.find("no memory for records") != std::string::npos) {
        return true;
      }
    }
    return false;
  };
  left = 0;
  while (!told()) {
    for (int i = 0; i < 1000; ++i) {
      const varve::layer layer{"layer", i};
      ++made;
    }
  }
  left = plenty;
  spared = false;
  const varve::trace t = session.stop();
  EXPECT_EQ(t.ranges.size() + lost(t, "ranges dropped") + lost(t, "ranges not kept"), made);
  EXPECT_GT(lost(t, "no memory for records"), 0U);
}

}  // namespace

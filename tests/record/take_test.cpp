// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a session hands over while it goes on.
#include <varve/collector.hpp>
#include <varve/marker.hpp>
#include <varve/report.hpp>
#include <varve/session.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "record/cut.hpp"
#include "record/recording.hpp"
#include "support/ranges.hpp"

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using varve_test::lost;
using varve_test::paths;

class take : public testing::Test {
 protected:
  take() {
    options.gpu.enabled = false;
    varve::record::settle_after(-1);  // graphs have no more records than those that are there
  }
  ~take() override { varve::record::settle_after(varve::record::cut_options{}.settling); }

  void run(std::uint32_t correlation, std::uint64_t node = 0) {
    const std::uint64_t now = varve::clock_ticks();
    device.report({0, correlation, "gemm", now, now, varve::activity_kind::kernel, node});
  }
  void launch(varve::call_kind kind = varve::call_kind::launch, std::uint64_t node = 0) {
    const varve::host_call call{device, kind};
    run(call.correlation(), node);
  }
  /// A pass of one layer that launches once.
  void decode(int tokens = 1) {
    varve::phase pass{varve::decode};
    pass.decode_tokens(tokens);
    const varve::layer layer{"layer", 0};
    launch();
  }
  static std::vector<std::uint32_t> nodes_of(const varve::trace& t) {
    std::vector<std::uint32_t> out;
    std::copy_if(t.activities.node.begin(), t.activities.node.end(), std::back_inserter(out),
                 [](std::uint32_t node) { return node != varve::none; });
    return out;
  }
  static std::vector<std::int64_t> tokens(const varve::trace& t) {
    std::vector<std::int64_t> out;
    for (const varve::range_attribute& a : t.attributes) {
      EXPECT_EQ(t.ranges.at(a.range).kind, varve::range_kind::phase);
      out.push_back(a.value);
    }
    return out;
  }
  /// Every index points at something.
  static void check(const varve::trace& t) {
    EXPECT_LE(t.begin, t.end);
    for (std::uint32_t r = 0; r < t.ranges.size(); ++r) {
      EXPECT_LT(t.ranges[r].label, t.labels.size());
      EXPECT_TRUE(t.ranges[r].parent == varve::none || t.ranges[r].parent < r);
      EXPECT_LE(t.ranges[r].begin, t.ranges[r].end);
      EXPECT_LT(t.ranges[r].thread, t.threads.size());
    }
    std::set<std::uint32_t> called{t.calls.correlation.begin(), t.calls.correlation.end()};
    for (std::size_t c = 0; c < t.calls.size(); ++c) {
      EXPECT_TRUE(t.calls.range[c] == varve::none || t.calls.range[c] < t.ranges.size());
    }
    for (std::size_t a = 0; a < t.activities.size(); ++a) {
      EXPECT_EQ(called.count(t.activities.correlation[a]), 1U);
      EXPECT_EQ(t.strings[t.activities.name[a]], "gemm");
      EXPECT_LT(t.activities.stream[a], t.streams.size());
    }
  }

  varve::host_device device{{0, "device"}};
  varve::session_options options;
};

TEST_F(take, has_what_is_finished_and_leaves_the_rest) {
  varve::session session{options};
  decode(1);
  decode(2);
  {
    const varve::phase open{varve::prefill};
    launch();
    const varve::trace first = session.take();
    check(first);
    EXPECT_THAT(paths(first), ElementsAre("decode", "decode / layer 0", "decode", "decode / layer 0"));
    EXPECT_THAT(tokens(first), ElementsAre(1, 2));
    EXPECT_EQ(first.calls.size(), 2U);
    EXPECT_EQ(first.activities.size(), 2U);
    EXPECT_THAT(first.losses, IsEmpty());
    const varve::trace none_yet = session.take();  // the time since, at most
    EXPECT_THAT(none_yet.ranges, IsEmpty());
  }
  decode(3);
  const varve::trace rest = session.stop();
  check(rest);
  EXPECT_THAT(paths(rest), ElementsAre("prefill", "decode", "decode / layer 0"));
  EXPECT_THAT(tokens(rest), ElementsAre(3));
  EXPECT_EQ(rest.activities.size(), 2U);
  EXPECT_FALSE(rest.ranges[0].clipped_begin);
  EXPECT_THAT(rest.losses, IsEmpty());
}

TEST_F(take, begins_a_window_where_the_one_before_ended) {
  varve::session session{options};
  decode();
  varve::trace before;
  {
    const varve::phase open{varve::decode};
    launch();
    before = session.take();
  }
  const varve::trace rest = session.stop();
  ASSERT_EQ(rest.ranges.size(), 1U);
  EXPECT_EQ(rest.begin, before.end);
  // The rate of the clock is measured anew for each trace.
  EXPECT_NEAR(static_cast<double>(rest.ranges[0].begin), static_cast<double>(rest.begin), 1e6);
  EXPECT_LE(before.ranges.back().end, before.end);
}

TEST_F(take, waits_for_work_that_has_not_come) {
  varve::session session{options};
  std::uint32_t correlation = 0;
  {
    const varve::phase pass{varve::decode};
    const varve::host_call call{device, varve::call_kind::launch};
    correlation = call.correlation();
  }
  decode();
  EXPECT_THAT(session.take().ranges, IsEmpty());
  run(correlation);
  const varve::trace t = session.take();
  check(t);
  EXPECT_THAT(paths(t), ElementsAre("decode", "decode", "decode / layer 0"));
  EXPECT_EQ(t.activities.size(), 2U);
}

TEST_F(take, counts_what_is_said_of_a_pass_that_was_taken) {
  varve::session session{options};
  varve::phase pass{varve::decode};
  pass.end();
  EXPECT_EQ(session.take().ranges.size(), 1U);
  pass.decode_tokens(16);
  EXPECT_EQ(lost(session.stop(), "attributes or handed-over work of a range that was not recorded"), 1U);
}

TEST_F(take, tells_of_each_loss_once) {
  varve::session session{options};
  const auto nest_too_deep = [] {
    std::vector<varve::handle> open;
    while (open.size() < 513) {
      open.push_back(varve::begin_layer("deep", 0));
    }
    for (auto h = open.rbegin(); h != open.rend(); ++h) {
      h->end();
    }
  };
  nest_too_deep();
  const std::uint64_t first = session.take().losses.size();
  EXPECT_GT(first, 0U);
  EXPECT_THAT(session.take().losses, IsEmpty());
  nest_too_deep();
  const varve::trace rest = session.stop();
  ASSERT_EQ(rest.losses.size(), first);
  EXPECT_THAT(rest.losses, Each(testing::Field(&varve::loss::count, 1U)));
}

// Two layers of 100 FLOPs were captured. The node of one is met before the capture is taken, that of the
// other after it; the executable is replayed in each window.
TEST_F(take, leaves_replays_the_work_that_their_capture_declared) {
  varve::session session{options};
  std::vector<std::uint64_t> nodes;
  {
    const varve::phase pass{varve::capture};
    for (int i = 0; i < 2; ++i) {
      varve::layer layer{"layer", i};
      layer.work([&] { return varve::work{100 * (i + 1)}; });
      nodes.push_back(device.clone_node(device.capture_node()));
    }
  }
  const auto replay = [&](std::size_t first) {
    const varve::phase pass{varve::decode};
    const varve::host_call call{device, varve::call_kind::graph_launch};
    for (std::size_t i = first; i < nodes.size(); ++i) {
      run(call.correlation(), nodes[i]);
    }
  };
  const auto flops = [](const varve::trace& t) {
    std::map<std::string, std::int64_t> out;
    for (const std::uint32_t node : nodes_of(t)) {
      out[varve::label_text(t, t.graph_nodes.at(node).label)] += t.graph_nodes[node].declared.flops;
    }
    return out;
  };
  using map = std::map<std::string, std::int64_t>;
  EXPECT_THAT(paths(session.take()), ElementsAre("capture", "capture / layer 0", "capture / layer 1"));
  replay(1);
  launch();  // later: the graph has settled
  {
    const varve::trace t = session.take();
    EXPECT_THAT(paths(t), ElementsAre("decode"));
    EXPECT_EQ(flops(t), (map{{"capture / layer 1", 200}}));
    EXPECT_EQ(t.works.size(), 0U);
  }
  for (int window = 0; window < 3; ++window) {
    replay(0);
    replay(0);
    launch();
    EXPECT_EQ(flops(session.take()), (map{{"capture / layer 0", 2 * 100}, {"capture / layer 1", 2 * 200}}))
        << window;
  }
}

// Each layer has four works for its two nodes, so that the first carries three (FLOPs of one pipe add up).
// The first node is met before the capture goes, the second after it.
TEST_F(take, shares_the_work_of_a_capture_among_all_of_its_nodes_before_it_goes) {
  varve::session session{options};
  std::vector<std::uint64_t> nodes;
  const auto replay = [&](std::size_t first, std::size_t end) {
    const varve::phase pass{varve::decode};
    const varve::host_call call{device, varve::call_kind::graph_launch};
    for (std::size_t i = first; i < end; ++i) {
      run(call.correlation(), nodes[i]);
    }
  };
  {
    const varve::phase pass{varve::capture};
    varve::layer layer{"layer", 0};
    for (int i = 1; i <= 4; ++i) {
      layer.work([&] { return varve::work{i}; });
    }
    nodes = {device.clone_node(device.capture_node()), device.clone_node(device.capture_node())};
  }
  std::int64_t flops = 0;
  const auto add = [&](const varve::trace& t) {
    for (const std::uint32_t node : nodes_of(t)) {
      flops += t.graph_nodes.at(node).declared.flops;
    }
  };
  {
    const varve::phase open{varve::warm_up};
    replay(0, 1);  // inside: it stays with the open pass
    add(session.take());
  }
  EXPECT_EQ(flops, 0);
  replay(1, 2);
  launch();
  add(session.take());
  EXPECT_EQ(flops, 1 + 2 + 3 + 4);
}

// Request 2 ends in the first window, request 1 in the third; each pass serves those that are open.
TEST_F(take, knows_of_a_request_what_served_it_before) {
  varve::session session{options};
  varve::request chat{"chat", 1};
  varve::request brief{"chat", 2};
  const auto serve = [&] {
    varve::phase pass{varve::decode};
    pass.serves(chat);
    pass.serves(brief);
    launch();
  };
  serve();
  brief.end();
  const varve::trace first = session.take();
  EXPECT_THAT(paths(first), ElementsAre("chat 2", "decode"));
  EXPECT_EQ(first.requests.size(), 1U);
  EXPECT_THAT(first.earlier_services, IsEmpty());
  serve();
  const varve::trace second = session.take();
  EXPECT_THAT(paths(second), ElementsAre("decode"));
  serve();
  chat.end();
  const varve::trace rest = session.stop();
  EXPECT_THAT(paths(rest), ElementsAre("chat 1", "decode"));
  ASSERT_EQ(rest.earlier_services.size(), 1U);
  const varve::earlier_service& before = rest.earlier_services[0];
  EXPECT_EQ(before.request, 0U);
  EXPECT_EQ(before.passes, 2);
  const auto end_of = [](const varve::trace& t) {
    return static_cast<double>(std::max(t.ranges.back().end, t.activities.end.back()));
  };
  // The rate of the clock is measured anew for each trace.
  EXPECT_NEAR(static_cast<double>(before.first_begin), static_cast<double>(first.ranges.back().begin), 1e6);
  EXPECT_NEAR(static_cast<double>(before.first_end), end_of(first), 1e6);
  EXPECT_NEAR(static_cast<double>(before.last_end), end_of(second), 1e6);

  const varve::report report = varve::analyze(rest);
  ASSERT_EQ(report.requests.size(), 1U);
  const varve::request_row& row = report.requests[0];
  EXPECT_EQ(row.passes, 3);
  EXPECT_EQ(row.total, rest.ranges[0].end - rest.ranges[0].begin);
  EXPECT_EQ(row.queue_wait, before.first_begin - rest.ranges[0].begin);
  EXPECT_EQ(row.time_to_first_token, before.first_end - rest.ranges[0].begin);
  const varve::time_ns last = std::max(rest.ranges[1].end, rest.activities.end[0]);
  EXPECT_EQ(row.time_per_output_token, (last - before.first_end) / 2);
}

TEST_F(take, needs_no_more_memory_however_long_a_session_runs) {
  options.trace_memory = std::size_t{1} << 20U;
  varve::session session{options};
  std::size_t taken = 0;
  for (int window = 0; window < 50; ++window) {
    for (int i = 0; i < 200; ++i) {
      const std::string name = std::to_string(window) + "." + std::to_string(i);
      const varve::phase pass{varve::decode};
      const varve::layer layer{varve::label{name.c_str()}};
      varve::request request{"chat", window * 200 + i};
      launch();
    }
    const varve::trace t = session.take();
    taken += t.ranges.size();
    EXPECT_THAT(t.losses, IsEmpty());
    EXPECT_LT(varve::record::size_of_recording().used, options.trace_memory / 2);
  }
  taken += session.stop().ranges.size();
  EXPECT_EQ(taken, std::size_t{50} * 200 * 3);  // each pass, its layer and its request
}

TEST_F(take, goes_on_when_the_memory_was_full) {
  options.trace_memory = std::size_t{1} << 16U;
  varve::session session{options};
  for (int i = 0; i < 5000; ++i) {
    decode();
  }
  EXPECT_GT(lost(session.take(), "trace memory full"), 0U);
  for (int window = 0; window < 3; ++window) {
    decode(1);
    decode(2);
    const varve::trace t = session.take();
    check(t);
    EXPECT_EQ(t.ranges.size(), 4U);
    EXPECT_THAT(tokens(t), ElementsAre(1, 2));
    EXPECT_THAT(t.losses, IsEmpty());
  }
}

TEST_F(take, forgets_streams_that_are_not_used_any_more) {
  varve::session session{options};
  for (std::uint32_t window = 0; window < 3; ++window) {
    for (std::uint32_t stream = 0; stream < 30000; ++stream) {
      const varve::phase pass{varve::decode};
      const varve::host_call call{device, varve::call_kind::launch};
      const std::uint64_t now = varve::clock_ticks();
      device.report({window * 30000 + stream, call.correlation(), "gemm", now, now});
    }
    const varve::trace t = session.take();  // 90,000 are more than a trace can tell apart
    EXPECT_EQ(t.streams.size(), 30000U);
    EXPECT_THAT(t.losses, IsEmpty());
  }
  EXPECT_LT(varve::record::size_of_recording().used, std::size_t{1} << 20U);
}

TEST_F(take, tells_nothing_of_what_is_in_a_range_that_stays_open) {
  varve::session session{options};
  {
    const varve::layer serving{"serve"};
    decode();
    EXPECT_THAT(session.take().ranges, IsEmpty());
  }
  EXPECT_THAT(paths(session.take()), ElementsAre("serve", "serve / decode", "serve / decode / layer 0"));
}

// Each thread's passes are numbered; windows have each of them once, whole, in order.
TEST_F(take, hands_over_each_pass_once_while_threads_mark) {
  constexpr int threads = 3;
  constexpr int passes = 2000;
  varve::session session{options};
  std::atomic<int> running{threads};
  std::vector<std::thread> engines;
  for (int n = 0; n < threads; ++n) {
    engines.emplace_back([&, n] {
      for (int i = 0; i < passes; ++i) {
        decode(n * passes + i);
        if (i % 64 == 0) {
          std::this_thread::yield();
        }
      }
      --running;
    });
  }
  std::vector<std::int64_t> seen;
  std::size_t activities = 0;
  const auto add = [&](const varve::trace& t) {
    check(t);
    EXPECT_THAT(t.losses, IsEmpty());
    EXPECT_EQ(t.ranges.size(), 2 * tokens(t).size());
    EXPECT_EQ(t.calls.size(), tokens(t).size());
    for (const std::int64_t pass : tokens(t)) {
      seen.push_back(pass);
    }
    activities += t.activities.size();
  };
  while (running != 0) {
    add(session.take());
  }
  for (std::thread& engine : engines) {
    engine.join();
  }
  add(session.take());
  add(session.stop());
  EXPECT_EQ(activities, std::size_t{threads} * passes);
  ASSERT_EQ(seen.size(), std::size_t{threads} * passes);
  std::sort(seen.begin(), seen.end());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i], static_cast<std::int64_t>(i));
  }
}

TEST_F(take, is_empty_without_a_session) {
  varve::session session{options};
  varve::session other{std::move(session)};
  EXPECT_THAT(session.take().ranges, IsEmpty());  // NOLINT(bugprone-use-after-move)
  static_cast<void>(other.stop());
  EXPECT_THAT(other.take().ranges, IsEmpty());
}

}  // namespace

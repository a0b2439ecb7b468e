// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What every source of device records fulfils, seen from a session. A source is driven by a rig; its test
// file instantiates the suite:
//
//     INSTANTIATE_TEST_SUITE_P(host, collector_contract, testing::Values(&make_host_rig), name_of_rig);
#ifndef VARVE_TESTS_CONTRACT_COLLECTOR_CONTRACT_HPP
#define VARVE_TESTS_CONTRACT_COLLECTOR_CONTRACT_HPP

#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/device_work.hpp"
#include "support/ranges.hpp"

namespace contract {

/// An engine on the source's device. Thread safe.
class rig {
 public:
  rig() = default;
  rig(const rig&) = delete;
  rig& operator=(const rig&) = delete;
  virtual ~rig() = default;

  virtual void choose(varve::session_options& options) = 0;
  /// Device 0 or 1.
  virtual int make_stream(std::uint32_t device) = 0;
  virtual std::uint64_t stream_id(int stream) = 0;
  // Calls: what correlates them with their work. Between begin_capture() and end_capture() launches on the
  // stream make nodes, and no work.
  virtual std::uint32_t launch(int stream, const char* name) = 0;
  virtual std::uint32_t copy(int stream, std::int64_t bytes) = 0;
  virtual std::uint32_t launch_that_fails(int stream) = 0;
  virtual void begin_capture(int stream) = 0;
  virtual int end_capture(int stream) = 0;  ///< an executable
  virtual std::uint32_t replay(int stream, int executable) = 0;
  /// Begin and end of what a call launched, in its order. After the session has stopped.
  virtual std::vector<std::pair<varve::time_ns, varve::time_ns>> times(std::uint32_t correlation) = 0;
};

using rig_maker = std::unique_ptr<rig> (*)();

class collector_contract : public testing::TestWithParam<rig_maker> {
 protected:
  collector_contract() : device{GetParam()()} { device->choose(options); }

  struct launched {
    std::uint32_t correlation;
    std::vector<std::string> names;
    std::vector<std::string> layers;
  };

  void launch(int stream, const char* name, const std::string& layer) {
    const std::uint32_t correlation = device->launch(stream, name);
    const std::lock_guard lock{mutex_};
    all_.push_back({correlation, {name}, {layer}});
  }
  void replay(int stream, int executable, std::vector<std::string> names, std::vector<std::string> layers) {
    const std::uint32_t correlation = device->replay(stream, executable);
    const std::lock_guard lock{mutex_};
    all_.push_back({correlation, std::move(names), std::move(layers)});
  }
  /// Of what was launched since the last call; the session has stopped.
  std::vector<std::string> expected() {
    std::vector<std::string> out;
    for (const launched& l : all_) {
      const auto times = device->times(l.correlation);
      EXPECT_EQ(times.size(), l.names.size());
      for (std::size_t i = 0; i < std::min(times.size(), l.names.size()); ++i) {
        out.push_back(
            varve_test::line_of(l.names[i], l.layers[i], l.correlation, times[i].first, times[i].second));
      }
    }
    std::sort(out.begin(), out.end());
    all_.clear();
    return out;
  }

  std::unique_ptr<rig> device;
  varve::session_options options;

 private:
  std::mutex mutex_;
  std::vector<launched> all_;
};

TEST_P(collector_contract, work_belongs_to_the_innermost_range_of_its_call_with_its_times_to_the_nanosecond) {
  varve::session session{options};
  const int s = device->make_stream(0);
  launch(s, "outside", "");
  {
    const varve::phase pass{varve::decode};
    launch(s, "of pass", "decode");
    const varve::layer block{"block", 3};
    launch(s, "first", "decode / block 3");
    {
      const varve::op inner{"gemm"};
      launch(s, "inner", "decode / block 3 / gemm");
    }
    launch(s, "last", "decode / block 3");
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(varve_test::lines_of(t), expected());
  EXPECT_TRUE(t.losses.empty());
}

TEST_P(collector_contract, each_launch_is_a_call_of_its_own_that_ends_in_its_range) {
  varve::session session{options};
  const int s = device->make_stream(0);
  constexpr std::size_t many = 300;
  for (std::size_t i = 0; i < many; ++i) {
    const varve::layer layer{"layer"};
    launch(s, "k", "layer");
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(varve_test::lines_of(t), expected());
  ASSERT_EQ(t.calls.size(), many);
  EXPECT_EQ(std::set<std::uint32_t>(t.calls.correlation.begin(), t.calls.correlation.end()).size(), many);
  for (std::size_t c = 0; c < many; ++c) {
    const varve::range& r = t.ranges.at(t.calls.range[c]);
    EXPECT_EQ(t.calls.kind[c], varve::call_kind::launch);
    EXPECT_LE(r.begin, t.calls.begin[c]);
    EXPECT_LE(t.calls.begin[c], t.calls.end[c]);
    EXPECT_LE(t.calls.end[c], r.end);
  }
  const varve::report_quality q = varve::analyze(t).quality;
  EXPECT_EQ(q.matched, static_cast<std::int64_t>(many));
  EXPECT_EQ(q.duplicate_correlations, 0);
  EXPECT_EQ(q.untimed, 0);
}

TEST_P(collector_contract, copies_have_their_bytes) {
  varve::session session{options};
  device->copy(device->make_stream(0), 12'345);
  const varve::trace t = session.stop();
  const auto all = varve_test::device_work(t);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, varve::activity_kind::copy);
  EXPECT_EQ(all[0].bytes, 12'345);
  EXPECT_EQ(t.calls.kind.at(0), varve::call_kind::copy);
}

TEST_P(collector_contract, a_call_that_fails_is_a_call_without_work) {
  varve::session session{options};
  const int s = device->make_stream(0);
  device->launch_that_fails(s);
  launch(s, "good", "");
  const varve::trace t = session.stop();
  EXPECT_EQ(varve_test::lines_of(t), expected());
  EXPECT_EQ(t.calls.size(), 2U);
}

TEST_P(collector_contract, sessions_have_their_own_records_and_none_of_before_and_after) {
  const int s = device->make_stream(0);
  for (int n = 0; n < 3; ++n) {
    device->launch(s, "before");
    varve::session session{options};
    for (int i = 0; i <= n; ++i) {
      const varve::layer layer{"of session", n};
      launch(s, "k", "of session " + std::to_string(n));
    }
    const varve::trace t = session.stop();
    device->launch(s, "after");
    EXPECT_EQ(varve_test::lines_of(t), expected());
    EXPECT_EQ(t.calls.size(), static_cast<std::size_t>(n) + 1);
    EXPECT_EQ(session.stop().activities.size(), 0U) << "handed over once";
  }
}

TEST_P(collector_contract, a_snapshot_has_the_records_so_far) {
  varve::session session{options};
  const int s = device->make_stream(0);
  for (std::size_t n = 1; n <= 3; ++n) {
    launch(s, "k", "");
    const varve::trace t = session.snapshot();
    EXPECT_EQ(t.activities.size(), n);
    EXPECT_EQ(t.calls.size(), n);
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(varve_test::lines_of(t), expected());
}

TEST_P(collector_contract, devices_and_streams_are_told_apart) {
  varve::session session{options};
  const int streams[] = {device->make_stream(0), device->make_stream(0), device->make_stream(1)};
  for (int round = 0; round < 4; ++round) {
    for (const int s : streams) {
      launch(s, "k", "");
    }
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(varve_test::lines_of(t), expected());
  std::vector<std::pair<std::uint32_t, std::uint64_t>> seen;
  for (const varve_test::piece_of_work& p : varve_test::device_work(t)) {
    seen.emplace_back(p.stream.device, p.stream.stream);
  }
  std::vector<std::pair<std::uint32_t, std::uint64_t>> wanted;
  for (int round = 0; round < 4; ++round) {
    for (const int i : {0, 1, 2}) {
      wanted.emplace_back(i == 2 ? 1U : 0U, device->stream_id(streams[i]));
    }
  }
  EXPECT_THAT(seen, testing::UnorderedElementsAreArray(wanted));
  EXPECT_EQ(varve::analyze(t).devices.size(), 2U);
}

TEST_P(collector_contract, threads_launch_each_in_its_own_ranges) {
  varve::session session{options};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const int s = device->make_stream(0);
      for (int n = 0; n < 40; ++n) {
        const varve::layer layer{"thread", i};
        launch(s, "k", "thread " + std::to_string(i));
      }
    });
  }
  for (std::thread& t : threads) {
    t.join();
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(varve_test::lines_of(t), expected());
  EXPECT_TRUE(t.losses.empty());
}

TEST_P(collector_contract, a_replayed_graph_has_the_labels_of_its_capture) {
  varve::session session{options};
  const int s = device->make_stream(0);
  int executable = 0;
  {
    const varve::phase pass{varve::decode};
    device->begin_capture(s);
    for (int i = 0; i < 3; ++i) {
      const varve::layer layer{"block", i};
      device->launch(s, "node");
    }
    executable = device->end_capture(s);
  }
  for (int n = 0; n < 2; ++n) {
    const varve::phase pass{varve::prefill};
    replay(s, executable, {"node", "node", "node"},
           {"decode / block 0", "decode / block 1", "decode / block 2"});
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(varve_test::lines_of(t), expected());
  std::size_t captured = 0;
  std::size_t replays = 0;
  for (std::size_t c = 0; c < t.calls.size(); ++c) {
    captured += t.calls.captured[c];
    replays += t.calls.kind[c] == varve::call_kind::graph_launch ? 1U : 0U;
  }
  EXPECT_EQ(captured, 3U);
  EXPECT_EQ(replays, 2U);
  const varve::report_quality q = varve::analyze(t).quality;
  EXPECT_EQ(q.unlabelled_nodes, 0);
  EXPECT_EQ(q.matched, 6);
}

TEST_P(collector_contract, what_there_is_no_memory_for_is_counted) {
  options.trace_memory = 64 << 10U;
  varve::session session{options};
  const int s = device->make_stream(0);
  constexpr std::size_t many = 3000;  // of 63 bytes a call and its work: three times the memory
  for (std::size_t i = 0; i < many; ++i) {
    device->launch(s, "k");
  }
  const varve::trace t = session.stop();
  const std::size_t kept = t.activities.size() + t.calls.size();
  EXPECT_LT(kept, 2 * many);
  EXPECT_GT(kept, 0U);
  // A call that has two ids may have lost the second one, too.
  EXPECT_GE(varve_test::lost(t, "trace memory full"), 2 * many - kept);
  EXPECT_LE(varve_test::lost(t, "trace memory full"), 3 * many - kept);
}

}  // namespace contract

#endif  // VARVE_TESTS_CONTRACT_COLLECTOR_CONTRACT_HPP

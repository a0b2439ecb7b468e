// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A tool injected into the decoder through NVTX sees exactly the ranges of its markers, which the decoder's
// own report counts too: balanced, with names and indices.
#include <varve/io.hpp>

#include "support/nvtx_tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using testing::IsEmpty;

/// Ranges, or calls, by path: "decode / layer[1] / qkv".
using counts = std::map<std::string, std::int64_t>;

std::string below(const std::string& path, const std::string& step) {
  return path.empty() ? step : path + " / " + step;
}

/// What the tool wrote: ranges by path. Each pop ends the newest range of its thread that is still open.
counts ranges_seen(const std::string& path) {
  counts seen;
  std::map<std::string, std::vector<std::string>> open;  // paths, by thread
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields{line};
    std::string what;
    std::string thread;
    std::string domain;
    std::string name;
    std::string payload;
    for (std::string* field : {&what, &thread, &domain, &name, &payload}) {
      std::getline(fields, *field, '\t');
    }
    EXPECT_EQ(domain, "varve") << line;
    std::vector<std::string>& stack = open[thread];
    if (what == "push") {
      stack.push_back(
          below(stack.empty() ? "" : stack.back(), payload.empty() ? name : name + '[' + payload + ']'));
      ++seen[stack.back()];
    } else if (what != "pop") {
      ADD_FAILURE() << "the decoder has scopes only: " << line;
    } else if (stack.empty()) {
      ADD_FAILURE() << "a pop without a push on thread " << thread;
    } else {
      stack.pop_back();
    }
  }
  for (const auto& [thread, stack] : open) {
    EXPECT_THAT(stack, IsEmpty()) << "pushed and never popped on thread " << thread;
  }
  return seen;
}

/// What the report counts: passes, and calls in them.
counts calls_reported(const varve::report& report) {
  counts calls;
  for (const varve::phase_row& phase : report.phases) {
    calls[phase.phase] += phase.passes;
  }
  std::vector<std::string> paths;  // of the rows; parents come first
  for (const varve::row& row : report.layers) {
    if (row.label.empty()) {  // what is in a pass and in no layer
      paths.emplace_back();
      continue;
    }
    const std::string step =
        row.index == varve::no_index ? row.label : row.label + '[' + std::to_string(row.index) + ']';
    paths.push_back(below(row.parent == varve::none ? row.phase : paths.at(row.parent), step));
    calls[paths.back()] += row.inclusive.calls;
  }
  return calls;
}

/// The ranges, and what the passes that replay a captured graph add to the calls: a captured range is a call
/// of each decode pass, one replay a pass, though the host enters it during the capture alone.
counts with_replays(const counts& ranges) {
  const std::string captured = "capture / ";
  counts calls = ranges;
  for (const auto& [path, count] : ranges) {
    if (path.rfind(captured, 0) == 0) {
      calls["decode / " + path.substr(captured.size())] += ranges.at("decode");
    }
  }
  return calls;
}

std::int64_t sum(const counts& of) {
  std::int64_t total = 0;
  for (const auto& [path, count] : of) {
    total += count;
  }
  return total;
}

class nvtx_example : public testing::Test {
 protected:
  ~nvtx_example() override {
    std::remove(events_.c_str());
    std::remove(json_.c_str());
  }

  /// Runs the decoder: two layers, one prefill pass, two decode passes.
  void run(const std::string& mode) {
    ::setenv("NVTX_INJECTION64_PATH", VARVE_NVTX_TOOL, 1);
    ::setenv(nvtx_tool_file_variable, events_.c_str(), 1);
    std::string command = "'" VARVE_DECODER "' --preset tiny --prompt 4 --tokens 3 --batch 2 ";
    command += mode + " --json '" + json_ + "' >/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    seen_ = ranges_seen(events_);
    const varve::report report = varve::read_report(json_);
    EXPECT_THAT(report.quality.losses, IsEmpty());
    EXPECT_EQ(report.quality.clipped_ranges, 0);
    reported_ = calls_reported(report);
  }

  counts seen_;
  counts reported_;

 private:
  const std::string stem_ = testing::TempDir() + "varve_nvtx_example_" + std::to_string(::getpid());
  const std::string events_ = stem_ + ".txt";
  const std::string json_ = stem_ + ".json";
};

// In each forward pass: embedding, 2 layers of 6 ops, head, sampling, outputs: 1 + 2 × (1 + 6) + 3 = 18.
// A prefill pass has inputs too: 19.
// Loading: embedding, 2 layers, head, inputs, and memory for 7 lists of ids and once for the rest: 13.
// Warming up: a prefill and a decode pass.

TEST_F(nvtx_example, sees_a_range_for_each_call_of_the_report) {
  ASSERT_NO_FATAL_FAILURE(run("--eager"));
  EXPECT_EQ(seen_, reported_);
  EXPECT_EQ(seen_["decode / layer[1] / qkv"], 2);
  // passes: load, 2 of warm_up, prefill, 2 of decode
  EXPECT_EQ(sum(seen_), (1 + 13) + (2 + 19 + 18) + (1 + 19) + 2 * (1 + 18));
}

TEST_F(nvtx_example, sees_the_capture_of_a_graph_and_not_its_replays) {
  ASSERT_NO_FATAL_FAILURE(run("--graph"));
  EXPECT_EQ(with_replays(seen_), reported_);
  EXPECT_EQ(seen_["capture / layer[1] / qkv"], 1);
  EXPECT_EQ(seen_.count("decode / layer[1] / qkv"), 0U);
  // as above, but a pass of capture without outputs, and decode passes with nothing but outputs
  EXPECT_EQ(sum(seen_), (1 + 13) + (2 + 19 + 18) + (1 + 19) + (1 + 17) + 2 * (1 + 1));
}

}  // namespace

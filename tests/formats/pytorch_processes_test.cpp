// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Files that hold several processes, each of which counted correlations and operators from 1.
#include "formats/input_files.hpp"

#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class pytorch_processes_test : public input_files {
 protected:
  /// On `pid`, which is JSON, thread 9: an operator [at, at + 20) with the External id 4, and in it a launch
  /// at + 5 with this correlation.
  void host(const std::string& pid, int at, int correlation) {
    add(R"("cat": "cpu_op", "name": "aten::mm", "pid": )" + pid + R"(, "tid": 9, "ts": )" +
        std::to_string(at) + R"(, "dur": 20, "args": {"External id": 4})");
    add(R"("cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": )" + pid + R"(, "tid": 9, "ts": )" +
        std::to_string(at + 5) + R"(, "dur": 2, "args": {"External id": 4, "correlation": )" +
        std::to_string(correlation) + "}");
  }
  /// A kernel [100, 110) on stream 7 of context 1 of `device`.
  void kernel(const std::string& pid, int device, int correlation) {
    add(R"("cat": "kernel", "name": "gemm", "ts": 100, "dur": 10, "tid": 7, "pid": )" + pid +
        R"(, "args": {"External id": 4, "context": 1, "stream": 7, "device": )" + std::to_string(device) +
        R"(, "correlation": )" + std::to_string(correlation) + "}");
  }
  varve::trace read(const std::string& header = "") {
    return varve::read_pytorch(write("t.json", "{" + header + R"("traceEvents": [)" + events_ + "]}"));
  }
  /// By activity: the begin of the call with its correlation in µs, or −1.
  static std::vector<varve::time_ns> launched_at(const varve::trace& t) {
    std::vector<varve::time_ns> out;
    for (const std::uint32_t id : t.activities.correlation) {
      out.push_back(-1);
      for (std::size_t c = 0; c < t.calls.size() && id != 0; ++c) {
        if (t.calls.correlation[c] == id) {
          EXPECT_EQ(out.back(), -1) << "two calls have " << id;
          out.back() = t.calls.begin[c] / 1000;
        }
      }
    }
    return out;
  }
  static std::map<std::string, std::uint64_t> losses(const varve::trace& t) {
    std::map<std::string, std::uint64_t> out;
    for (const varve::loss& l : t.losses) {
      out[l.what] += l.count;
    }
    return out;
  }

 private:
  void add(const std::string& event) {
    events_ += (events_.empty() ? "" : ",\n") + (R"({"ph": "X", )" + event + "}");
  }
  std::string events_;
};

TEST_F(pytorch_processes_test, tells_ranks_apart_whose_pids_threads_and_ids_are_equal) {
  host(R"("[TP00] 100")", 0, 1);
  kernel(R"("[TP00] 0")", 0, 1);
  host(R"("[TP01] 100")", 40, 1);
  kernel(R"("[TP01] 1")", 1, 1);
  kernel(R"("[TP01] 1")", 1, 2);  // launched before the recording: rank 0's call of that number is not its
  host(R"("[TP00] 100")", 80, 2);
  const varve::trace t = read(
      R"("deviceProperties": [{"id": 0, "name": "H100"}, {"id": 1, "name": "H100"}, {"id": 0, "name": "H100"},
                              {"id": 1, "name": "H100"}],
         "distributedInfo": {"rank": 0, "world_size": 2, "backend": "nccl"}, )");
  ASSERT_EQ(t.threads.size(), 2U);
  EXPECT_EQ(t.threads[0].id, 9U);
  EXPECT_EQ(t.threads[1].id, 9U);
  EXPECT_NE(t.threads[0].process, t.threads[1].process);
  EXPECT_EQ(t.threads[0].name, "[TP00] 100");
  EXPECT_EQ(t.threads[1].name, "[TP01] 100");
  EXPECT_THAT(launched_at(t), ElementsAre(5, 45, -1));
  // Operators are in order of thread and time: rank 0's at 0 and 80, then rank 1's. Of one number the first
  // counts.
  EXPECT_THAT(t.operator_of_call, ElementsAre(0, 2, 0));
  EXPECT_THAT(t.operator_of_activity, ElementsAre(0, 2, 2));
  EXPECT_EQ(t.rank, -1);  // the header is that of one of them
  EXPECT_EQ(t.world_size, 2);
  EXPECT_EQ(t.devices.size(), 2U);
  EXPECT_THAT(losses(t), IsEmpty());
}

TEST_F(pytorch_processes_test, keeps_streams_of_ranks_apart_on_one_device_number) {
  // Each rank sees its own GPU as device 0: kernels at the same time on one stream would cut one another.
  host(R"("[TP00] 100")", 0, 1);
  kernel(R"("[TP00] 0")", 0, 1);
  host(R"("[TP01] 100")", 40, 1);
  kernel(R"("[TP01] 0")", 0, 1);
  const varve::trace t = read();
  EXPECT_EQ(t.streams.size(), 2U);
  EXPECT_THAT(launched_at(t), ElementsAre(5, 45));
}

TEST_F(pytorch_processes_test, finds_the_process_of_a_device_by_ids_that_only_one_has) {
  host("100", 0, 1);
  host("100", 20, 2);
  host("200", 40, 1);
  host("200", 60, 3);
  kernel("0", 0, 2);  // 100 alone has 2: device 0 is its
  kernel("0", 0, 1);  // so is this
  kernel("1", 1, 3);
  kernel("1", 1, 1);
  kernel("2", 2, 1);  // nothing tells whose
  const varve::trace t = read();
  EXPECT_THAT(launched_at(t), ElementsAre(25, 5, 65, 45, -1));
  EXPECT_THAT(losses(t),
              ElementsAre(Pair(
                  "activities whose correlation id calls of several processes have: joined to none", 1U)));
}

TEST_F(pytorch_processes_test, leaves_ids_that_are_unique_to_their_processes) {
  host("100", 0, 1);
  host("200", 40, 2);
  kernel("0", 0, 2);
  kernel("0", 0, 1);
  const varve::trace t = read();
  EXPECT_THAT(launched_at(t), ElementsAre(45, 5));
  EXPECT_THAT(losses(t), IsEmpty());
}

}  // namespace

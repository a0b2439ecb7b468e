// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Each scenario under a session: every kernel, copy and set is attributed to the layer that launched it.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "gpu/session_test.hpp"

namespace varve_gpu {

void PrintTo(const scenario& s, std::ostream* out) { *out << s.name; }

namespace {

class gpu_scenario : public testing::TestWithParam<scenario> {
 protected:
  void SetUp() override {
    if (const std::string reason = why_not(GetParam()); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }
};

TEST_P(gpu_scenario, runs_each_kernel_in_its_layer) {
  marking_stage s;
  s.prepare();
  varve::session session;
  ASSERT_TRUE(collects(session));
  GetParam().play(s);
  expect_all_attributed(varve::analyze(session.stop()), s.expected());
}

INSTANTIATE_TEST_SUITE_P(each, gpu_scenario, testing::ValuesIn(scenarios()),
                         [](const auto& one) { return one.param.name; });

class gpu_session : public on_gpu {};

TEST_F(gpu_session, labels_graphs_that_were_captured_while_armed) {
  marking_stage s;
  s.prepare();
  const stream on = make_stream();
  ASSERT_TRUE(varve::arm());
  const graph g = capture_layers(s, {0, 1, 1}, on.get());
  const executable e = instantiate(g);
  varve::session session;
  ASSERT_TRUE(collects(session));
  replay(s, e, count({0, 1, 1}), on.get());
  check(cudaStreamSynchronize(on.get()));
  const varve::report r = varve::analyze(session.stop());
  varve::disarm();
  expect_all_attributed(r, s.expected());
}

TEST_F(gpu_session, counts_graphs_that_are_older_than_it) {
  marking_stage s;
  s.prepare();
  const stream on = make_stream();
  const graph g = capture_layers(s, {0, 1, 1}, on.get());
  const executable e = instantiate(g);
  varve::session session;
  ASSERT_TRUE(collects(session));
  replay(s, e, count({0, 1, 1}), on.get());
  check(cudaStreamSynchronize(on.get()));
  const varve::report r = varve::analyze(session.stop());
  SCOPED_TRACE(varve::to_table(r));
  EXPECT_EQ(kernels_by_layer(r), counts{});
  EXPECT_EQ(r.quality.unlabelled_nodes, 3);
  ASSERT_EQ(r.phases.size(), 1U);
  EXPECT_EQ(r.phases[0].total.kernels, 3);
}

TEST_F(gpu_session, may_follow_another) {
  marking_stage s;
  s.prepare();
  const stream on = make_stream();
  for (int round = 1; round <= 3; ++round) {
    varve::session session;
    ASSERT_TRUE(collects(session));
    {
      const in_pass p{s};
      run_layers(s, {0, 1, 1}, on.get());
    }
    check(cudaStreamSynchronize(on.get()));
    expect_all_attributed(varve::analyze(session.stop()), count({0, 1, 1}));
  }
}

TEST_F(gpu_session, that_stops_beside_a_capture_leaves_it_whole_and_has_the_last_kernels) {
  marking_stage s;
  s.prepare();
  const stream on = make_stream();
  const stream captures = make_stream();
  for (const auto mode :
       {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
    for (const bool before : {true, false}) {
      SCOPED_TRACE(before ? "begun before the session" : "begun in the session");
      if (before) {
        check(cudaStreamBeginCapture(captures.get(), mode));
      }
      varve::session session;
      EXPECT_TRUE(collects(session));
      if (!before) {
        check(cudaStreamBeginCapture(captures.get(), mode));
      }
      {
        const in_pass p{s};
        run_layers(s, {0, 1, 1}, on.get(), 20000);  // runs on at the stop
      }
      // By its calls a capture is known that began before.
      launch_layer(0, s.some_work(0), captures.get());
      check(cudaGetLastError());
      const varve::trace t = session.stop();
      cudaGraph_t captured = nullptr;
      check(cudaStreamEndCapture(captures.get(), &captured));  // 901 where it was made invalid
      const graph whole{captured};
      expect_all_attributed(varve::analyze(t), count({0, 1, 1}));
    }
  }
}

// Not on_gpu: its look for a device would initialise the runtime before the session starts.
TEST(gpu_session_first, starts_before_cuda_does) {
  varve::session session;
  if (const std::string reason = why_no_device(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  ASSERT_TRUE(collects(session));
  marking_stage s;
  s.prepare();
  {
    const in_pass p{s};
    run_layers(s, {0, 1, 1}, nullptr);
  }
  check(cudaDeviceSynchronize());
  expect_all_attributed(varve::analyze(session.stop()), count({0, 1, 1}));
}

/// In a child whose parent has a session and has not used CUDA: 0 where its own session records.
int record_in_child() {
  if (!why_no_device().empty()) {
    return 2;
  }
  marking_stage s;
  s.prepare();
  varve::session own;
  if (!collects(own)) {
    return 3;
  }
  {
    const in_pass p{s};
    run_layers(s, {0, 1, 1}, nullptr);
  }
  check(cudaDeviceSynchronize());
  expect_all_attributed(varve::analyze(own.stop()), count({0, 1, 1}));
  return testing::Test::HasFailure() ? 1 : 0;
}

TEST(gpu_session_first, leaves_the_gpu_to_a_child_that_is_forked_before_cuda_starts) {
  const varve::session session;
  const pid_t child = fork();
  if (child == 0) {
    std::_Exit(record_in_child());
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) {
    GTEST_SKIP() << "no CUDA device here";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Neither CUPTI nor the driver is asked whether CUDA is in use: its open device file tells.
TEST_F(gpu_session, keeps_the_gpu_from_a_child_of_a_process_that_uses_cuda_unrecorded) {
  varve::session_options hosts;
  hosts.gpu.enabled = false;
  const varve::session session{hosts};
  check(cudaFree(nullptr));  // has a context
  const pid_t child = fork();
  if (child == 0) {
    const varve::session own;
    bool told = false;
    for (const varve::collector_status& c : own.status().collectors) {
      told = told || c.detail.find("the GPU stays with its parent") != std::string::npos;
    }
    std::_Exit(told ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace varve_gpu

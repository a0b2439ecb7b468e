// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What is counted in ranges, against kernels whose bytes are known.
#include <algorithm>

#include "gpu/counting.hpp"

namespace varve_gpu {
namespace {

/// Copies 40 times what the L2 holds. Of what a kernel writes, up to the L2's size goes to memory after it
/// has ended, and what the one before has left comes on top: 1/40 either way. The tolerance is twice that.
class gpu_counters : public on_gpu {
 protected:
  static constexpr double tolerance = 0.05;

  void SetUp() override {
    on_gpu::SetUp();
    if (IsSkipped()) {
      return;
    }
    on_ = make_stream();
    int l2 = 0;
    check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
    n_ = 40 * std::max<std::size_t>(static_cast<std::size_t>(l2), std::size_t{4} << 20U) / 16;
    from_ = allocate(16 * n_);
    to_ = allocate(16 * n_);
    check(cudaMemset(from_.get(), 1, 16 * n_));
    copy();
    check(cudaStreamSynchronize(on_.get()));
  }
  void copy() {
    launch_copy(n_, from_.get(), to_.get(), on_.get());
    check(cudaGetLastError());
  }
  /// Two layers, of one copy and of two.
  void pass() {
    const varve::phase decode{varve::decode};
    for (int layer = 0; layer < 2; ++layer) {
      const varve::layer l{"layer", layer};
      for (int i = 0; i <= layer; ++i) {
        copy();
      }
    }
  }
  [[nodiscard]] double bytes() const { return 16 * static_cast<double>(n_); }
  void expect_copies(const varve::row* row, int copies) const {
    ASSERT_NE(row, nullptr);
    ASSERT_TRUE(row->counted);
    EXPECT_NEAR(row->counted->dram_read, copies * bytes(), tolerance * copies * bytes());
    EXPECT_NEAR(row->counted->dram_written, copies * bytes(), tolerance * copies * bytes());
  }

  stream on_;

 private:
  std::size_t n_ = 0;  // 16 bytes each
  device_memory from_;
  device_memory to_;
};

TEST_F(gpu_counters, have_the_bytes_of_copies) {
  varve::session session{counting(false)};
  pass();
  if (const std::string detail = detail_of(session); may_not_count(detail)) {
    GTEST_SKIP() << detail;
  }
  pass();
  const varve::trace t = session.stop();
  expect_nothing_lost(t);
  const varve::report r = varve::analyze(t);
  for (int layer = 0; layer < 2; ++layer) {
    const varve::row* const row = r.find({"layer", layer, VARVE_DECODE});
    expect_copies(row, layer + 1);
    EXPECT_EQ(row->counted->calls, 2);
  }
}

// Each pass configures the profiler for other metrics than the one before.
TEST_F(gpu_counters, take_turns_at_sets_of_metrics) {
  varve::session session{counting(true)};
  pass();
  if (const std::string detail = detail_of(session); may_not_count(detail)) {
    GTEST_SKIP() << detail;
  }
  for (int i = 1; i < counted_passes; ++i) {
    pass();
  }
  const varve::trace t = session.stop();
  expect_nothing_lost(t);
  const varve::report r = varve::analyze(t);
  const varve::row* const row = r.find({"layer", 1, VARVE_DECODE});
  expect_copies(row, 2);
  EXPECT_EQ(row->counted->tensor_ops, 0);
  EXPECT_EQ(row->counted->core_flops, 0);
}

TEST_F(gpu_counters, break_no_capture_and_count_its_replays) {
  varve::session session{counting(false)};
  pass();
  if (const std::string detail = detail_of(session); may_not_count(detail)) {
    GTEST_SKIP() << detail;
  }
  cudaGraph_t captured = nullptr;
  {
    const varve::phase first{varve::decode};
    check(cudaStreamBeginCapture(on_.get(), cudaStreamCaptureModeGlobal));
    for (int layer = 0; layer < 2; ++layer) {
      const varve::layer l{"layer", layer};
      copy();
    }
    check(cudaStreamEndCapture(on_.get(), &captured));
  }
  const graph g{captured};
  const stream other = make_stream();
  check(cudaStreamBeginCapture(other.get(), cudaStreamCaptureModeGlobal));
  pass();  // beside a capture
  check(cudaStreamEndCapture(other.get(), &captured));
  const graph empty{captured};
  const executable e = instantiate(g);
  {
    const varve::phase replay{varve::decode};
    const varve::layer whole{"replay", 0};
    check(cudaGraphLaunch(e.get(), on_.get()));
  }
  const varve::trace t = session.stop();
  const varve::report r = varve::analyze(t);
  expect_copies(r.find({"replay", 0, VARVE_DECODE}), 2);
  EXPECT_TRUE(std::any_of(t.losses.begin(), t.losses.end(), [](const varve::loss& l) {
    return l.where == "counters" && l.what.find("a graph was captured") != std::string::npos && l.count == 2;
  })) << "the pass that captured and the one beside were not left out";
}

}  // namespace
}  // namespace varve_gpu

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What collecting costs: printed, not judged. That nothing is lost meanwhile is.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "gpu/session_test.hpp"

namespace varve_gpu {
namespace {

class gpu_overhead : public on_gpu {};

constexpr int passes = 500;
constexpr int layers_of_pass = 40;

template <class Body>
double seconds(Body&& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  check(cudaDeviceSynchronize());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// `body` runs passes; each launches `launches` times and runs 40 kernels.
template <class Body>
void compare(const char* what, int launches, Body&& body) {
  body();  // warm
  double bare = seconds(body);
  varve::session session;
  ASSERT_TRUE(collects(session));
  body();  // warm, and recorded
  const double recorded = seconds(body);
  const varve::report r = varve::analyze(session.stop());
  const double after = seconds(body);
  bare = std::min(bare, after);
  const double per_launch = 1e9 / (static_cast<double>(passes) * launches);
  std::printf("%s: %.0f ns a launch bare, %.0f ns recorded, ratio %.3f (%.0f ns after the session)\n", what,
              bare * per_launch, recorded * per_launch, recorded / bare, after * per_launch);

  std::int64_t kernels = 0;
  for (const varve::phase_row& p : r.phases) {
    kernels += p.total.kernels;
  }
  EXPECT_EQ(kernels, 2 * passes * layers_of_pass);
  EXPECT_DOUBLE_EQ(r.quality.attributed, 1.0);
  EXPECT_EQ(r.quality.unmatched, 0);
}

TEST_F(gpu_overhead, of_eager_launches) {
  marking_stage s;
  s.prepare();
  const stream on = make_stream();
  compare("eager", layers_of_pass, [&] {
    for (int i = 0; i < passes; ++i) {
      const varve::phase pass{varve::decode};
      for (int l = 0; l < layers_of_pass; ++l) {
        const varve::layer in{"layer", l};
        launch_layer(l % layers, s.some_work(0), on.get());
      }
    }
    check(cudaGetLastError());
  });
}

TEST_F(gpu_overhead, of_graph_launches) {
  marking_stage s;
  s.prepare();
  const stream on = make_stream();
  ASSERT_TRUE(varve::arm());
  const graph g = capture_layers(s, std::vector<int>(layers_of_pass, 1), on.get(), 0);
  const executable e = instantiate(g);
  compare("graph of 40 kernels", 1, [&] {
    for (int i = 0; i < passes; ++i) {
      const varve::phase pass{varve::decode};
      check(cudaGraphLaunch(e.get(), on.get()));
    }
  });
  varve::disarm();
}

}  // namespace
}  // namespace varve_gpu

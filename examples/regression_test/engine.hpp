// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The engine under test, as small as can be: two layers a block, one to three kernels a layer. It runs
// without a GPU: its device is the calling thread, which reports what it ran. An engine on a GPU launches
// kernels instead, and keeps the markers.
#ifndef EXAMPLES_REGRESSION_TEST_ENGINE_HPP
#define EXAMPLES_REGRESSION_TEST_ENGINE_HPP

#include <varve/collector.hpp>
#include <varve/varve.hpp>

#include <cstdint>
#include <vector>

class engine {
 public:
  explicit engine(int blocks, bool fused) : blocks_{blocks}, fused_{fused} {}

  void decode_step() {
    varve::phase pass{varve::decode};
    pass.decode_tokens(1).sequences(1);
    for (int i = 0; i < blocks_; ++i) {
      {
        const varve::layer attention{"attention", i};
        launch("attention_kernel");
      }
      const varve::layer mlp{"mlp", i};
      if (fused_) {
        launch("mlp_fused");
      } else {
        launch("mlp_up");
        launch("mlp_activation");
        launch("mlp_down");
      }
    }
  }

 private:
  void launch(const char* kernel) {
    static varve::host_device device{{0, "calling thread"}, true};
    const varve::host_call call{device, varve::call_kind::launch};
    const std::uint64_t begin = varve::clock_ticks();
    for (float& x : activations_) {
      x = 0.5F * x + 1.0F;
    }
    device.report({0, call.correlation(), kernel, begin, varve::clock_ticks()});
  }

  int blocks_;
  bool fused_;
  std::vector<float> activations_ = std::vector<float>(1 << 14, 1.0F);
};

#endif  // EXAMPLES_REGRESSION_TEST_ENGINE_HPP

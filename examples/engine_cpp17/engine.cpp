// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The least that an engine needs, in C++17. An engine on a GPU launches kernels where this one calls
// launch(): varve sees those by itself, so that the markers are all it writes.
#include <varve/collector.hpp>
#include <varve/varve.hpp>

#include <iostream>
#include <vector>

namespace {

std::vector<float> activations(1 << 16, 1.0F);

// A device without CUPTI reports what it runs: here the calling thread itself, one kernel after another.
void launch(const char* kernel, int repeats) {
  static varve::host_device device{{0, "calling thread"}, true};
  const varve::host_call call{device, varve::call_kind::launch};
  const std::uint64_t begin = varve::clock_ticks();
  for (int i = 0; i < repeats; ++i) {
    for (float& x : activations) {
      x = 0.5F * x + 1.0F;
    }
  }
  device.report({0, call.correlation(), kernel, begin, varve::clock_ticks()});
}

void forward(int repeats) {
  for (int i = 0; i < 4; ++i) {
    {
      varve::layer attention{"attention", i};
      launch("attention_kernel", repeats);
    }
    varve::layer mlp{"mlp", i};
    launch("mlp_kernel", 2 * repeats);
  }
}

}  // namespace

int main() {
  varve::session session;
  {
    varve::phase pass{varve::prefill};
    pass.prefill_tokens(64).sequences(1);
    forward(8);
  }
  for (int step = 0; step < 10; ++step) {
    varve::phase pass{varve::decode};
    pass.decode_tokens(1).sequences(1);
    forward(1);
  }
  const varve::report report = varve::analyze(session.stop());
  std::cout << report;

  varve::row_query query;
  query.label = "mlp";
  query.index = 3;
  query.phase = varve::decode;
  if (const varve::row* row = report.find(query)) {
    std::cout << "\nmlp 3 took " << row->per_call.p50 << " ns of each decode pass (median)\n";
  }
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// An engine in C++17 on a device of its own: one prefill and three decode passes of two layers, each layer
// one kernel. Leaves its report in the file argv[1].
#include <varve/collector.hpp>
#include <varve/varve.hpp>

#include <fstream>
#include <iostream>

static_assert(__cplusplus == 201703L, "to be compiled as C++17");

namespace {

void run_kernel(varve::host_device& device, const char* name) {
  std::uint32_t correlation = 0;
  {
    const varve::host_call call{device, varve::call_kind::launch};
    correlation = call.correlation();
  }
  const std::uint64_t begin = varve::clock_ticks();
  device.report({0, correlation, name, begin, varve::clock_ticks() + 1});
}

void run_pass(varve::host_device& device, varve::phase_kind kind, int tokens) {
  varve::phase pass{kind};
  kind.is_prefill() ? pass.prefill_tokens(tokens) : pass.decode_tokens(tokens);
  pass.sequences(1);
  for (int i = 0; i < 2; ++i) {
    varve::sequence step{"attention", i};
    step.work([&] { return varve::gemm(tokens, 64, 64, varve::dtype::f16); });
    run_kernel(device, "flash_attention");
    step.next("mlp", i);
    run_kernel(device, "gemm");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  varve::host_device device{{0, "test device", 0, 0, 0}};
  varve::session session;
  if (!session) {
    std::cerr << session.status().error << '\n';
    return 1;
  }
  run_pass(device, varve::prefill, 512);
  for (int i = 0; i < 3; ++i) {
    run_pass(device, varve::decode, 16);
  }
  const varve::report report = varve::analyze(session.stop());

  const varve::row* attention = report.find({"attention", 1, "decode"});
  if (attention == nullptr || attention->inclusive.calls != 3 || attention->inclusive.kernels != 3 ||
      attention->inclusive.launches != 3 || attention->inclusive.calls_with_work != 3) {
    std::cerr << "decode / attention 1 is not what ran: 3 calls, kernels, launches, each with work\n";
    return 1;
  }
  std::ofstream{argv[1]} << report;
  return 0;
}

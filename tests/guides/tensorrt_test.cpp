// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Passes for docs/guides/tensorrt.md.
#include <iostream>

#include "device.hpp"
#include "tensorrt_guide.hpp"

bool nvinfer1::IExecutionContext::enqueueV3(cudaStream_t /*stream*/) noexcept {
  launch("sm90_xmma_gemm");
  return true;
}

int main() {
  varve::session session;
  nvinfer1::IExecutionContext context;
  bool ran = run_pass(context, nullptr, false, 16, 1);
  ran = run_pass(context, nullptr, true, 4, 4) && ran;
  ran = run_pass(context, nullptr, true, 4, 4) && ran;
  const varve::report report = varve::analyze(session.stop());
  std::cout << report;
  const bool right = report.phases.size() == 2 && report.phases[1].phase == "decode" &&
                     report.phases[1].passes == 2 && report.phases[1].tokens() == 8;
  return ran && right ? 0 : 1;
}

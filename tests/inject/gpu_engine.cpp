// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// An engine that knows nothing of varve, marks its work for NVTX tools, and has a simulated GPU:
// gpu_engine CASE. gpu_run_test.cpp says what it expects of each.
#include "inject/injected_engine.hpp"
#include "standin_cupti/control.hpp"

#include <nvtx3/nvToolsExt.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void run_for(standin::stream s, const char* kernel, std::uint64_t nanoseconds) {
  standin::work w;
  w.duration = nanoseconds;
  standin::launch(s, kernel, {}, w);
}

/// A copy of 4096 bytes, and two layers of two kernels each.
void prefill(standin::stream s) {
  const range pass{"prefill"};
  standin::work copy;
  copy.duration = 500;
  standin::copy(s, standin::cupti::copy_direction::host_to_device, 4096, copy);
  for (int i = 0; i < 2; ++i) {
    const range layer{"layer_" + std::to_string(i)};
    run_for(s, "gemm", 3000);
    run_for(s, "norm", 1000);
  }
}

/// A graph of two layers with a kernel each.
standin::executable capture(standin::stream s) {
  const range around{"capture"};
  standin::begin_capture(s);
  for (int i = 0; i < 2; ++i) {
    const range layer{"layer_" + std::to_string(i)};
    standin::launch(s, "fused");
  }
  return standin::instantiate(standin::end_capture(s));
}

void decode(standin::stream s, standin::executable graph) {
  const range pass{"decode"};
  standin::work w;
  w.duration = 2000;
  standin::launch(s, graph, w);
  standin::synchronize(s);
}

/// 0 where the simulated GPU saw no misuse.
int tell_misuses() {
  for (const std::string& misuse : standin::misuses()) {
    std::fprintf(stderr, "misuse: %s\n", misuse.c_str());
  }
  return standin::misuses().empty() ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "early fork") {  // as servers do that start a worker for each GPU
    nvtxRangePushA("setup");
    nvtxRangePop();
    if (const pid_t worker = ::fork(); worker != 0) {
      int status = 0;
      ::waitpid(worker, &status, 0);
      return status != 0 ? 4 : tell_misuses();
    }
  }
  initialise_cuda();
  const standin::stream s = standin::create_stream();
  prefill(s);
  const standin::executable graph = capture(s);
  for (int pass = 0; pass < 3; ++pass) {
    decode(s, graph);
  }
  if (what == "segv") {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  } else if (what == "_exit") {
    ::_exit(tell_misuses());
  } else if (what == "fork") {
    const pid_t child = ::fork();
    if (child == 0) {
      const range layer{"child"};
      std::exit(tell_misuses());  // with the range open
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    decode(s, graph);
    return status != 0 ? 4 : tell_misuses();
  }
  return tell_misuses();
}

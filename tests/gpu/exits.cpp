// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// gpu_exits exit|_exit|abort [session]   launches kernels in layer 0 of a pass and ends in that way, while
// they
//                                        run unless it aborts. With a session, which starts before CUDA is
//                                        initialised: exits with 0 where it has all kernels and their ends,
//                                        with 1 else. With 3 where there is no device.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <varve/varve.hpp>
#include <vector>

#include "gpu/marking_stage.hpp"

namespace {

constexpr std::size_t kernels = 20;
varve::session* recorded = nullptr;

/// Registered first, it runs last: CUDA and CUPTI have ended.
void check_records() {
  const varve::trace t = recorded->stop();
  std::size_t whole = 0;
  for (std::size_t i = 0; i < t.activities.size(); ++i) {
    whole +=
        t.activities.kind[i] == varve::activity_kind::kernel && t.activities.end[i] > t.activities.begin[i];
  }
  std::_Exit(whole == kernels ? 0 : 1);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string way = count > 1 ? arguments[1] : "";
  if (count > 2) {
    std::atexit(check_records);
    recorded = new varve::session;
  }
  if (!varve_gpu::why_no_device().empty()) {
    std::_Exit(3);
  }
  varve_gpu::marking_stage s;
  s.prepare();
  const varve_gpu::stream on = varve_gpu::make_stream();
  {
    const varve_gpu::in_pass pass{s};
    varve_gpu::run_layers(s, std::vector<int>(kernels, 0), on.get(), 2000);
  }
  if (way == "exit") {
    std::exit(0);
  }
  if (way == "abort") {
    varve_gpu::check(cudaStreamSynchronize(on.get()));
    std::abort();
  }
  ::_exit(0);
}

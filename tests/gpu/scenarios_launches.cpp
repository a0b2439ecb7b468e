// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Every way to launch a kernel: three times, outside a graph.
#include "gpu/scenarios.hpp"

namespace varve_gpu {
namespace {

template <way How>
void launches(stage& s) {
  const stream on = make_stream();
  const in_pass p{s};
  for (const int layer : {0, 1, 1}) {
    const in_layer l{s, layer};
    launch(How, layer, s.some_work(), on.get());
  }
  s.expect(count({0, 1, 1}));
  check(cudaStreamSynchronize(on.get()));
}

}  // namespace

std::vector<scenario> launch_scenarios() {
  return {{"launch_chevrons", launches<way::chevrons>},
          {"launch_symbol", launches<way::symbol>},
          {"launch_extended", launches<way::extended>},
          {"launch_dependent", launches<way::dependent>, 90},
          {"launch_cooperative", launches<way::cooperative>},
          {"launch_cluster", launches<way::cluster>, 90},
          {"launch_driver", launches<way::driver>},
          {"launch_driver_extended", launches<way::driver_extended>, 0, 12000}};
}

}  // namespace varve_gpu

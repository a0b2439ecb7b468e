// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// An engine with markers of varve and NVTX ranges of its own.
#include <varve/marker.hpp>

#include <nvtx3/nvToolsExt.h>

int main() {
  for (int i = 0; i < 3; ++i) {
    const varve::phase pass{varve::decode};
    const varve::layer layer{"layer", 4};
    nvtxRangePushA("inside");
    nvtxRangePop();
  }
}

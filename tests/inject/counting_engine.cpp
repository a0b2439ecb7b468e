// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// An engine that marks its work for NVTX tools, on a simulated GPU that counts: counting_engine CASE.
// counting_run_test.cpp says what it expects of each.
#include "cuda/fake_driver.hpp"
#include "inject/injected_engine.hpp"
#include "standin_cupti/control.hpp"
#include "standin_cupti/counters.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

/// Of a thousand nanoseconds, which reads and writes memory and multiplies on tensor cores.
void work(standin::stream s, double bytes) {
  standin::work w;
  w.duration = 1000;
  standin::launch(s, "gemm", {}, w);
  standin::do_work("dram__bytes_read", bytes);
  standin::do_work("dram__bytes_write", 10);
  standin::do_work("sm__ops_path_tensor_src_bf16_dst_fp32", 640);
}

/// Two layers.
void pass(standin::stream s, const std::string& kind) {
  const range around{kind};
  for (int i = 0; i < 2; ++i) {
    const range layer{"layer_" + std::to_string(i)};
    const range part{"mlp"};
    work(s, 1000 * (i + 1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  static int context = 0;
  if (what == "no driver") {
    standin::change([](standin::config& c) { c.driver = false; });
  } else if (what == "no permission") {
    standin::fail({"cuptiRangeProfilerStart", standin::cupti::result::insufficient_privileges});
  } else if (what == "other chip") {
    standin::set_chip("XX999");
  }
  initialise_cuda();
  if (what != "no context") {
    fake_driver::set_current(&context);
  }
  const standin::stream s = what == "no driver" ? standin::stream{} : standin::create_stream();
  if (what == "no markers") {
    work(s, 1);
  } else if (what == "no passes") {
    pass(s, "outer");
  } else {
    const int passes = what == "one pass" ? 1 : 4;  // as many as there are sets of metrics
    for (int i = 0; i < passes; ++i) {
      pass(s, "decode");
    }
  }
  for (const std::string& misuse : standin::misuses()) {
    std::fprintf(stderr, "misuse: %s\n", misuse.c_str());
  }
  return standin::misuses().empty() ? what == "code 7" ? 7 : 0 : 3;
}

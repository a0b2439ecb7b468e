// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Compiled as mixed_on and, with VARVE_DISABLE, as mixed_off; never inlined, so that a function that both
// define differently under one name would show: the linker keeps one of them.
#include "mixed.hpp"

#include <varve/varve.hpp>

int MIXED() {
  int evaluated = 0;
  const auto work = [&] {
    ++evaluated;
    return varve::work{};
  };
  varve::request request{"request", 0};
  {
    varve::phase pass{varve::mixed};
    pass.prefill_tokens(8).sequences(1).decode_tokens(4).sequences(4).model("target").serves(request);
    pass.batch({{1, 10}, {1, 20}});
    pass.ref().emitted_tokens(5);
    pass.work(work);
    {
      varve::layer layer{"layer", 0};
      layer.work(work);
      const varve::op op{varve::label{"op", 0}};
    }
    varve::sequence step{"attention", 0};
    step.next("mlp", 0);
    step.end();
    varve::handle handle = varve::begin_layer("handle", 0);
    handle.work(work);
    handle.end();
    const varve::handoff here = varve::here();
    const varve::adopt adopted{here};
    const varve_range c = varve_layer_begin("c", 0);
    varve_set(c, VARVE_LOGIT_TOKENS, 1);
    varve_declare(c, varve_work_t{1, 1, 1, 1, VARVE_MATH_FP32});
    varve_end(c);
  }
  request.end();
  return evaluated;
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The same code with VARVE_DISABLE, beside translation units without it.
#define VARVE_DISABLE
#include <varve/collector.hpp>
#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <gtest/gtest.h>

namespace {

TEST(disabled, markers_compile_and_record_nothing) {
  varve::session session;
  int evaluated = 0;
  {
    varve::phase pass{varve::decode};
    pass.decode_tokens(16).sequences(16).batch({{1, 2}}).model("target").stream(nullptr);
    varve::layer layer{"attention", 3};
    layer.work([&] {
      ++evaluated;
      return varve::work{};
    });
    varve::sequence step{"attention", 1};
    step.next("mlp", 1);
    varve::handle h = varve::begin_layer("x", 1);
    h.ref().emitted_tokens(1);
    h.end();
    const varve::adopt adopted{varve::here()};
    varve::request request{"chat", 1};
    pass.serves(request);
    const varve::op op{varve::label{"made", 1}};
    varve_range range = varve_layer_begin("c", 1);
    varve_stream(range, nullptr);
    varve_end(varve_next(range, "c", 2));
    varve_handoff_t where;
    varve_here(&where);
    varve_end(varve_adopt(&where));
    varve_request_end(varve_request_begin("chat", 1));
  }
  EXPECT_EQ(evaluated, 0);
  EXPECT_TRUE(session.stop().ranges.empty());
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces that are taken from sessions over the stand-in libcupti while these go on.
#include "cuda/standin_session.hpp"
#include "record/cut.hpp"
#include "record/recording.hpp"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace {

using testing::IsEmpty;
using testing::SizeIs;
using varve_test::on_standin;

class taken_traces : public varve_test::over_standin {
 protected:
  taken_traces() {
    standin::config c = varve_test::standin_config();
    c.duration = 10;  // so that the device is done before the host goes on
    standin::reset(c);
    stream = standin::create_stream();
    varve::record::settle_after(-1);  // graphs have no more records than those that are there
  }
  ~taken_traces() override { varve::record::settle_after(varve::record::cut_options{}.settling); }

  standin::stream stream;
};

// Five times three replays, each of two kernels; from the third time on they are of a newer capture. A trace
// has what was over on the device too.
TEST_F(taken_traces, keep_layers_and_work_of_graphs) {
  varve::session session{on_standin()};
  const auto captured = [&](std::int64_t flops) {
    const varve::phase pass{varve::capture};
    standin::begin_capture(stream);
    {
      varve::layer layer{"attention", 0};
      layer.work([&] { return varve::work{flops, 0, 0, 0}; });
      standin::launch(stream, "gemm");
      standin::launch(stream, "softmax");
    }
    return standin::end_capture(stream);
  };
  const standin::executable e = standin::instantiate(captured(100));
  std::vector<std::int64_t> calls;
  std::int64_t kernels = 0;
  std::int64_t flops = 0;
  const auto add = [&](const varve::trace& t) {
    EXPECT_THAT(t.losses, IsEmpty());
    const varve::report report = varve::analyze(t);
    EXPECT_EQ(report.quality.unmatched, 0);
    EXPECT_EQ(report.quality.unlabelled_nodes, 0);
    EXPECT_EQ(report.quality.stale_nodes, 0);
    const varve::row* const row = report.find({"attention", 0, VARVE_DECODE});
    calls.push_back(row != nullptr ? row->inclusive.calls : 0);
    kernels += row != nullptr ? row->inclusive.kernels : 0;
    flops += row != nullptr ? row->inclusive.declared.flops : 0;
    for (const std::uint32_t name : t.activities.name) {
      EXPECT_THAT(std::string{t.strings[name]}, testing::AnyOf("gemm", "softmax"));
    }
  };
  for (int window = 0; window < 5; ++window) {
    if (window == 2) {
      ASSERT_EQ(standin::update(e, captured(7)), 0);
    }
    for (int i = 0; i < 3; ++i) {
      const varve::phase pass{varve::decode};
      standin::launch(stream, e);
    }
    standin::launch(stream, "gemm");  // later: the graphs have settled
    standin::deliver();
    add(session.take());
  }
  add(session.stop());
  EXPECT_THAT(calls, SizeIs(6));
  EXPECT_LT(calls.back(), 15);
  EXPECT_EQ(std::accumulate(calls.begin(), calls.end(), std::int64_t{0}), 15);
  EXPECT_EQ(kernels, 15 * 2);
  EXPECT_EQ(flops, 6 * 100 + 9 * 7);
}

// A launch whose record is held back holds back its pass, and those after it.
TEST_F(taken_traces, wait_for_records_that_have_not_come) {
  standin::config c = varve_test::standin_config();
  c.deliver = standin::delivery::flush_only;
  standin::reset(c);
  stream = standin::create_stream();
  varve::session session{on_standin()};
  {
    const varve::phase pass{varve::decode};
    standin::work running;
    running.running = true;
    standin::launch(stream, "gemm", {}, running);
  }
  EXPECT_THAT(session.take().ranges, IsEmpty());
  standin::finish_running();
  const varve::trace t = session.take();
  EXPECT_EQ(t.ranges.size(), 1U);
  EXPECT_EQ(t.activities.size(), 1U);
  EXPECT_THAT(t.losses, IsEmpty());
}

}  // namespace

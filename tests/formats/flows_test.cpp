// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Flows, where a trace has no call or no sequence number that would tell the same. The passes and layers are
// on thread 51.
#include "formats/event_text.hpp"
#include "formats/input_files.hpp"

#include <varve/io.hpp>
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace {

using namespace event_text;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

std::string start(int id, int thread, int at, const std::string& cat = "ac2g") {
  return R"({"ph": "s", "id": )" + std::to_string(id) + R"(, "pid": 50, "tid": )" + std::to_string(thread) +
         R"(, "ts": )" + std::to_string(at) + R"(, "cat": ")" + cat + R"(", "name": ")" + cat + R"("})";
}
std::string finish(int id, int process, int thread, int at, const std::string& cat = "ac2g") {
  return R"({"ph": "f", "id": )" + std::to_string(id) + R"(, "pid": )" + std::to_string(process) +
         R"(, "tid": )" + std::to_string(thread) + R"(, "ts": )" + std::to_string(at) + R"(, "cat": ")" +
         cat + R"(", "name": ")" + cat + R"(", "bp": "e"})";
}

class flows_test : public input_files {
 protected:
  varve::trace read(std::initializer_list<std::string> events, const std::string& before = "") {
    std::string all;
    for (const std::string& e : events) {
      all += (all.empty() ? "" : ",") + e;
    }
    return varve::read_pytorch(write("t.json", "{" + before + R"("traceEvents": [)" + all + "]}"));
  }
  static std::string path_of(const varve::trace& t, std::uint32_t range) {
    return range == varve::none ? "" : varve::label_text(t, t.ranges[range].label);
  }
  static std::string path_of_activity(const varve::trace& t, std::size_t i = 0) {
    return i < t.range_of_activity.size() ? path_of(t, t.range_of_activity[i]) : "";
  }

  const std::string step = annotation("ProfilerStep#1", 51, 0, 1000);
  const std::string layer = annotation("mlp", 51, 100, 200);
  const std::string gemm = kernel("gemm", 500, 600, 6);  // on stream 7; there is no call 6
};

TEST_F(flows_test, an_activity_without_a_call_counts_for_the_range_that_its_flow_leads_from) {
  const varve::trace t =
      read({step, layer, launch(51, 300, 310, 5), start(6, 51, 150), gemm, finish(6, 0, 7, 500)});
  EXPECT_EQ(path_of_activity(t), "ProfilerStep 1 / mlp");
  EXPECT_EQ(t.elsewhere.activities_by_flow, 1U);
  EXPECT_EQ(t.elsewhere.activities_by_operator, 0U);
  EXPECT_THAT(t.losses, IsEmpty());
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.find({.label = "mlp"})->inclusive.gpu_time, 100'000);
  EXPECT_EQ(r.quality.activities_by_flow, 1);
  EXPECT_EQ(r.quality.unmatched, 1);
  EXPECT_EQ(r.quality.attributed, 1.0);
}

TEST_F(flows_test, an_id_of_its_own_joins_start_and_end) {
  // The end stands apart from the kernel: its device, stream and time tell which it is.
  const varve::trace t = read({finish(77, 0, 7, 500), start(77, 51, 150), step, layer, gemm});
  EXPECT_EQ(path_of_activity(t), "ProfilerStep 1 / mlp");
  EXPECT_EQ(path_of_activity(read({finish(77, 0, 8, 500), start(77, 51, 150), step, layer, gemm})), "");
  EXPECT_EQ(path_of_activity(read({finish(77, 1, 7, 500), start(77, 51, 150), step, layer, gemm})), "");
  EXPECT_EQ(path_of_activity(read({finish(77, 0, 7, 501), start(77, 51, 150), step, layer, gemm})), "");
  EXPECT_EQ(path_of_activity(read({finish(78, 0, 7, 500), start(77, 51, 150), step, layer, gemm})), "");
}

TEST_F(flows_test, one_end_alone_tells_nothing) {
  const varve::trace started = read({step, layer, start(6, 51, 150), gemm});
  EXPECT_EQ(path_of_activity(started), "");
  const varve::trace ended = read({step, layer, gemm, finish(6, 0, 7, 500)});
  EXPECT_EQ(path_of_activity(ended), "");
  EXPECT_EQ(ended.elsewhere.activities_by_flow, 0U);
  EXPECT_EQ(varve::analyze(ended).find({.label = "mlp"})->inclusive.gpu_time, 0);
}

TEST_F(flows_test, are_known_by_older_names_and_in_other_orders_too) {
  for (const std::string cat : {"async_cpu_to_gpu", "async_gpu", "async"}) {
    const varve::trace t = read({step, layer, start(6, 51, 150, cat), gemm, finish(6, 0, 7, 500, cat)});
    EXPECT_EQ(path_of_activity(t), "ProfilerStep 1 / mlp") << cat;
  }
  const varve::trace t =
      read({step, layer, R"({"cat": "ac2g", "ph": "s", "ts": 150, "tid": 51, "id": 6, "pid": 50})",
            R"({"ph": "f", "cat": "ac2g", "ts": 500, "tid": "stream 7", "id": "6", "pid": 0})", gemm});
  EXPECT_EQ(path_of_activity(t), "ProfilerStep 1 / mlp");
}

TEST_F(flows_test, what_calls_tell_stays) {
  // The flow of the launch leads from another layer than the launch was made in.
  const varve::trace t = read({step, layer, annotation("norm", 51, 300, 400), launch(51, 310, 320, 6),
                               start(6, 51, 150), gemm, finish(6, 0, 7, 500)});
  EXPECT_THAT(t.range_of_activity, IsEmpty());
  EXPECT_EQ(varve::analyze(t).find({.label = "norm"})->inclusive.gpu_time, 100'000);
}

TEST_F(flows_test, an_operator_that_is_named_counts_more_than_a_flow) {
  const std::string linked = R"("External id": 40)";
  const varve::trace t =
      read({step, layer, annotation("norm", 51, 300, 400), op("aten::mm", 51, 310, 350, linked),
            start(6, 51, 150), kernel("gemm", 500, 600, 6, linked), finish(6, 0, 7, 500)});
  EXPECT_EQ(path_of_activity(t), "ProfilerStep 1 / norm");
  EXPECT_EQ(t.elsewhere.activities_by_operator, 1U);
  EXPECT_EQ(t.elsewhere.activities_by_flow, 0U);
}

TEST_F(flows_test, lead_to_the_operator_too) {
  const varve::trace t = read({step, layer, op("aten::linear", 51, 110, 190), op("aten::mm", 51, 120, 180),
                               start(6, 51, 150), gemm, finish(6, 0, 7, 500)});
  ASSERT_EQ(t.operator_of_activity.size(), 1U);
  EXPECT_EQ(t.strings[t.operator_kinds[t.operators.kind.at(t.operator_of_activity[0])].name], "aten::mm");
}

TEST_F(flows_test, from_a_backward_operator_lead_to_its_layer) {
  const varve::trace t =
      read({step, layer, op("aten::mm", 51, 110, 150, sequence(7, 0)),
            op("MmBackward0", 52, 310, 390, sequence(7, 1)), start(6, 52, 330), gemm, finish(6, 0, 7, 500)});
  EXPECT_EQ(path_of_activity(t), "ProfilerStep 1 / backward / mlp (backward)");
}

TEST_F(flows_test, of_an_id_used_again_the_latest_start_before_counts) {
  // 450 is in no layer, 550 is later than the kernel.
  const varve::trace t =
      read({step, layer, annotation("norm", 51, 300, 400), annotation("late", 51, 540, 560),
            start(6, 51, 550), start(6, 51, 150), start(6, 51, 350), gemm, finish(6, 0, 7, 500)});
  EXPECT_EQ(path_of_activity(t), "ProfilerStep 1 / norm");
  // Where all are later, clocks disagree: the first.
  const varve::trace late = read({step, annotation("a", 51, 700, 750), annotation("b", 51, 800, 850),
                                  start(6, 51, 820), start(6, 51, 720), gemm, finish(6, 0, 7, 500)});
  EXPECT_EQ(path_of_activity(late), "ProfilerStep 1 / a");
}

TEST_F(flows_test, of_an_id_that_two_processes_use_tell_nothing) {
  const std::string other = R"({"ph": "s", "id": 6, "pid": 60, "tid": 51, "ts": 140, "cat": "ac2g"})";
  const varve::trace t = read({step, layer, other, start(6, 51, 150), gemm, finish(6, 0, 7, 500)});
  EXPECT_EQ(path_of_activity(t), "");
}

TEST_F(flows_test, to_one_instant_are_told_apart_by_correlation) {
  const varve::trace t = read({step, layer, annotation("norm", 51, 300, 400), finish(6, 0, 7, 500),
                               finish(8, 0, 7, 500), start(6, 51, 150), start(8, 51, 350),
                               kernel("a", 500, 500, 6), kernel("b", 500, 600, 8), kernel("c", 500, 500, 9)});
  EXPECT_EQ(path_of_activity(t, 0), "ProfilerStep 1 / mlp");
  EXPECT_EQ(path_of_activity(t, 1), "ProfilerStep 1 / norm");
  EXPECT_EQ(path_of_activity(t, 2), "");  // either may be its
}

TEST_F(flows_test, correlations_beyond_32_bits_are_joined_too) {
  // 2^32 + 6, so that all are numbered anew: 1, 2.
  const varve::trace t =
      read({step, layer, launch(51, 300, 310, 6),
            R"({"ph": "s", "id": 4294967302, "pid": 50, "tid": 51, "ts": 150, "cat": "ac2g"})",
            R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 500, "dur": 100,
                "args": {"correlation": 4294967302}})",
            R"({"ph": "f", "id": 4294967302, "pid": 0, "tid": 7, "ts": 500, "cat": "ac2g"})"});
  EXPECT_EQ(path_of_activity(t), "ProfilerStep 1 / mlp");
}

TEST_F(flows_test, move_with_the_times_of_a_trace) {
  const varve::trace t = read({finish(77, 0, 7, 500), start(77, 51, 150), step, layer, gemm},
                              R"("baseTimeNanoseconds": 1700000000000000000, )");
  EXPECT_EQ(t.begin, 1'700'000'000'000'000'000);
  EXPECT_EQ(path_of_activity(t), "ProfilerStep 1 / mlp");
}

TEST_F(flows_test, that_make_no_sense_are_counted) {
  const varve::trace t =
      read({step, layer, gemm, R"({"ph": "s", "pid": 50, "tid": 51, "ts": 150, "cat": "ac2g"})",
            R"({"ph": "s", "id": 6, "pid": 50, "tid": 51, "ts": "soon", "cat": "ac2g"})",
            R"({"ph": "s", "id": 6, "pid": 50, "tid": 51, "ts": 9e30, "cat": "fwdbwd"})",
            R"({"ph": "f", "id": 7, "pid": "x", "tid": 7, "ts": 500, "cat": "ac2g"})",
            R"({"ph": "t", "id": 7, "pid": 50, "tid": 51, "ts": 500, "cat": "ac2g"})"});
  EXPECT_EQ(path_of_activity(t), "");
  EXPECT_THAT(t.losses, ElementsAre(Field(&varve::loss::count, 4U)));  // steps between ends are not read
}

// --- From forward to backward operators -------------------------------------------------------------------

class forward_flows_test : public flows_test {
 protected:
  const std::string forward = op("aten::mm", 51, 110, 150);
  const std::string backward = op("autograd::engine::evaluate_function: MmBackward0", 52, 310, 390) + "," +
                               op("MmBackward0", 52, 310, 380) + "," + launch(52, 330, 340, 5) + "," +
                               kernel("gemm", 500, 600, 5);
};

TEST_F(forward_flows_test, tell_the_layer_where_there_are_no_sequence_numbers) {
  for (const std::string cat : {"fwdbwd", "fwd_bwd", "forward_backward"}) {
    const varve::trace t =
        read({step, layer, forward, start(1, 51, 110, cat), backward, finish(1, 50, 52, 310, cat)});
    EXPECT_EQ(path_of(t, t.calls.range.at(0)), "ProfilerStep 1 / backward / mlp (backward)") << cat;
    EXPECT_EQ(t.elsewhere.by_forward, 1U);
    EXPECT_THAT(t.losses, IsEmpty());
  }
}

TEST_F(forward_flows_test, make_a_backward_operator_of_one_that_has_no_mark_of_it) {
  const varve::trace t =
      read({step, layer, forward, start(1, 51, 110, "fwdbwd"), op("MulBackward", 52, 310, 390),
            finish(1, 50, 52, 310, "fwdbwd"), launch(52, 385, 388, 5), kernel("mul", 500, 600, 5)});
  EXPECT_EQ(path_of(t, t.calls.range.at(0)), "ProfilerStep 1 / backward / mlp (backward)");
}

TEST_F(forward_flows_test, without_their_start_tell_nothing) {
  const varve::trace t =
      read({step, layer, forward, start(2, 51, 110, "fwdbwd"), backward, finish(1, 50, 52, 310, "fwdbwd")});
  EXPECT_EQ(path_of(t, t.calls.range.at(0)), "ProfilerStep 1 / backward");
}

TEST_F(forward_flows_test, from_what_comes_later_tell_nothing) {
  const varve::trace t = read({step, layer, forward, op("aten::mm", 51, 400, 410),
                               start(1, 51, 400, "fwdbwd"), backward, finish(1, 50, 52, 310, "fwdbwd")});
  EXPECT_EQ(path_of(t, t.calls.range.at(0)), "ProfilerStep 1 / backward");
}

TEST_F(forward_flows_test, from_another_process_tell_nothing) {
  const std::string other = R"({"ph": "s", "id": 1, "pid": 60, "tid": 51, "ts": 110, "cat": "fwdbwd"})";
  const std::string elsewhere =
      annotation("attention", 51, 100, 200, "", 60) + "," + event("cpu_op", "aten::mm", 60, 51, 110, 150, "");
  const varve::trace t =
      read({step, layer, forward, elsewhere, other, backward, finish(1, 50, 52, 310, "fwdbwd")});
  EXPECT_EQ(path_of(t, t.calls.range.at(0)), "ProfilerStep 1 / backward");
}

TEST_F(forward_flows_test, tell_less_than_sequence_numbers) {
  // Number 7 is of the operator in "mlp", the flow leads from "norm".
  const varve::trace t =
      read({step, layer, op("aten::mm", 51, 110, 150, sequence(7, 0)), annotation("norm", 51, 210, 290),
            op("aten::norm", 51, 220, 280), start(1, 51, 220, "fwdbwd"),
            op("MmBackward0", 52, 310, 390, sequence(7, 1)), finish(1, 50, 52, 310, "fwdbwd"),
            launch(52, 330, 340, 5), kernel("gemm", 500, 600, 5)});
  EXPECT_EQ(path_of(t, t.calls.range.at(0)), "ProfilerStep 1 / backward / mlp (backward)");
}

}  // namespace

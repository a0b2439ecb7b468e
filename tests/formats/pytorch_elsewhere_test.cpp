// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Work launched on autograd and worker threads. The passes and layers are on thread 51.
#include "formats/event_text.hpp"
#include "formats/input_files.hpp"

#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace {

using namespace event_text;
using testing::HasSubstr;
using testing::IsEmpty;

class pytorch_elsewhere : public input_files {
 protected:
  varve::trace read(std::initializer_list<std::string> events) {
    std::string all;
    for (const std::string& e : events) {
      all += (all.empty() ? "" : ",") + e;
    }
    return varve::read_pytorch(write("t.json", R"({"traceEvents": [)" + all + "]}"));
  }
  static std::string path_of(const varve::trace& t, std::uint32_t range) {
    return range == varve::none ? "" : varve::label_text(t, t.ranges[range].label);
  }
  static std::string path_of_call(const varve::trace& t, std::size_t i = 0) {
    return path_of(t, t.calls.range.at(i));
  }
  static void expect_parents_before_children(const varve::trace& t) {
    for (std::uint32_t r = 0; r < t.ranges.size(); ++r) {
      EXPECT_TRUE(t.ranges[r].parent == varve::none || t.ranges[r].parent < r) << r;
    }
  }

  const std::string step = annotation("ProfilerStep#1", 51, 0, 1000);
  const std::string layer = annotation("mlp", 51, 100, 200);
  const std::string forward = op("aten::mm", 51, 110, 150, sequence(7, 0));
  const std::string backward =
      op("autograd::engine::evaluate_function: MmBackward0", 52, 300, 400, sequence(7, 1)) + "," +
      op("MmBackward0", 52, 310, 390, sequence(7, 1)) + "," + op("aten::mm", 52, 320, 350);
  const std::string launched = launch(52, 330, 340, 5) + "," + kernel("gemm", 500, 600, 5);
};

TEST_F(pytorch_elsewhere, backward_work_counts_for_the_layer_of_its_forward_operator) {
  // aten::view carries number 7 too, since it is the number that the next node gets: aten::mm, the last with
  // it, made that node.
  const varve::trace t =
      read({step, annotation("embed", 51, 10, 50), op("aten::view", 51, 20, 30, sequence(7, 0)), layer,
            forward, backward, launched});
  EXPECT_EQ(path_of_call(t), "ProfilerStep 1 / backward / mlp (backward)");
  EXPECT_EQ(t.elsewhere.by_forward, 1U);
  EXPECT_EQ(t.elsewhere.by_operator + t.elsewhere.backward + t.elsewhere.by_pass, 0U);
  const varve::range& derived = t.ranges[t.calls.range[0]];
  EXPECT_TRUE(derived.derived);
  EXPECT_EQ(derived.begin, 300'000);  // of the outermost backward operator
  EXPECT_EQ(derived.end, 400'000);
  EXPECT_EQ(derived.thread, t.calls.thread[0]);
  EXPECT_EQ(t.ranges.size(), 5U);  // ProfilerStep#1, embed, mlp, backward, mlp (backward)
  expect_parents_before_children(t);
  EXPECT_THAT(t.losses, IsEmpty());

  const varve::report r = varve::analyze(t);
  const varve::row* row = r.find({.label = "mlp (backward)"});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->path, "backward / mlp (backward)");
  EXPECT_EQ(row->phase, "ProfilerStep");
  EXPECT_EQ(row->inclusive.gpu_time, 100'000);
  EXPECT_EQ(row->inclusive.calls, 1);
  EXPECT_EQ(row->inclusive.host_time, 100'000);
  EXPECT_EQ(r.find({.label = "mlp"})->inclusive.gpu_time, 0);  // forward alone
  EXPECT_EQ(r.phases.at(0).total.gpu_time, 100'000);
  EXPECT_EQ(r.quality.calls_by_forward, 1);
  EXPECT_EQ(r.quality.attributed, 1.0);
}

TEST_F(pytorch_elsewhere, operators_of_the_backward_pass_have_its_ranges_too) {
  const varve::trace t = read({step, layer, forward, backward, launched});
  std::size_t placed = 0;
  for (std::size_t i = 0; i < t.operators.size(); ++i) {
    placed += path_of(t, t.operators.range[i]) == "ProfilerStep 1 / backward / mlp (backward)" ? 1U : 0U;
  }
  EXPECT_EQ(placed, 3U);  // evaluate_function, MmBackward0, aten::mm
}

TEST_F(pytorch_elsewhere, a_layer_called_twice_has_two_calls_in_the_backward_pass) {
  const varve::trace t = read(
      {step, layer, forward, annotation("mlp", 51, 200, 290), op("aten::mm", 51, 210, 220, sequence(8, 0)),
       op("autograd::engine::evaluate_function: MmBackward0", 52, 295, 299, sequence(8, 1)),
       launch(52, 296, 297, 4), kernel("gemm", 400, 450, 4), backward, launched});
  const varve::report r = varve::analyze(t);
  const varve::row* row = r.find({.label = "mlp (backward)"});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->inclusive.calls, 2);
  EXPECT_EQ(row->per_call.max, 100'000);
  EXPECT_EQ(row->per_call.min, 50'000);
  EXPECT_EQ(r.find({.label = "backward"})->inclusive.calls, 1);
  EXPECT_EQ(r.find({.label = "backward"})->inclusive.gpu_time, 150'000);
}

TEST_F(pytorch_elsewhere, backward_work_without_a_forward_operator_counts_for_backward_alone) {
  const varve::trace t = read({step, op("autograd::engine::evaluate_function: AccumulateGrad", 52, 300, 400),
                               launch(52, 330, 340, 5), kernel("add", 500, 600, 5)});
  EXPECT_EQ(path_of_call(t), "ProfilerStep 1 / backward");
  EXPECT_EQ(t.elsewhere.backward, 1U);
  EXPECT_EQ(t.elsewhere.by_forward, 0U);
}

TEST_F(pytorch_elsewhere, a_number_used_on_two_threads_tells_no_forward_operator) {
  const varve::trace t =
      read({step, layer, forward, op("aten::mm", 54, 110, 150, sequence(7, 0)), backward, launched});
  EXPECT_EQ(path_of_call(t), "ProfilerStep 1 / backward");
  EXPECT_EQ(t.elsewhere.backward, 1U);
}

TEST_F(pytorch_elsewhere, a_forward_operator_that_comes_later_is_none) {
  const varve::trace t = read({step, annotation("mlp", 51, 500, 600),
                               op("aten::mm", 51, 510, 520, sequence(7, 0)), backward, launched});
  EXPECT_EQ(path_of_call(t), "ProfilerStep 1 / backward");
}

TEST_F(pytorch_elsewhere, annotations_of_the_backward_pass_move_into_it) {
  const varve::trace t = read({op("autograd::engine::evaluate_function: AccumulateGrad", 52, 300, 400),
                               annotation("nccl:all_reduce", 52, 310, 390), annotation("inner", 52, 320, 380),
                               launch(52, 330, 340, 5), kernel("ncclKernel_AllReduce", 500, 600, 5), step,
                               annotation("after", 51, 900, 950)});
  EXPECT_EQ(path_of_call(t), "ProfilerStep 1 / backward / nccl:all_reduce / inner");
  EXPECT_FALSE(t.ranges[t.calls.range[0]].derived);
  EXPECT_EQ(t.elsewhere.backward, 1U);
  expect_parents_before_children(t);
  EXPECT_EQ(t.ranges.size(), 5U);  // and none is lost
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.find({.label = "nccl:all_reduce"})->inclusive.gpu_time, 100'000);
  EXPECT_EQ(r.find({.label = "nccl:all_reduce"})->phase, "ProfilerStep");
}

TEST_F(pytorch_elsewhere, an_operator_inside_an_annotation_does_not_move_that) {
  // The backward operator is within the annotation, not around it.
  const varve::trace t = read({step, annotation("train", 52, 250, 450), layer, forward, backward, launched});
  EXPECT_EQ(path_of_call(t), "train");
  EXPECT_EQ(t.elsewhere.by_forward + t.elsewhere.backward + t.elsewhere.by_pass, 0U);
}

TEST_F(pytorch_elsewhere, without_passes_backward_stands_on_its_own) {
  const varve::trace t = read({layer, forward, backward, launched, launch(53, 350, 360, 6)});
  EXPECT_EQ(path_of_call(t, 0), "backward / mlp (backward)");
  EXPECT_EQ(path_of_call(t, 1), "");  // and of a worker's call nothing is known
  EXPECT_EQ(t.elsewhere.by_pass, 0U);
}

TEST_F(pytorch_elsewhere, backward_work_after_the_pass_belongs_to_that_of_its_forward_operator) {
  const varve::trace t = read({annotation("ProfilerStep#1", 51, 0, 250), layer, forward, backward, launched});
  EXPECT_EQ(path_of_call(t), "ProfilerStep 1 / backward / mlp (backward)");
}

TEST_F(pytorch_elsewhere, a_workers_launch_counts_for_the_one_open_pass) {
  const varve::trace t =
      read({step, launch(53, 330, 340, 5), launch(53, 999, 1001, 6), launch(53, 1000, 1001, 7)});
  EXPECT_EQ(path_of_call(t, 0), "ProfilerStep 1");
  EXPECT_EQ(path_of_call(t, 1), "ProfilerStep 1");  // by its middle, 1000 µs, which is the pass's end
  EXPECT_EQ(path_of_call(t, 2), "");                // 1000.5 µs
  EXPECT_EQ(t.elsewhere.by_pass, 2U);
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.quality.calls_by_pass, 2);
}

TEST_F(pytorch_elsewhere, of_nested_passes_the_innermost_is_taken) {
  const varve::trace t = read({step, annotation("ProfilerStep#2", 51, 300, 400), launch(53, 330, 340, 5)});
  EXPECT_EQ(path_of_call(t), "ProfilerStep 1 / ProfilerStep 2");
}

TEST_F(pytorch_elsewhere, passes_on_two_threads_and_of_other_processes_tell_nothing) {
  EXPECT_EQ(path_of_call(read({step, annotation("ProfilerStep#2", 54, 0, 1000), launch(53, 330, 340, 5)})),
            "");
  EXPECT_EQ(path_of_call(read({annotation("ProfilerStep#2", 54, 0, 1000, "", 60), launch(53, 330, 340, 5)})),
            "");
}

TEST_F(pytorch_elsewhere, calls_that_launch_nothing_are_not_given_to_a_pass) {
  const varve::trace t =
      read({step, event("cuda_runtime", "cudaStreamSynchronize", 50, 53, 330, 340, R"("correlation": 5)")});
  EXPECT_EQ(path_of_call(t), "");
  EXPECT_EQ(t.elsewhere.by_pass, 0U);
}

TEST_F(pytorch_elsewhere, a_call_whose_operator_is_on_another_thread_counts_for_the_range_there) {
  const varve::trace t = read({step, layer, op("aten::mm", 51, 110, 150, R"("External id": 40)"),
                               launch(53, 330, 340, 5, R"("External id": 40)"),
                               kernel("gemm", 500, 600, 5, R"("External id": 40)")});
  EXPECT_EQ(path_of_call(t), "ProfilerStep 1 / mlp");
  EXPECT_EQ(t.elsewhere.by_operator, 1U);
  EXPECT_EQ(varve::analyze(t).find({.label = "mlp"})->inclusive.gpu_time, 100'000);
}

TEST_F(pytorch_elsewhere, an_activity_without_a_call_counts_for_the_range_around_its_operator) {
  // Of 150 µs on the device 100 were launched by the call that is there, in no layer, and 50 by one that
  // isn't, in "mlp".
  const varve::trace t =
      read({step, layer, op("aten::mm", 51, 110, 150, R"("External id": 40)"), launch(51, 330, 340, 5),
            kernel("add", 500, 600, 5), kernel("gemm", 600, 650, 6, R"("External id": 40)")});
  ASSERT_EQ(t.range_of_activity.size(), 2U);
  EXPECT_EQ(t.range_of_activity[0], varve::none);
  EXPECT_EQ(path_of(t, t.range_of_activity[1]), "ProfilerStep 1 / mlp");
  EXPECT_EQ(t.elsewhere.activities_by_operator, 1U);
  EXPECT_EQ(t.elsewhere.by_operator, 0U);

  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.find({.label = "mlp"})->inclusive.gpu_time, 50'000);
  EXPECT_EQ(r.phases.at(0).total.gpu_time, 150'000);
  EXPECT_EQ(r.quality.activities_by_operator, 1);
  EXPECT_EQ(r.quality.matched, 1);
  EXPECT_EQ(r.quality.unmatched, 1);  // it has no launch all the same
  EXPECT_DOUBLE_EQ(r.quality.attributed, 50.0 / 150);
  EXPECT_THAT(varve::to_table(r), HasSubstr("Operators or flows tell"));
  EXPECT_EQ(varve::to_json(varve::read_report(write("r.json", varve::to_json(r)))), varve::to_json(r));
}

TEST_F(pytorch_elsewhere, what_a_captured_call_recorded_is_not_launched_by_it) {
  const std::string capture =
      event("cuda_runtime", "cudaStreamBeginCapture", 50, 51, 300, 301, R"("correlation": 3)") + "," +
      launch(51, 310, 311, 6) + "," +
      event("cuda_runtime", "cudaStreamEndCapture", 50, 51, 320, 321, R"("correlation": 4)");
  const varve::trace t = read({step, layer, op("aten::mm", 51, 110, 150, R"("External id": 40)"), capture,
                               kernel("gemm", 600, 650, 7, R"("External id": 40)")});
  EXPECT_EQ(t.elsewhere.activities_by_operator, 1U);
}

TEST_F(pytorch_elsewhere, an_activity_without_call_and_operator_is_in_no_layer) {
  const varve::trace t =
      read({step, layer, op("aten::mm", 51, 110, 150, R"("External id": 40)"),
            kernel("gemm", 600, 650, 6, R"("External id": 41)"), kernel("gemm", 650, 700, 7)});
  EXPECT_THAT(t.range_of_activity, IsEmpty());
  EXPECT_EQ(t.elsewhere.activities_by_operator, 0U);
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.find({.label = "mlp"})->inclusive.gpu_time, 0);
  EXPECT_EQ(r.quality.unmatched, 2);
  EXPECT_THAT(varve::to_table(r), HasSubstr("Their layer is unknown"));
}

TEST_F(pytorch_elsewhere, an_activity_without_a_call_counts_for_the_layer_of_its_backward_operator) {
  const std::string linked = sequence(7, 1) + R"(, "External id": 41)";
  const varve::trace t = read({step, layer, forward, op("MmBackward0", 52, 310, 390, linked),
                               kernel("gemm", 600, 650, 6, R"("External id": 41)")});
  ASSERT_EQ(t.range_of_activity.size(), 1U);
  EXPECT_EQ(path_of(t, t.range_of_activity[0]), "ProfilerStep 1 / backward / mlp (backward)");
}

TEST_F(pytorch_elsewhere, correlations_far_apart_are_told_from_those_that_are_missing) {
  const std::string linked = R"("External id": 40)";
  const varve::trace t = read({step, layer, op("aten::mm", 51, 110, 150, linked), launch(51, 300, 301, 5),
                               launch(51, 310, 311, 2000000000), kernel("a", 500, 510, 5, linked),
                               kernel("b", 510, 520, 2000000000, linked), kernel("c", 520, 530, 6, linked)});
  EXPECT_EQ(t.elsewhere.activities_by_operator, 1U);
  ASSERT_EQ(t.range_of_activity.size(), 3U);
  EXPECT_NE(t.range_of_activity[2], varve::none);
}

TEST_F(pytorch_elsewhere, paths_too_deep_for_a_copy_count_for_backward_alone) {
  std::string deep;
  for (int i = 0; i < 70; ++i) {
    deep += annotation("a" + std::to_string(i), 51, 100, 200) + ",";
  }
  const varve::trace t = read({step, deep + forward, backward, launched});
  EXPECT_EQ(path_of_call(t), "ProfilerStep 1 / backward");
  EXPECT_EQ(t.elsewhere.backward, 1U);
}

}  // namespace

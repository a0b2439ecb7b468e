// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Operators of small traces: how they nest, what they launched, whose work they are.
#include "formats/input_files.hpp"

#include <varve/io.hpp>
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using varve::none;

class operators_test : public input_files {
 protected:
  varve::trace read(const std::string& events) {
    return varve::read_pytorch(write("t.json", R"({"traceEvents": [)" + events + "]}"));
  }
  static std::string event(const std::string& cat, const std::string& name, int ts, int dur,
                           const std::string& args = "", int tid = 1) {
    return R"({"ph": "X", "cat": ")" + cat + R"(", "name": ")" + name + R"(", "pid": 1, "tid": )" +
           std::to_string(tid) + R"(, "ts": )" + std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) +
           R"(, "args": {)" + args + "}}";
  }
  static std::string op(const std::string& name, int ts, int dur, const std::string& args = "", int tid = 1) {
    return event("cpu_op", name, ts, dur, args, tid);
  }
  static std::string mm(int ts, int dur, int tid = 1) {
    return op("aten::mm", ts, dur, R"("Input Dims": [[4, 2], [2, 4]], "Input type": ["float", "float"])",
              tid);
  }
  static std::string launch(int ts, const std::string& args, int tid = 1) {
    return event("cuda_runtime", "cudaLaunchKernel", ts, 2, args, tid);
  }
  static std::string kernel(int ts, const std::string& args) { return event("kernel", "k", ts, 5, args, 7); }
  /// aten::linear around aten::mm, id 3, and kernels that it launched, as names and microseconds.
  static std::string product(int ts, const std::string& types,
                             const std::vector<std::pair<const char*, int>>& kernels) {
    const std::string id = std::to_string(ts);  // of the operator inside
    std::string out =
        op("aten::linear", ts, 90,
           R"("Input Dims": [[4, 2], [4, 2], []], "Input type": [)" + types + R"(, ""])") +
        "," +
        op("aten::mm", ts + 1, 80,
           R"("External id": )" + id + R"(, "Input Dims": [[4, 2], [2, 4]], "Input type": [)" + types + "]");
    int at = ts;
    for (const auto& [kernel_name, dur] : kernels) {
      const std::string args =
          R"("External id": )" + id + R"(, "correlation": )" + std::to_string(9000 + ++at);
      out += "," + launch(at, args) + "," + event("kernel", kernel_name, at * 10, dur, args, 7);
    }
    return out;
  }
  static std::vector<varve::math_pipe> pipes(const varve::trace& t) {
    std::vector<varve::math_pipe> out;
    for (const varve::operator_kind& kind : t.operator_kinds) {
      out.push_back(kind.declared.pipe);
    }
    return out;
  }
  static std::string memory(int ts, const std::string& args) {
    return R"({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "s": "t", "ts": )" +
           std::to_string(ts) + R"(, "args": {)" + args + "}}";
  }
  static std::string name(const varve::trace& t, std::uint32_t op) {
    return op == none ? "none" : std::string{t.strings[t.operator_kinds[t.operators.kind[op]].name]};
  }
  static std::vector<std::string> nesting(const varve::trace& t) {
    std::vector<std::string> out;
    for (std::uint32_t i = 0; i < t.operators.size(); ++i) {
      out.push_back(name(t, i) + " in " + name(t, t.operators.parent[i]));
    }
    return out;
  }
  static std::vector<std::string> names(const varve::trace& t, const std::vector<std::uint32_t>& ops) {
    std::vector<std::string> out;
    for (const std::uint32_t i : ops) {
      out.push_back(name(t, i));
    }
    return out;
  }
};

TEST_F(operators_test, nest_on_each_thread) {
  const varve::trace t =
      read(op("b", 2, 3) + "," + op("a", 1, 9) + "," + op("other", 3, 1, "", 2) + "," + op("c", 3, 1) + "," +
           op("d", 6, 4) + "," + event("user_annotation", "step", 0, 20));
  EXPECT_THAT(nesting(t),
              ElementsAre("step in none", "a in step", "b in a", "c in b", "d in a", "other in none"));
  EXPECT_EQ(t.operators.begin.at(1), 1000);
  EXPECT_EQ(t.operators.end.at(1), 10'000);
  EXPECT_EQ(t.operator_kinds.at(t.operators.kind.at(0)).source, varve::operator_source::annotation);
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST_F(operators_test, that_touch_or_cross_do_not_nest) {
  // b begins where a ends; d crosses c.
  const varve::trace t =
      read(op("a", 1, 4) + "," + op("b", 5, 0) + "," + op("c", 10, 5) + "," + op("d", 12, 9));
  EXPECT_THAT(nesting(t), ElementsAre("a in none", "b in none", "c in none", "d in none"));
}

TEST_F(operators_test, that_last_equally_long_nest_in_the_order_of_their_begin) {
  const std::string first = op("first", 1, 5, R"("Ev Idx": 3)");
  const std::string second = op("second", 1, 5, R"("Ev Idx": 4)");
  EXPECT_THAT(nesting(read(second + "," + first)), ElementsAre("first in none", "second in first"));
  const std::string before = op("first", 1, 5, R"("Profiler Event Index": 3)");
  const std::string after = op("second", 1, 5, R"("Profiler Event Index": 4)");
  EXPECT_THAT(nesting(read(after + "," + before)), ElementsAre("first in none", "second in first"));
}

TEST_F(operators_test, own_what_names_them) {
  // The first activity names operator 21 whose call is on another thread; the second names no operator; the
  // third has no call in the file; the fourth names an annotation, which owns nothing.
  const varve::trace t =
      read(op("a", 0, 50, R"("External id": 20)") + "," + op("b", 10, 5, R"("External id": 21)") + "," +
           event("user_annotation", "u", 0, 60, R"("External id": 22)") + "," +
           launch(30, R"("correlation": 1, "External id": 21)", 2) + "," + launch(12, R"("correlation": 2)") +
           "," + kernel(100, R"("correlation": 1, "External id": 21)") + "," +
           kernel(110, R"("correlation": 2)") + "," + kernel(120, R"("correlation": 9, "External id": 20)") +
           "," + kernel(130, R"("correlation": 8, "External id": 22)"));
  EXPECT_THAT(names(t, t.operator_of_call), ElementsAre("b", "none"));
  EXPECT_THAT(names(t, t.operator_of_activity), ElementsAre("b", "none", "a", "none"));
}

TEST_F(operators_test, own_nothing_by_a_number_that_is_the_correlation) {
  // Kineto of 2024: the operator where there is one, else the correlation, here by chance an operator's
  // number.
  const varve::trace t =
      read(op("a", 0, 50, R"("External id": 7)") + "," + launch(60, R"("correlation": 7, "External id": 7)") +
           "," + launch(10, R"("correlation": 8, "External id": 7)"));
  EXPECT_THAT(names(t, t.operator_of_call), ElementsAre("none", "a"));
}

TEST_F(operators_test, own_by_time_where_no_number_is_a_link) {
  // Before 2024 all numbers are the correlation. Calls last 2: their middles are 1 later.
  const varve::trace t = read(
      op("outer", 0, 50, R"("External id": 1)") + "," + op("inner", 10, 5, R"("External id": 2)") + "," +
      event("user_annotation", "u", 11, 3) + "," + launch(11, R"("correlation": 1, "External id": 1)") + "," +
      launch(14, R"("correlation": 2, "External id": 2)") + "," + launch(70, R"("correlation": 3)") + "," +
      launch(12, R"("correlation": 4)", 2) + "," + kernel(100, R"("correlation": 1, "External id": 1)") +
      "," + kernel(110, R"("correlation": 2, "External id": 2)") + "," + kernel(120, R"("correlation": 5)"));
  // 12 lies in inner [10, 15); 15 no longer does; 71 lies in nothing; thread 2 has no operator.
  EXPECT_THAT(names(t, t.operator_of_call), ElementsAre("inner", "outer", "none", "none"));
  EXPECT_THAT(names(t, t.operator_of_activity), ElementsAre("inner", "outer", "none"));
}

TEST_F(operators_test, that_take_no_time_own_a_call_that_takes_none_either) {
  const varve::trace t = read(op("a", 0, 50) + "," + op("b", 10, 0) + "," +
                              event("cuda_runtime", "cudaLaunchKernel", 10, 0, R"("correlation": 1)"));
  EXPECT_THAT(names(t, t.operator_of_call), ElementsAre("b"));
}

TEST_F(operators_test, leave_nothing_in_a_trace_that_has_none) {
  const varve::trace t =
      read(event("user_annotation", "u", 0, 9) + "," + launch(1, R"("correlation": 1, "External id": 5)") +
           "," + memory(1, R"("Bytes": 5, "Device Type": 1)"));
  EXPECT_EQ(t.operators.size(), 0U);
  EXPECT_THAT(t.operator_kinds, IsEmpty());
  EXPECT_THAT(t.operator_of_call, IsEmpty());
  EXPECT_THAT(t.operator_of_activity, IsEmpty());
  EXPECT_THAT(t.call_names, IsEmpty());
  EXPECT_THAT(t.memory_events, IsEmpty());
  EXPECT_THAT(varve::analyze(t).operators.by_name, IsEmpty());
}

TEST_F(operators_test, of_one_kind_share_it) {
  const std::string dims =
      R"("Input Dims": [[8], []], "Input type": ["float", "Scalar"], "Concrete Inputs": )";
  // add's work does not depend on values.
  const varve::trace t =
      read(op("aten::add", 0, 1, dims + R"(["", "1"])") + "," + op("aten::add", 2, 1, dims + R"(["", "2"])"));
  EXPECT_EQ(t.operator_kinds.size(), 1U);
  EXPECT_THAT(t.operators.kind, ElementsAre(0U, 0U));
}

TEST_F(operators_test, memory_is_read) {
  const varve::trace t =
      read(op("a", 0, 9) + "," + memory(5, R"("Bytes": -512, "Device Type": 1, "Device Id": 0)") + "," +
           memory(2, R"("Bytes": 64, "Device Type": 0, "Device Id": -1)") + "," +
           memory(3, R"("Bytes": 8, "Device Type": 20)") + "," + memory(4, R"("Bytes": "x")") + "," +
           memory(4, R"("Device Type": 1)"));
  ASSERT_EQ(t.memory_events.size(), 3U);
  EXPECT_EQ(t.memory_events[0].at, 2000);
  EXPECT_EQ(t.memory_events[0].bytes, 64);
  EXPECT_FALSE(t.memory_events[0].on_device);
  EXPECT_EQ(t.memory_events[1].bytes, 8);
  EXPECT_TRUE(t.memory_events[1].on_device);
  EXPECT_EQ(t.memory_events[2].bytes, -512);
  ASSERT_EQ(t.losses.size(), 1U);
  EXPECT_EQ(t.losses[0].what, "records of memory with an invalid size, device or time: left out");
  EXPECT_EQ(t.losses[0].count, 2U);
}

TEST_F(operators_test, times_move_with_the_base) {
  const varve::trace t = varve::read_pytorch(
      write("t.json", R"({"baseTimeNanoseconds": 1000000, "traceEvents": [)" + op("a", 1, 9) + "," +
                          memory(5, R"("Bytes": 1, "Device Type": 1)") + "]}"));
  EXPECT_EQ(t.operators.begin.at(0), 1'001'000);
  EXPECT_EQ(t.operators.end.at(0), 1'010'000);
  EXPECT_EQ(t.memory_events.at(0).at, 1'005'000);
}

// --- Work -------------------------------------------------------------------------------------------------

TEST_F(operators_test, give_their_work_to_the_range_around_them) {
  // mm of [4,2] and [2,4]: 2·4·4·2 = 64 FLOPs, 32 bytes of weights, 32 + 64 of activations.
  const varve::trace t =
      read(event("user_annotation", "u", 0, 9) + "," + event("user_annotation", "v", 20, 9) + "," + mm(1, 2) +
           "," + mm(4, 2) + "," + mm(21, 2) + "," + mm(40, 2));
  ASSERT_EQ(t.works.size(), 2U);
  EXPECT_EQ(t.works[0].range, 0U);
  EXPECT_EQ(t.works[0].declared, (varve::work{128, 64, 0, 192}));
  EXPECT_EQ(t.works[1].declared, (varve::work{64, 32, 0, 96}));
}

TEST_F(operators_test, count_once_where_they_nest) {
  const std::string linear =
      op("aten::linear", 1, 8, R"("Input Dims": [[4, 2], [4, 2], []], "Input type": ["float", "float", ""])");
  const varve::trace t = read(event("user_annotation", "u", 0, 10) + "," + linear + "," +
                              op("aten::matmul", 2, 6) + "," + mm(3, 4));
  ASSERT_EQ(t.works.size(), 1U);
  EXPECT_EQ(t.works[0].declared, (varve::work{64, 32, 0, 96}));
  // One whose work is not known does not hide what it calls.
  const varve::trace inner =
      read(event("user_annotation", "u", 0, 10) + "," + op("my::block", 1, 8) + "," + mm(3, 4));
  ASSERT_EQ(inner.works.size(), 1U);
  EXPECT_EQ(inner.works[0].declared, (varve::work{64, 32, 0, 96}));
}

TEST_F(operators_test, beyond_all_numbers_are_left_out_of_the_sums) {
  // 2^60 elements: 2 · 2^60 bytes of truth values in and out. The third would reach 3 · 2^61 > 2^62.
  const std::string huge = R"("Input Dims": [[1152921504606846976]], "Input type": ["bool"])";
  const varve::trace t = read(event("user_annotation", "u", 0, 99) + "," + op("aten::neg", 1, 1, huge) + "," +
                              op("aten::neg", 3, 1, huge) + "," + op("aten::neg", 5, 1, huge));
  ASSERT_EQ(t.works.size(), 1U);
  EXPECT_EQ(t.works[0].declared.activation_bytes, std::int64_t{1} << 62);
  ASSERT_EQ(t.losses.size(), 1U);
  EXPECT_EQ(t.losses[0].what, "operators beyond 4e18 FLOPs or bytes in all: their work is left out");
  EXPECT_EQ(t.losses[0].count, 1U);
}

TEST_F(operators_test, whose_work_no_shape_tells_are_counted) {
  const varve::trace t = read(event("user_annotation", "u", 0, 99) + "," +
                              op("vllm::unified_attention", 1, 5) + "," + op("vllm::moe_forward", 10, 5));
  EXPECT_THAT(t.works, IsEmpty());
  ASSERT_EQ(t.losses.size(), 1U);
  EXPECT_EQ(t.losses[0].count, 2U);
}

TEST_F(operators_test, run_where_their_kernels_names_say) {
  const std::string floats = R"("float", "float")";
  const char* const tf32 = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x64x32";
  const char* const unnamed = "my_kernel";
  const char* const reduction = "void at::native::reduce_kernel<512, 1, float>(float)";
  using varve::math_pipe;
  // Both the product and the layer that calls it.
  EXPECT_THAT(pipes(read(product(0, floats, {{tf32, 5}}))),
              ElementsAre(math_pipe::tf32_tensor, math_pipe::tf32_tensor));
  EXPECT_THAT(pipes(read(product(0, floats, {{"ampere_sgemm_128x64_nn", 5}}))),
              ElementsAre(math_pipe::fp32, math_pipe::fp32));
  // What is summed up around it takes longer, on the cores.
  EXPECT_THAT(pipes(read(product(0, floats, {{reduction, 9}, {tf32, 5}, {unnamed, 20}}))),
              ElementsAre(math_pipe::tf32_tensor, math_pipe::tf32_tensor));
  // Of the two that are on tensor cores the longer one.
  EXPECT_THAT(pipes(read(product(0, floats, {{"volta_h884gemm_64x64_nn", 4}, {tf32, 5}}))),
              ElementsAre(math_pipe::tf32_tensor, math_pipe::tf32_tensor));
  // The sum is not the product, whose name says nothing.
  EXPECT_THAT(pipes(read(product(0, floats, {{unnamed, 9}, {reduction, 5}}))),
              ElementsAre(math_pipe::unknown, math_pipe::unknown));
  // Names before types; types where names say nothing.
  const std::string halves = R"("c10::Half", "c10::Half")";
  EXPECT_THAT(pipes(read(product(0, halves, {{"volta_h884gemm_64x64_nn", 5}}))),
              ElementsAre(math_pipe::fp16_tensor_fp16, math_pipe::fp16_tensor_fp16));
  EXPECT_THAT(pipes(read(product(0, halves, {{unnamed, 5}}))),
              ElementsAre(math_pipe::fp16_tensor, math_pipe::fp16_tensor));
}

TEST_F(operators_test, run_call_by_call_where_kernels_differ) {
  // Four calls: TF32, FP32, none that says it, TF32; all but the third of 5 µs. The range has an entry each
  // time that it changes: 64 FLOPs a call.
  const std::string floats = R"("float", "float")";
  const char* const tf32 = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x64x32";
  const varve::trace t =
      read(event("user_annotation", "u", 0, 5000) + "," + product(100, floats, {{tf32, 5}}) + "," +
           product(200, floats, {{"ampere_sgemm_128x64_nn", 5}}) + "," + product(300, floats, {}) + "," +
           product(400, floats, {{tf32, 5}}));
  using varve::math_pipe;
  EXPECT_THAT(pipes(t), ElementsAre(math_pipe::unknown, math_pipe::mixed, math_pipe::mixed));
  std::vector<math_pipe> found;
  for (const varve::range_work& w : t.works) {
    EXPECT_EQ(w.declared.flops, 64);
    EXPECT_EQ(w.source, varve::work_source::shapes);
    found.push_back(w.declared.pipe);
  }
  EXPECT_THAT(found, ElementsAre(math_pipe::tf32_tensor, math_pipe::fp32, math_pipe::unknown,
                                 math_pipe::tf32_tensor));
  // Where those that say it agree, the others ran likewise.
  const varve::trace alike = read(event("user_annotation", "u", 0, 5000) + "," +
                                  product(100, floats, {{tf32, 5}}) + "," + product(300, floats, {}));
  ASSERT_EQ(alike.works.size(), 1U);
  EXPECT_EQ(alike.works[0].declared, (varve::work{128, 64, 0, 192, math_pipe::tf32_tensor}));
}

TEST_F(operators_test, that_join_tensors_move_elements_of_the_size_in_their_kernels_names) {
  const auto cat = [](int ts, const std::string& dims, const std::string& kernel_name) {
    const std::string id = R"("External id": )" + std::to_string(ts);
    const std::string launched = id + R"(, "correlation": )" + std::to_string(9000 + ts);
    return op("aten::cat", ts, 20,
              id + R"(, "Input Dims": )" + dims + R"(, "Input type": ["TensorList", "Scalar"])") +
           "," + launch(ts + 1, launched) + "," + event("kernel", kernel_name, ts * 10, 5, launched, 7);
  };
  const auto works = [&](const std::string& events) {
    const varve::trace t = read(event("user_annotation", "u", 0, 5000) + "," + events);
    std::vector<std::int64_t> out;
    for (const varve::operator_kind& kind : t.operator_kinds) {
      if (kind.shapes != none) {
        EXPECT_EQ(kind.declared.bytes(), kind.declared.activation_bytes);
        EXPECT_EQ(kind.declared.flops, 0);
        out.push_back(kind.declared.activation_bytes);
      }
    }
    return out;
  };
  const std::string name = "void at::native::(anonymous namespace)::CatArrayBatchedCopy";
  const std::string two =
      name + "<at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, 4, 64, 64>(at::native::x*)";
  const std::string four =
      name + "_alignedK_contig<at::native::OpaqueType<4u>, unsigned int, 3, 128, 1, 16>(x)";
  const std::string plain = name + "<float, unsigned int, 2, 128, 1>(float*)";
  const std::string dims = "[[[4, 6], [4, 2], []], []]";  // 24 + 8 elements
  EXPECT_THAT(works(cat(100, dims, two)), ElementsAre(2 * 32 * 2));
  EXPECT_THAT(works(cat(100, dims, four)), ElementsAre(2 * 32 * 4));
  EXPECT_THAT(works(cat(100, dims, plain)), ElementsAre(2 * 32 * 4));
  // Sizes tell kinds apart; of one kind, 2 and 4 bytes are not known, nor what other kernels copy.
  EXPECT_THAT(works(cat(100, dims, two) + "," + cat(200, "[[[1, 3], [1, 4]], []]", four)),
              ElementsAre(2 * 32 * 2, 2 * 7 * 4));
  EXPECT_THAT(works(cat(100, dims, two) + "," + cat(200, dims, four) + "," + cat(300, dims, two)),
              ElementsAre(0));
  EXPECT_THAT(works(cat(100, dims, "my_copy")), ElementsAre(0));
  EXPECT_THAT(works(cat(100, dims, name + "<at::native::OpaqueType<u>, int>()")), ElementsAre(0));
  EXPECT_THAT(works(cat(100, dims, name)), ElementsAre(0));
  EXPECT_THAT(works(cat(100, "[[[4611686018427387904, 4]], []]", two)), ElementsAre(0));
  EXPECT_THAT(works(cat(100, R"([[[-1, 4]], []])", two)), ElementsAre(0));
  // One that runs as a copy into each part is told by these.
  EXPECT_THAT(works(cat(100, dims, "my_copy") + "," +
                    op("aten::copy_", 105, 2,
                       R"("Input Dims": [[4, 6], [4, 6]], "Input type": ["float", "c10::Half"])")),
              ElementsAre(0, 24 * (4 + 2)));
}

TEST_F(operators_test, of_several_kinds_are_entries_of_their_own) {
  // A roof is the sum over operators: mm (64 FLOPs) apart from bmm. What computes nothing is one.
  const std::string bmm = R"("Input Dims": [[2, 2, 2], [2, 2, 2]], "Input type": ["float", "float"])";
  const std::string add = R"("Input Dims": [[8], [8], []], "Input type": ["float", "float", "Scalar"])";
  const std::string copy = R"("Input Dims": [[8], [8], []], "Input type": ["float", "float", "Scalar"])";
  const varve::trace t =
      read(event("user_annotation", "u", 0, 99) + "," + mm(1, 2) + "," + op("aten::bmm", 4, 1, bmm) + "," +
           op("aten::copy_", 6, 1, copy) + "," + mm(8, 2) + "," + op("aten::fill_", 12, 1, copy) + "," +
           op("aten::add", 14, 1, add) + "," + op("aten::bmm", 16, 1, bmm));
  std::vector<varve::work> works;
  for (const varve::range_work& w : t.works) {
    works.push_back(w.declared);
  }
  // bmm: 2 · 2·2·2·2 = 32 FLOPs, 3 · 8 elements of 4 bytes. copy_: 64 bytes, fill_: 32, add: 3 · 32.
  EXPECT_THAT(works, ElementsAre(varve::work{128, 64, 0, 192}, varve::work{64, 0, 0, 192},
                                 varve::work{0, 0, 0, 192}));
}

TEST_F(operators_test, a_report_says_how_much_of_the_time_has_known_work) {
  // Of 5 + 5 µs of kernels one was launched in mm.
  const std::string args = R"("correlation": 1, "External id": 3)";
  const std::string product =
      op("aten::mm", 1, 9,
         R"("External id": 3, "Input Dims": [[4, 2], [2, 4]], "Input type": ["float", "float"])");
  const varve::trace t = read(product + "," + launch(2, args) + "," + kernel(50, args) + "," +
                              launch(20, R"("correlation": 2)") + "," + kernel(60, R"("correlation": 2)"));
  EXPECT_EQ(varve::analyze(t).operators.work_share, 0.5);
}

TEST_F(operators_test, a_row_says_how_long_ran_what_no_shape_tells) {
  // "u" launches kernels of 5 µs in mm and of 5 µs in my::block: its rate is a lower bound, its intensity
  // unknown.
  const std::string in_mm = R"("correlation": 1, "External id": 3)";
  const std::string in_block = R"("correlation": 2, "External id": 4)";
  const std::string product =
      op("aten::mm", 1, 9,
         R"("External id": 3, "Input Dims": [[4, 2], [2, 4]], "Input type": ["float", "float"])");
  const std::string both = event("user_annotation", "u", 0, 30) + "," + product + "," + launch(2, in_mm) +
                           "," + kernel(50, in_mm) + "," + op("my::block", 20, 9, R"("External id": 4)");
  const std::string unknown = "," + launch(21, in_block) + "," + kernel(60, in_block);
  const varve::report known = varve::analyze(read(both));
  ASSERT_NE(known.find({.label = "u"}), nullptr);
  EXPECT_EQ(known.find({.label = "u"})->inclusive.unknown_work_time, 0);
  EXPECT_EQ(varve::to_table(known).find("≥"), std::string::npos);
  const varve::report partly = varve::analyze(read(both + unknown));
  ASSERT_NE(partly.find({.label = "u"}), nullptr);
  EXPECT_EQ(partly.find({.label = "u"})->inclusive.unknown_work_time, 5000);
  EXPECT_NE(varve::to_table(partly).find("≥"), std::string::npos);
}

}  // namespace

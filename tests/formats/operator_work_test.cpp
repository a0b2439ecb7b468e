// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// FLOPs and bytes of operators from their inputs' sizes and types. docs/metrics.md says what counts.
#include "formats/input_files.hpp"

#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>

namespace varve {
inline namespace v0 {
void PrintTo(const work& w, std::ostream* out) {
  *out << w.flops << " FLOPs, weights " << w.weight_bytes << ", KV " << w.kv_bytes << ", activations "
       << w.activation_bytes;
}
}  // namespace v0
}  // namespace varve

namespace {

using varve::math_pipe;
using varve::work;

class operator_work_test : public input_files {
 protected:
  /// Of a call with these JSON lists; the last may be absent. Without its pipe.
  work work_of(const std::string& name, const std::string& dims, const std::string& types,
               const std::string& values = "") {
    const varve::trace t = read(name, dims, types, values);
    work w = t.operator_kinds.size() == 1 ? t.operator_kinds[0].declared : work{-1, -1, -1, -1};
    w.pipe = math_pipe::unknown;
    return w;
  }
  math_pipe pipe_of(const std::string& name, const std::string& dims, const std::string& types,
                    const std::string& values = "") {
    return read(name, dims, types, values).operator_kinds.at(0).declared.pipe;
  }
  varve::trace read(const std::string& name, const std::string& dims, const std::string& types,
                    const std::string& values = "") {
    std::string args = R"("Input Dims": )" + dims + R"(, "Input type": )" + types;
    args += values.empty() ? "" : R"(, "Concrete Inputs": )" + values;
    return varve::read_pytorch(
        write("t.json", R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": ")" + name +
                            R"(", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {)" + args + "}}]}"));
  }
};

TEST_F(operator_work_test, counts_a_multiply_add_as_two_and_every_operand_once) {
  // A[16,64] · B[64,8]: 2·16·8·64 = 16384 FLOPs. In 2 bytes: B 64·8·2 = 1024 of weights,
  // A 16·64·2 = 2048 and C 16·8·2 = 256 of activations.
  EXPECT_EQ(work_of("aten::mm", "[[16, 64], [64, 8]]", R"(["c10::Half", "c10::Half"])"),
            (work{16384, 1024, 0, 2304}));
  // With a bias of 8: 16 bytes more, and no FLOPs. beta and alpha are numbers.
  EXPECT_EQ(
      work_of("aten::addmm", "[[8], [16, 64], [64, 8], [], []]",
              R"(["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar"])", R"(["", "", "", "1", "1"])"),
      (work{16384, 1040, 0, 2304}));
  // beta = 0: the bias is not read.
  EXPECT_EQ(
      work_of("aten::addmm", "[[8], [16, 64], [64, 8], [], []]",
              R"(["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar"])", R"(["", "", "", "0", "1"])"),
      (work{16384, 1024, 0, 2304}));
}

TEST_F(operator_work_test, says_where_products_run_as_far_as_types_tell) {
  const auto mm = [&](const std::string& type) {
    return pipe_of("aten::mm", "[[4, 2], [2, 4]]", "[\"" + type + "\", \"" + type + "\"]");
  };
  EXPECT_EQ(mm("c10::BFloat16"), math_pipe::bf16_tensor);
  EXPECT_EQ(mm("c10::Half"), math_pipe::fp16_tensor);
  EXPECT_EQ(mm("c10::Float8_e4m3fn"), math_pipe::fp8_tensor);
  EXPECT_EQ(mm("c10::Float4_e2m1fn_x2"), math_pipe::fp4_tensor);
  EXPECT_EQ(mm("signed char"), math_pipe::int8_tensor);
  EXPECT_EQ(mm("float"), math_pipe::unknown);   // as it is, or as TF32
  EXPECT_EQ(mm("double"), math_pipe::unknown);  // on the cores, or on tensor cores
  // What the weights are widened to.
  EXPECT_EQ(pipe_of("_C::awq_gemm", "[[4, 128], [128, 8], [1, 64], [1, 8], []]",
                    R"(["c10::Half", "int", "c10::Half", "int", "Scalar"])"),
            math_pipe::fp16_tensor);
  // The second input, not the result.
  EXPECT_EQ(pipe_of("_C::cutlass_scaled_mm", "[[4, 8], [4, 2], [2, 8], [1], [1], []]",
                    R"(["c10::BFloat16", "signed char", "signed char", "float", "float", ""])"),
            math_pipe::int8_tensor);
  EXPECT_EQ(pipe_of("aten::bmm", "[[3, 4, 5], [3, 5, 6]]", R"(["c10::BFloat16", "c10::BFloat16"])"),
            math_pipe::bf16_tensor);
  const std::string qkv = "[[1, 2, 3, 16], [1, 2, 3, 16], [1, 2, 3, 16], [], [], [], []]";
  EXPECT_EQ(pipe_of("aten::scaled_dot_product_attention", qkv,
                    R"(["c10::Half", "c10::Half", "c10::Half", "", "Scalar", "Scalar", ""])",
                    R"(["", "", "", "", "0.", "False", ""])"),
            math_pipe::fp16_tensor);
  EXPECT_EQ(
      pipe_of("aten::conv1d", "[[1, 2, 8], [4, 2, 3], [], [], [], [], []]",
              R"(["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar"])",
              R"(["", "", "", "[1]", "[0]", "[1]", "1"])"),
      math_pipe::bf16_tensor);
}

TEST_F(operator_work_test, says_no_pipe_of_what_has_no_flops) {
  EXPECT_EQ(pipe_of("aten::add", "[[8], [8], []]", R"(["c10::Half", "c10::Half", "Scalar"])"),
            math_pipe::unknown);
  EXPECT_EQ(pipe_of("aten::copy_", "[[8], [8], []]", R"(["float", "float", "Scalar"])"), math_pipe::unknown);
}

TEST_F(operator_work_test, counts_a_linear_layer_as_the_product_that_it_calls) {
  // [2,8,64] is 16 rows; the weight is [8,64], transposed.
  EXPECT_EQ(
      work_of("aten::linear", "[[2, 8, 64], [8, 64], [8]]", R"(["c10::Half", "c10::Half", "c10::Half"])"),
      (work{16384, 1040, 0, 2304}));
  EXPECT_EQ(work_of("aten::linear", "[[2, 8, 64], [8, 64], []]", R"(["c10::Half", "c10::Half", ""])"),
            (work{16384, 1024, 0, 2304}));
  EXPECT_EQ(work_of("aten::matmul", "[[2, 8, 64], [64, 8]]", R"(["c10::Half", "c10::Half"])"),
            (work{16384, 1024, 0, 2304}));
}

TEST_F(operator_work_test, counts_batched_products_as_of_activations) {
  // 3 × (2·4·6·5 = 240) FLOPs; (3·4·5 + 3·5·6 + 3·4·6) · 4 = 888 bytes.
  EXPECT_EQ(work_of("aten::bmm", "[[3, 4, 5], [3, 5, 6]]", R"(["float", "float"])"), (work{720, 0, 0, 888}));
  // And a [4,6] of 96 bytes, whose additions are no FLOPs.
  EXPECT_EQ(work_of("aten::baddbmm", "[[4, 6], [3, 4, 5], [3, 5, 6], [], []]",
                    R"(["float", "float", "float", "Scalar", "Scalar"])", R"(["", "", "", "1", "1"])"),
            (work{720, 0, 0, 984}));
  // Batches [2,1] and [3] go together as [2,3]: 6 × 240; (2·1·4·5 + 3·5·6 + 6·4·6) · 4 = (40 + 90 + 144) · 4.
  EXPECT_EQ(work_of("aten::matmul", "[[2, 1, 4, 5], [3, 5, 6]]", R"(["float", "float"])"),
            (work{1440, 0, 0, 1096}));
}

TEST_F(operator_work_test, counts_products_of_small_types_with_their_scales) {
  // 8-bit A[16,32], B[32,8], a scale each of 4 bytes that is no tensor of a dimension costs nothing; the
  // result is asked for as bfloat16 (15): 16·8·2 = 256 bytes beside A's 512.
  EXPECT_EQ(
      work_of("aten::_scaled_mm", "[[16, 32], [32, 8], [], [], [], [], [], []]",
              R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "", "", "Scalar", "Scalar"])",
              R"(["", "", "", "", "", "", "15", "False"])"),
      (work{8192, 256, 0, 768}));
  // As float32 (6): 512 bytes. A scale a row (16·4 = 64) and a column (8·4 = 32).
  EXPECT_EQ(
      work_of("aten::_scaled_mm", "[[16, 32], [32, 8], [16, 1], [1, 8], [], [], [], []]",
              R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "", "", "Scalar", "Scalar"])",
              R"(["", "", "", "", "", "", "6", "False"])"),
      (work{8192, 288, 0, 1088}));
  // Before 2.4: bias, type, scales.
  EXPECT_EQ(
      work_of("aten::_scaled_mm", "[[16, 32], [32, 8], [8], [], [], [], [], []]",
              R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "c10::BFloat16", "Scalar", "float", "float", "",
                        "Scalar"])",
              R"(["", "", "", "15", "", "", "", "False"])"),
      (work{8192, 256 + 16, 0, 768}));
  // Two numbers of 4 bits in each byte: twice the FLOPs.
  EXPECT_EQ(
      work_of(
          "aten::_scaled_mm", "[[16, 32], [32, 8], [], [], [], [], [], []]",
          R"(["c10::Float4_e2m1fn_x2", "c10::Float4_e2m1fn_x2", "c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "",
                  "", "Scalar", "Scalar"])",
          R"(["", "", "", "", "", "", "15", "False"])"),
      (work{16384, 256, 0, 768}));
  // Of vLLM, the result first: [16,8] in 2 bytes.
  EXPECT_EQ(work_of("_C::cutlass_scaled_mm", "[[16, 8], [16, 32], [32, 8], [16, 1], [1, 8], []]",
                    R"(["c10::BFloat16", "signed char", "signed char", "float", "float", ""])"),
            (work{8192, 256 + 32, 0, 512 + 256 + 64}));
  // 4-bit weights, eight in an int: kernel [32, 8/8] · 4 = 128 bytes, scales [1,8] · 2 = 16, zeros [1,1] · 4.
  EXPECT_EQ(work_of("_C::awq_gemm", "[[16, 32], [32, 1], [1, 8], [1, 1], []]",
                    R"(["c10::Half", "int", "c10::Half", "int", "Scalar"])"),
            (work{8192, 148, 0, 1024 + 256}));
}

TEST_F(operator_work_test, counts_nothing_of_what_has_a_size_of_zero) {
  // An expert that no token chose: not the 64·8·2 = 1024 bytes of B, since no kernel reads them.
  const std::string half2 = R"(["c10::Half", "c10::Half"])";
  for (const std::string dims :
       {"[[0, 64], [64, 8]]", "[[16, 64], [64, 0]]", "[[16, 0], [0, 8]]", "[[0, 0], [0, 0]]"}) {
    EXPECT_EQ(work_of("aten::mm", dims, half2), work{}) << dims;
    EXPECT_EQ(work_of("aten::matmul", dims, half2), work{}) << dims;
  }
  EXPECT_EQ(work_of("aten::mm", "[[1, 1], [1, 1]]", half2), (work{2, 2, 0, 4}));  // one of each: 3 · 2 bytes
  EXPECT_EQ(
      work_of("aten::linear", "[[2, 0, 64], [8, 64], [8]]", R"(["c10::Half", "c10::Half", "c10::Half"])"),
      work{});
  EXPECT_EQ(work_of("aten::bmm", "[[0, 4, 5], [0, 5, 6]]", half2), work{});
  EXPECT_EQ(work_of("aten::bmm", "[[3, 4, 0], [3, 0, 6]]", half2), work{});
  EXPECT_EQ(
      work_of("aten::_scaled_mm", "[[0, 32], [32, 8], [0, 1], [1, 8], [], [], [], []]",
              R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "", "", "Scalar", "Scalar"])",
              R"(["", "", "", "", "", "", "15", "False"])"),
      work{});
  // No query, whether or not it is causal; a batch of none of a convolution; no id to look up.
  for (const std::string causal : {"False", "True"}) {
    EXPECT_EQ(work_of("aten::scaled_dot_product_attention",
                      "[[2, 4, 0, 8], [2, 4, 3, 8], [2, 4, 3, 8], [], [], [], [], []]",
                      R"(["c10::Half", "c10::Half", "c10::Half", "", "Scalar", "Scalar", "", "Scalar"])",
                      R"(["", "", "", "", "0.", ")" + causal + R"(", "", "False"])"),
              work{})
        << causal;
  }
  EXPECT_EQ(
      work_of(
          "aten::conv1d", "[[0, 2, 8], [4, 2, 3], [4], [], [], [], []]",
          R"(["c10::Half", "c10::Half", "c10::Half", "ScalarList", "ScalarList", "ScalarList", "Scalar"])",
          R"(["", "", "", "[1]", "[0]", "[1]", "1"])"),
      work{});
  const std::string ids = R"(["c10::Half", "long int", "Scalar", "Scalar", "Scalar"])";
  EXPECT_EQ(work_of("aten::embedding", "[[1000, 8], [0], [], [], []]", ids), work{});
  EXPECT_EQ(work_of("aten::embedding", "[[1000, 0], [3], [], [], []]", ids), work{});
}

TEST_F(operator_work_test, counts_the_pairs_that_attention_looks_at) {
  const std::string qkv = "[[2, 4, 3, 8], [2, 4, 3, 8], [2, 4, 3, 8], [], [], [], [], []]";
  const std::string types =
      R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "Scalar", "Scalar", "", "Scalar"])";
  // 2·4 heads, 3·3 pairs, 2·(8 + 8) FLOPs each: 8·9·32 = 2304. k and v 2 · 192 · 2 bytes; q and the result
  // too.
  EXPECT_EQ(work_of("aten::scaled_dot_product_attention", qkv, types,
                    R"(["", "", "", "", "0.", "False", "", "False"])"),
            (work{2304, 0, 768, 768}));
  // Causal: 1 + 2 + 3 = 6 pairs.
  EXPECT_EQ(work_of("aten::scaled_dot_product_attention", qkv, types,
                    R"(["", "", "", "", "0.", "True", "", "False"])"),
            (work{1536, 0, 768, 768}));
  // Not recorded whether it is causal.
  EXPECT_EQ(work_of("aten::scaled_dot_product_attention", qkv, types), work{});
  EXPECT_EQ(work_of("aten::_scaled_dot_product_flash_attention",
                    "[[2, 4, 3, 8], [2, 4, 3, 8], [2, 4, 3, 8], [], [], [], []]",
                    R"(["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar", "Scalar", "Scalar"])",
                    R"(["", "", "", "0.", "True", "False", ""])"),
            (work{1536, 0, 768, 768}));
  // A mask of [3,3] in 4 bytes is read.
  EXPECT_EQ(
      work_of("aten::_scaled_dot_product_efficient_attention",
              "[[2, 4, 3, 8], [2, 4, 3, 8], [2, 4, 3, 8], [3, 3], [], [], [], []]",
              R"(["c10::Half", "c10::Half", "c10::Half", "float", "Scalar", "Scalar", "Scalar", "Scalar"])",
              R"(["", "", "", "", "False", "0.", "False", ""])"),
      (work{2304, 0, 768, 768 + 36}));
  // cuDNN's with a mask's place, and as it was before 2.5, without.
  EXPECT_EQ(
      work_of("aten::_scaled_dot_product_cudnn_attention",
              "[[2, 4, 3, 8], [2, 4, 3, 8], [2, 4, 3, 8], [], [], [], [], [], []]",
              R"(["c10::Half", "c10::Half", "c10::Half", "", "Scalar", "Scalar", "Scalar", "Scalar", ""])",
              R"(["", "", "", "", "False", "0.", "True", "False", ""])"),
      (work{1536, 0, 768, 768}));
  EXPECT_EQ(work_of("aten::_scaled_dot_product_cudnn_attention",
                    "[[2, 4, 3, 8], [2, 4, 3, 8], [2, 4, 3, 8], [], [], [], []]",
                    R"(["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar", "Scalar", ""])",
                    R"(["", "", "", "0.", "True", "False", ""])"),
            (work{1536, 0, 768, 768}));
}

TEST_F(operator_work_test, counts_grouped_and_offset_attention) {
  // [batch, length, heads, size]: one query of 4 heads against 5 keys of 2 heads that end where it does:
  // 4 · 5 · 2·16 = 640. k and v 5·2·8·2 bytes each, q and the result 4·8·2 each.
  const std::string dims = "[[1, 1, 4, 8], [1, 5, 2, 8], [1, 5, 2, 8], [], [], [], [], [], [], [], []]";
  const std::string types =
      R"(["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "",
          "Scalar"])";
  EXPECT_EQ(work_of("flash_attn::_flash_attn_forward", dims, types,
                    R"(["", "", "", "0.", "0.5", "True", "-1", "-1", "0.", "", "False"])"),
            (work{640, 0, 320, 128}));
  // A window of the last 2 keys: how many pairs is not worked out.
  EXPECT_EQ(work_of("flash_attn::_flash_attn_forward", dims, types,
                    R"(["", "", "", "0.", "0.5", "True", "2", "0", "0.", "", "False"])"),
            work{});
  // Where causal attention of unequal lengths ends differs from version to version.
  EXPECT_EQ(work_of("aten::scaled_dot_product_attention",
                    "[[1, 4, 1, 8], [1, 4, 5, 8], [1, 4, 5, 8], [], [], [], [], []]",
                    R"(["c10::Half", "c10::Half", "c10::Half", "", "Scalar", "Scalar", "", "Scalar"])",
                    R"(["", "", "", "", "0.", "True", "", "False"])"),
            work{});
}

TEST_F(operator_work_test, counts_convolutions) {
  // x[2,3,8,8], w[4,3,3,3], stride 2, padding 1: ⌊(8 + 2 − 2 − 1) ÷ 2⌋ + 1 = 4. Result 2·4·4·4 = 128
  // elements, each of 3·3·3 = 27 multiply-adds: 128·54 = 6912. Weights, the bias among them, (108 +
  // 4)·4 = 448, x 384·4 + result 128·4 = 2048.
  const std::string dims = "[[2, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [], [], [], []]";
  const std::string types = R"(["float", "float", "float", "", "", "", "Scalar", "", "Scalar"])";
  EXPECT_EQ(work_of("aten::convolution", dims, types,
                    R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"])"),
            (work{6912, 448, 0, 2048}));
  EXPECT_EQ(work_of("aten::conv2d", "[[2, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [], []]",
                    R"(["float", "float", "float", "", "", "", "Scalar"])",
                    R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "1"])"),
            (work{6912, 448, 0, 2048}));
  // Of cuDNN: padding, stride, dilation, and no bias.
  EXPECT_EQ(work_of("aten::cudnn_convolution", "[[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], []]",
                    R"(["float", "float", "", "", "", "Scalar"])",
                    R"(["", "", "[1, 1]", "[2, 2]", "[1, 1]", "1"])"),
            (work{6912, 432, 0, 2048}));
  // Transposed, a padding in words, a kernel larger than its input, absurd numbers: not known.
  EXPECT_EQ(work_of("aten::convolution", dims, types,
                    R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1"])"),
            work{});
  EXPECT_EQ(work_of("aten::conv2d", dims, types, R"(["", "", "", "[2, 2]", "", "[1, 1]", "1"])"), work{});
  EXPECT_EQ(work_of("aten::conv2d", dims, types, R"(["", "", "", "[1, 1]", "[0, 0]", "[9, 9]", "1"])"),
            work{});
  for (const std::string bad : {"[0, 0]", "[-1, 1]", "[]", "x"}) {
    EXPECT_EQ(
        work_of("aten::conv2d", dims, types, R"(["", "", "", ")" + bad + R"(", "[1, 1]", "[1, 1]", "1"])"),
        work{})
        << bad;
  }
  const std::string huge = "[9223372036854775807, 9223372036854775807]";
  EXPECT_EQ(
      work_of("aten::conv2d", dims, types, R"(["", "", "", "[1, 1]", ")" + huge + R"(", "[1, 1]", "1"])"),
      work{});
  EXPECT_EQ(
      work_of("aten::conv2d", dims, types, R"(["", "", "", "[1, 1]", "[1, 1]", ")" + huge + R"(", "1"])"),
      work{});
}

TEST_F(operator_work_test, counts_transposed_convolutions_by_their_input) {
  // [2,4,3,3], filters [4,1,3,3] in 2 groups, stride 2, padding 1, 1 more at the end: (3 − 1)·2 − 2 + 2 + 1 +
  // 1 = 6 along each dimension, 2·2·6·6 = 144 results of 1·2 channels. Each of 72 elements of the input meets
  // 9 of a filter: 2·72·9 = 1296 FLOPs, with a bias too. In 4 bytes: weights 144 and 8, 288 + 576 of
  // activations.
  const std::string dims = "[[2, 4, 3, 3], [4, 1, 3, 3], [2], [], [], [], [], []]";
  const std::string types = R"(["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar",
                                "ScalarList"])";
  EXPECT_EQ(work_of("aten::conv_transpose2d", dims, types,
                    R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "2", "[1, 1]"])"),
            (work{1296, 152, 0, 864}));
  const std::string general = "[[2, 4, 3, 3], [4, 1, 3, 3], [], [], [], [], [], [], []]";
  const std::string general_types =
      R"(["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar",
                                        "ScalarList", "Scalar"])";
  EXPECT_EQ(work_of("aten::convolution", general, general_types,
                    R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[1, 1]", "2"])"),
            (work{1296, 144, 0, 864}));
  EXPECT_EQ(work_of("aten::cudnn_convolution_transpose", "[[2, 4, 3, 3], [4, 1, 3, 3], [], [], [], [], []]",
                    R"(["float", "float", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar"])",
                    R"(["", "", "[1, 1]", "[1, 1]", "[2, 2]", "[1, 1]", "2"])"),
            (work{1296, 144, 0, 864}));
  // Another number of channels, absurd numbers, more padding than there is.
  EXPECT_EQ(work_of("aten::conv_transpose2d", "[[2, 3, 3, 3], [4, 1, 3, 3], [2], [], [], [], [], []]", types,
                    R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "2", "[1, 1]"])"),
            work{});
  for (const char* const values :
       {R"(["", "", "", "[2, 2]", "[9, 9]", "[1, 1]", "2", "[1, 1]"])",
        R"(["", "", "", "[0, 0]", "[1, 1]", "[1, 1]", "2", "[1, 1]"])",
        R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "-2", "[1, 1]"])",
        R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "[2, 2]", "[1, 1]"])",
        R"(["", "", "", "[9223372036854775807, 1]", "[1, 1]", "[1, 1]", "2", "[1, 1]"])"}) {
    EXPECT_EQ(work_of("aten::conv_transpose2d", dims, types, values), work{}) << values;
  }
}

TEST_F(operator_work_test, counts_what_goes_element_by_element) {
  // No FLOPs, as of a described model. [4,1] and [8] go together as [4,8]: (4 + 8 + 32)·2 bytes.
  EXPECT_EQ(work_of("aten::add", "[[4, 1], [8], []]", R"(["c10::Half", "c10::Half", "Scalar"])"),
            (work{0, 0, 0, 88}));
  // The result has the wider type: 4 bytes. 8·2 + 8·4 + 8·4.
  EXPECT_EQ(work_of("aten::mul", "[[8], [8]]", R"(["c10::Half", "float"])"), (work{0, 0, 0, 80}));
  // Floating before whole, whatever their sizes: 8·8 + 8·2 + 8·2.
  EXPECT_EQ(work_of("aten::mul", "[[8], [8]]", R"(["long int", "c10::Half"])"), (work{0, 0, 0, 96}));
  // A number of Python's, shown as a tensor of no dimension, costs nothing and widens nothing.
  EXPECT_EQ(work_of("aten::mul", "[[8], []]", R"(["c10::Half", "double"])"), (work{0, 0, 0, 32}));
  // In place: the result is the first input's again.
  EXPECT_EQ(work_of("aten::mul_", "[[8], [8]]", R"(["c10::Half", "float"])"), (work{0, 0, 0, 64}));
  EXPECT_EQ(work_of("aten::eq", "[[8], [8]]", R"(["long", "long"])"), (work{0, 0, 0, 136}));
  EXPECT_EQ(work_of("aten::silu", "[[8]]", R"(["float"])"), (work{0, 0, 0, 64}));
  EXPECT_EQ(work_of("aten::silu.out", "[[8], [8]]", R"(["float", "float"])"), (work{0, 0, 0, 64}));
  EXPECT_EQ(work_of("aten::sum", "[[8], [], [], []]", R"(["float", "", "Scalar", ""])"), (work{0, 0, 0, 32}));
  EXPECT_EQ(work_of("aten::add", "[[4], [8], []]", R"(["float", "float", "Scalar"])"), work{});
}

TEST_F(operator_work_test, counts_what_chooses_and_blends_element_by_element) {
  // 8 truth values, 8 of 2 bytes, a number, a result of 8 of 2 bytes: 8 + 16 + 16.
  EXPECT_EQ(work_of("aten::where", "[[8], [8], []]", R"(["bool", "c10::Half", "Scalar"])"),
            (work{0, 0, 0, 40}));
  // [4,1], [8] and [1,8] go together as [4,8]: 4 + 8·4 + 8·2 + 32·4.
  EXPECT_EQ(work_of("aten::where", "[[4, 1], [8], [1, 8]]", R"(["bool", "float", "c10::Half"])"),
            (work{0, 0, 0, 180}));
  EXPECT_EQ(work_of("aten::where", "[[4], [8], [8]]", R"(["bool", "float", "float"])"), work{});
  EXPECT_EQ(work_of("aten::where", "[[8]]", R"(["bool"])"), work{});  // indices: who knows how many
  // 8·2 + 8 + 8·2.
  EXPECT_EQ(work_of("aten::masked_fill_", "[[8], [8], []]", R"(["c10::Half", "bool", "Scalar"])"),
            (work{0, 0, 0, 40}));
  // a + value·b·c: 3·32 + 32 bytes.
  EXPECT_EQ(work_of("aten::addcmul", "[[8], [8], [8], []]", R"(["float", "float", "float", "Scalar"])"),
            (work{0, 0, 0, 128}));
  // a + w·(b − a): 2·32 + 32.
  EXPECT_EQ(work_of("aten::lerp", "[[8], [8], []]", R"(["float", "float", "Scalar"])"), (work{0, 0, 0, 96}));
  EXPECT_EQ(work_of("aten::bitwise_and", "[[8], [8]]", R"(["int", "int"])"), (work{0, 0, 0, 96}));
  EXPECT_EQ(work_of("aten::bitwise_or_", "[[8], [8]]", R"(["bool", "bool"])"), (work{0, 0, 0, 24}));
  EXPECT_EQ(work_of("aten::bitwise_not", "[[8]]", R"(["int"])"), (work{0, 0, 0, 64}));
  EXPECT_EQ(work_of("aten::logical_not", "[[8]]", R"(["float"])"), (work{0, 0, 0, 40}));
}

TEST_F(operator_work_test, counts_what_moves_more_than_it_computes) {
  // Into 8 of 4 bytes from 8 of 2.
  EXPECT_EQ(work_of("aten::copy_", "[[8], [8], []]", R"(["float", "c10::Half", "Scalar"])"),
            (work{0, 0, 0, 48}));
  EXPECT_EQ(work_of("aten::fill_", "[[8], []]", R"(["float", "Scalar"])"), (work{0, 0, 0, 32}));
  // 3 rows of 8 of a table of 1000, each read and written, and 3 ids of 8 bytes.
  EXPECT_EQ(work_of("aten::embedding", "[[1000, 8], [3], [], [], []]",
                    R"(["c10::Half", "long int", "Scalar", "Scalar", "Scalar"])"),
            (work{0, 48, 0, 72}));
  EXPECT_EQ(work_of("aten::native_layer_norm", "[[4, 8], [], [8], [8], []]",
                    R"(["float", "", "float", "float", "Scalar"])"),
            (work{0, 64, 0, 256}));
  EXPECT_EQ(work_of("aten::_softmax", "[[4, 8], [], []]", R"(["float", "Scalar", "Scalar"])"),
            (work{0, 0, 0, 256}));
  EXPECT_EQ(work_of("_C::rms_norm", "[[4, 8], [4, 8], [8], []]",
                    R"(["c10::Half", "c10::Half", "c10::Half", "Scalar"])"),
            (work{0, 16, 0, 128}));
  // Input and residual read and written: 4 · 64.
  EXPECT_EQ(work_of("_C::fused_add_rms_norm", "[[4, 8], [4, 8], [8], []]",
                    R"(["c10::Half", "c10::Half", "c10::Half", "Scalar"])"),
            (work{0, 16, 0, 256}));
  EXPECT_EQ(work_of("_C::silu_and_mul", "[[4, 8], [4, 16]]", R"(["c10::Half", "c10::Half"])"),
            (work{0, 0, 0, 192}));
  EXPECT_EQ(work_of("_C::static_scaled_fp8_quant", "[[4, 8], [4, 8], [1]]",
                    R"(["c10::Float8_e4m3fn", "c10::Half", "float"])"),
            (work{0, 0, 0, 96}));
  // q [4,16] and k [4,8] read and written, 2·(128 + 64); 4 positions of 8 bytes, 4 rows of 8·2 bytes of a
  // table.
  EXPECT_EQ(work_of("_C::rotary_embedding", "[[4], [4, 16], [4, 8], [], [4096, 8], []]",
                    R"(["long int", "c10::Half", "c10::Half", "Scalar", "c10::Half", "Scalar"])"),
            (work{0, 0, 0, 384 + 32 + 64}));
  // Keys and values of 4·2·8 each: read in 2 bytes, written in the cache's 1; its 1000 blocks are of no
  // matter.
  EXPECT_EQ(
      work_of(
          "_C_cache_ops::reshape_and_cache_flash",
          "[[4, 2, 8], [4, 2, 8], [1000, 16, 2, 8], [1000, 16, 2, 8], [4], [], [], []]",
          R"(["c10::Half", "c10::Half", "unsigned char", "unsigned char", "long int", "", "float", "float"])"),
      (work{0, 0, 128, 256}));
}

TEST_F(operator_work_test, knows_nothing_where_inputs_do_not_fit) {
  const std::string half2 = R"(["c10::Half", "c10::Half"])";
  EXPECT_EQ(work_of("aten::mm", "[[16, 64], [63, 8]]", half2), work{});
  EXPECT_EQ(work_of("aten::mm", "[[16, 64]]", half2), work{});
  EXPECT_EQ(work_of("aten::mm", "[]", "[]"), work{});
  EXPECT_EQ(work_of("aten::mm", "[[16, 64], [64, 8]]", R"(["c10::Half", "an unknown type"])"), work{});
  EXPECT_EQ(work_of("aten::mm", "[[16, 64], [64, 8]]", "[]"), work{});
  EXPECT_EQ(work_of("aten::not_known", "[[16, 64], [64, 8]]", half2), work{});
  EXPECT_EQ(work_of("mm", "[[16, 64], [64, 8]]", half2), work{});
  // 2^62 and more, which would overflow with a few of them.
  EXPECT_EQ(work_of("aten::mm", "[[2147483648, 2147483648], [2147483648, 2]]", half2), work{});
  EXPECT_EQ(work_of("aten::mm", "[[9223372036854775807, 1], [1, 1]]", half2), work{});
  EXPECT_EQ(work_of("aten::silu", "[[4611686018427387903]]", R"(["bool"])"), work{});
}

TEST_F(operator_work_test, counts_sizes_that_no_product_has) {
  const std::string half2 = R"(["c10::Half", "c10::Half"])";
  const auto lost = [&](const std::string& name, const std::string& dims, const std::string& types) {
    const varve::trace t = read(name, dims, types);
    EXPECT_EQ(t.operator_kinds.at(0).declared, work{}) << dims;
    return t.losses.empty() ? std::string{}
                            : std::to_string(t.losses.size()) + ' ' + std::to_string(t.losses[0].count) +
                                  ' ' + t.losses[0].what;
  };
  const std::string unfit =
      "1 1 kinds of operators whose inputs' sizes do not fit each other, or make 4e18 FLOPs or bytes: their "
      "work "
      "is unknown";
  // 64 meets 63; 2 · 2^40 · 2^40 · 2^40 FLOPs; 2^62 elements of one matrix.
  EXPECT_EQ(lost("aten::mm", "[[16, 64], [63, 8]]", half2), unfit);
  EXPECT_EQ(lost("aten::linear", "[[16, 64], [8, 63], []]", R"(["c10::Half", "c10::Half", ""])"), unfit);
  EXPECT_EQ(lost("aten::bmm", "[[3, 4, 5], [2, 5, 6]]", half2), unfit);
  EXPECT_EQ(lost("aten::matmul", "[[3, 4, 5], [3, 4, 6]]", half2), unfit);
  EXPECT_EQ(lost("aten::mm", "[[1099511627776, 1099511627776], [1099511627776, 1099511627776]]", half2),
            unfit);
  EXPECT_EQ(lost("aten::silu", "[[4611686018427387904]]", R"(["bool"])"), unfit);
  // Vectors are left to the operators inside; of unknown types and operators nothing is said.
  EXPECT_EQ(lost("aten::matmul", "[[64], [64]]", half2), "");
  EXPECT_EQ(lost("aten::mm", "[[16, 64], [63, 8]]", R"(["c10::Half", "an unknown type"])"), "");
  EXPECT_EQ(lost("aten::mm", "[[16, 64], [64, 8]]", "[]"), "");
  EXPECT_EQ(lost("aten::not_known", "[[16, 64], [63, 8]]", half2), "");
  EXPECT_EQ(lost("aten::mm", "[[0, 64], [64, 8]]", half2), "");
}

TEST_F(operator_work_test, counts_invalid_lists_of_inputs) {
  const std::string half2 = R"(["c10::Half", "c10::Half"])";
  for (const std::string bad :
       {"[[16, 64], [64, -8]]", "[[16, 64], [64, 1.5]]", "[[16, 64], 8]", "[[16, 64], \"a\"]", "7", "\"x\"",
        "[[16, 64], [64, 99999999999999999999]]", "[null, [64, 8]]", "[{}, [64, 8]]"}) {
    const varve::trace t = read("aten::mm", bad, half2);
    ASSERT_EQ(t.losses.size(), 1U) << bad;
    EXPECT_EQ(t.losses[0].what,
              "kinds of operators whose inputs' shapes or types are invalid: taken as unknown");
    EXPECT_EQ(t.operator_kinds.at(0).shapes, varve::none) << bad;
    EXPECT_EQ(t.operator_kinds.at(0).declared, work{}) << bad;
  }
  // More than 1024 inputs or 64 dimensions.
  std::string many = "[[1]";
  for (int i = 0; i < 1024; ++i) {
    many += ", [1]";
  }
  EXPECT_EQ(read("aten::mm", many + "]", half2).losses.size(), 1U);
  std::string deep = "[[1";
  for (int i = 0; i < 64; ++i) {
    deep += ", 1";
  }
  EXPECT_EQ(read("aten::mm", deep + "]]", half2).losses.size(), 1U);
}

TEST_F(operator_work_test, takes_shapes_under_the_key_of_pytorch_1_8) {
  // 2·16·8·64 = 16384 FLOPs; 64·8·4 = 2048 bytes of weights, (16·64 + 16·8)·4 = 4608 of activations.
  for (const char* const dims : {"[[16, 64], [64, 8]]", R"("[[16, 64], [64, 8]]")"}) {
    const varve::trace t = varve::read_pytorch(write(
        "t.json", std::string{R"([{"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 1, "tid": "1",
            "ts": 1, "dur": 2, "args": {"Input dims": )"} +
                      dims + R"(, "Input type": ["float", "float"]}}])"));
    ASSERT_EQ(t.operator_kinds.size(), 1U) << dims;
    EXPECT_EQ(t.strings[t.operator_kinds[0].shapes], "[[16, 64], [64, 8]]");
    EXPECT_EQ(t.operator_kinds[0].declared, (work{16384, 2048, 0, 4608})) << dims;
  }
  // Types as a text of Python's are not known; the shapes are.
  const varve::trace t = read("aten::mm", "[[16, 64], [64, 8]]", R"x("('float',)")x");
  EXPECT_EQ(t.strings[t.operator_kinds.at(0).shapes], "[[16, 64], [64, 8]]");
  EXPECT_EQ(t.operator_kinds[0].declared, work{});
}

TEST_F(operator_work_test, writes_shapes_in_one_form) {
  const auto shapes = [&](const std::string& dims) {
    const varve::trace t = read("aten::cat", dims, R"(["TensorList", "Scalar"])");
    EXPECT_THAT(t.losses, testing::IsEmpty()) << dims;
    return std::string{t.strings[t.operator_kinds.at(0).shapes]};
  };
  EXPECT_EQ(shapes("[[16,64],[]]"), "[[16, 64], []]");
  EXPECT_EQ(shapes("[ [ 16 , 64 ] ,\n [ ] ]"), "[[16, 64], []]");
  // A list of tensors is told by no sizes, as key_averages() does.
  EXPECT_EQ(shapes("[[[1, 2], [3, 4]], []]"), "[[], []]");
  EXPECT_EQ(shapes("[]"), "");
}

}  // namespace

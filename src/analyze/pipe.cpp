// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the names of kernels say about the unit that multiplies. Where a name has a grammar it is read by it,
// other names by what they hold. A name that leaves factors or accumulator open says nothing.
#include <varve/report.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {

namespace {

using words = std::vector<std::string_view>;

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Runs of letters and digits.
words split(std::string_view name) {
  words out;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i == name.size() || (!is_digit(name[i]) && (name[i] < 'a' || name[i] > 'z'))) {
      if (i > begin) {
        out.push_back(name.substr(begin, i - begin));
      }
      begin = i + 1;
    }
  }
  return out;
}

bool holds(std::string_view name, std::string_view text) noexcept {
  return name.find(text) != std::string_view::npos;
}

bool begins(std::string_view word, std::string_view text) noexcept {
  return word.substr(0, text.size()) == text;
}

std::string_view at(const words& all, std::size_t i) noexcept {
  return i < all.size() ? all[i] : std::string_view{};
}

enum class number : std::uint8_t { none, f64, f32, tf32, bf16, f16, f8, f4, i32, i8, i4 };

struct named_number {
  std::string_view text;
  number type;
};

constexpr std::array numbers{
    named_number{"tf32", number::tf32}, named_number{"bf16", number::bf16}, named_number{"fp16", number::f16},
    named_number{"f16", number::f16},   named_number{"fp32", number::f32},  named_number{"f32", number::f32},
    named_number{"f64", number::f64},   named_number{"e4m3", number::f8},   named_number{"e5m2", number::f8},
    named_number{"e2m1", number::f4},   named_number{"int8", number::i8},   named_number{"i32", number::i32},
    named_number{"s32", number::i32},   named_number{"i8", number::i8},     named_number{"s8", number::i8},
    named_number{"u8", number::i8},     named_number{"i4", number::i4},     named_number{"s4", number::i4},
    named_number{"u4", number::i4}};

/// The type that a word is; of "ue4m3xe2m1", numbers with a scale a block, the last one.
number number_of(std::string_view word) noexcept {
  if (begins(word, "ue") && word.size() > 4) {
    word = word.substr(word.size() - 4);
  }
  const auto* const found =
      std::find_if(numbers.begin(), numbers.end(), [&](const named_number& n) { return n.text == word; });
  return found != numbers.end() ? found->type : number::none;
}

math_pipe tensor_pipe(number factors) noexcept {
  switch (factors) {
    case number::tf32:
      return math_pipe::tf32_tensor;
    case number::bf16:
      return math_pipe::bf16_tensor;
    case number::f16:
      return math_pipe::fp16_tensor;
    case number::f8:
      return math_pipe::fp8_tensor;
    case number::f4:
      return math_pipe::fp4_tensor;
    case number::i8:
      return math_pipe::int8_tensor;
    default:
      return math_pipe::unknown;
  }
}

using said = std::optional<math_pipe>;

/// cuBLAS, cuDNN and CUTLASS: "s16816gemm" is an accumulator, here FP32, and the shape of one instruction;
/// the factors' type stands between them and the operation, behind it or before it. CUTLASS' profiler
/// documents it ("s1688tf32gemm", "h884gemm", "i8816gemm_s8"); cuBLAS has kept to it since Volta
/// ("volta_fp16_s884gemm_fp16_…", "ampere_h16816gemm_…", "turing_fp16_s1688cudnn_fp16_…").
said instruction_in(const words& all, std::size_t i, std::string_view name) {
  constexpr std::string_view operations[] = {"gemm",  "cudnn", "fprop", "dgrad", "wgrad",
                                             "dconv", "symm",  "syrk",  "trmm"};
  const std::string_view word = all[i];
  const std::size_t end = std::min(word.find_first_not_of("0123456789x", 1), word.size());
  if (end < 4 || !is_digit(word[1])) {
    return std::nullopt;
  }
  const std::string_view shape = word.substr(1, end - 1);
  const std::string_view rest = word.substr(end);
  const auto* const operation =
      std::find_if(std::begin(operations), std::end(operations), [&](std::string_view o) {
        return rest.size() >= o.size() && rest.substr(rest.size() - o.size()) == o;
      });
  if (operation == std::end(operations)) {
    return std::nullopt;
  }
  const std::string_view between = rest.substr(0, rest.size() - operation->size());
  number factors = number_of(between);
  if (!between.empty() && (factors == number::none || factors == number::f32)) {
    return math_pipe::unknown;  // of single bits, or FP32 put together from several products
  }
  for (std::size_t k = i + 1; k < std::min(i + 5, all.size()) && !is_digit(all[k][0]); ++k) {
    factors = factors == number::none ? number_of(all[k]) : factors;
  }
  factors = factors == number::none && i > 0 ? number_of(all[i - 1]) : factors;
  const bool by_sizes = holds(shape, "x");
  switch (word[0]) {
    case 'h':
      return math_pipe::fp16_tensor_fp16;
    case 'd':
      return math_pipe::fp64_tensor;
    case 'i':
      return factors == number::i4 || shape == "8832" || shape == "16864" ? math_pipe::unknown
                                                                          : math_pipe::int8_tensor;
    case 's':
      if (factors != number::none && factors != number::f32) {
        return tensor_pipe(factors);
      }
      // Volta and Turing have FP16 only; the other instruction of Ampere with this shape is TF32's.
      return shape == "884" || (shape == "1688" && (holds(name, "turing_") || holds(name, "_75_")))
                 ? math_pipe::fp16_tensor
             : shape == "1688" || shape == "1684" || (by_sizes && factors == number::f32)
                 ? math_pipe::tf32_tensor
                 : math_pipe::unknown;
    default:
      return std::nullopt;
  }
}

/// cuBLAS and TensorRT, "sm80_xmma_gemm_f16f16_f16f32_f32_…": A and C, then B, as it is multiplied, and the
/// accumulator ("f32f32_tf32f32_f32", "e4m3bf16_e4m3f32_f32", "i8f32_i8i32_f32").
said xmma(const words& all, std::size_t i, std::string_view name) {
  const auto both = [](std::string_view word, number& first, number& second) {
    for (const named_number& n : numbers) {
      if (begins(word, n.text) && (second = number_of(word.substr(n.text.size()))) != number::none) {
        first = n.type;
        return true;
      }
    }
    return false;
  };
  number factors = number::none;
  number sum = number::none;
  for (std::size_t k = i + 1; k < all.size(); ++k) {
    if (both(all[k], factors, sum)) {
      if (!both(at(all, k + 1), factors, sum)) {
        break;
      }
      return holds(name, "dp4a")      ? math_pipe::int8_dp4a
             : holds(name, "ffma")    ? math_pipe::fp32
             : factors == number::f32 ? math_pipe::fp32
             : factors == number::f64
                 ? (holds(name, "tensor8x8x4") ? math_pipe::fp64_tensor : math_pipe::unknown)
             : factors == number::f16 && sum == number::f16 ? math_pipe::fp16_tensor_fp16
                                                            : tensor_pipe(factors);
    }
  }
  return math_pipe::unknown;
}

/// cuBLASLt since CUDA 12, "nvjet_tst_…": letters for A (and B and C where there are five), accumulator,
/// result: h FP16, t BF16, s FP32, q E4M3, r E5M2, o E2M1. So do traces of products of known types.
said nvjet(const words& all, std::size_t i) {
  const std::size_t at_types = i + (begins(at(all, i + 1), "sm") ? 2 : 1);
  const std::string_view types = at(all, at_types);
  if (types.size() != 3 && types.size() != 5) {
    return math_pipe::unknown;
  }
  const char sum = types[types.size() - 2];
  switch (types[0]) {
    case 't':
      return math_pipe::bf16_tensor;
    case 'h':
      return sum == 'h' ? math_pipe::fp16_tensor_fp16 : math_pipe::fp16_tensor;
    case 'q':
    case 'r':
      return math_pipe::fp8_tensor;
    case 'o':
      return math_pipe::fp4_tensor;
    case 's':
      return at(all, at_types + 1) == "tf32" ? math_pipe::tf32_tensor : math_pipe::unknown;
    default:
      return math_pipe::unknown;
  }
}

/// TensorRT-LLM's generated products, "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_…": result, A and B, accumulator. The
/// wider factor decides: E2M1 beside E4M3 runs as FP8 does, and beside BF16 it is widened. CUTLASS 3 without
/// an instruction's shape, "cutlass3x_sm90_tensorop_gemm_f16_f16_f32_…": A, B, accumulator.
said typed_product(const words& all, std::size_t i) {
  const std::string_view factors = at(all, i + 2);
  if (at(all, i + 3) == "fp32") {
    return holds(factors, "bfloat16")                         ? said{math_pipe::bf16_tensor}
           : holds(factors, "fp16")                           ? said{math_pipe::fp16_tensor}
           : holds(factors, "e4m3") || holds(factors, "e5m2") ? said{math_pipe::fp8_tensor}
           : holds(factors, "e2m1")                           ? said{math_pipe::fp4_tensor}
                                                              : std::nullopt;
  }
  const number a = number_of(at(all, i + 1));
  const number sum = number_of(at(all, i + 3));
  if (i == 0 || all[i - 1] != "tensorop" || a == number::none || sum == number::none) {
    return std::nullopt;
  }
  return a == number::f16 && sum == number::f16 ? math_pipe::fp16_tensor_fp16
         : a == number::f32                     ? math_pipe::tf32_tensor
                                                : tensor_pipe(a);
}

said by_grammar(std::string_view name) {
  const words all = split(name);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view word = all[i];
    const said s = word == "xmma"                     ? xmma(all, i, name)
                   : word == "nvjet"                  ? nvjet(all, i)
                   : word == "bmm" || word == "gemm"  ? typed_product(all, i)
                   : holds("shdi", word.substr(0, 1)) ? instruction_in(all, i, name)
                                                      : std::nullopt;
    if (s) {
      return s;
    }
    // Products on the cores, as BLAS names them: "ampere_sgemm_…", "volta_scudnn_…",
    // "cutlass_80_simt_sgemm_…".
    if (begins(word.substr(1), "gemm") || begins(word.substr(1), "cudnn")) {
      switch (word[0]) {
        case 's':
        case 'c':
          return math_pipe::fp32;
        case 'd':
        case 'z':
          return math_pipe::fp64;
        case 'h':
          return math_pipe::fp16;
        case 'i':
          return math_pipe::int8_dp4a;
        default:
          break;
      }
    }
  }
  return std::nullopt;
}

/// A name that holds both texts. Nothing is said where a rule has no pipe: it keeps a name from later rules.
struct rule {
  std::string_view text;  ///< in lower case, as the name is then
  std::string_view also{};
  math_pipe pipe = math_pipe::unknown;
  bool by_factor = false;  ///< on tensor cores, by the first type behind `text`
};

constexpr math_pipe fp32 = math_pipe::fp32;
constexpr math_pipe fp16 = math_pipe::fp16;
constexpr math_pipe fp16_tensor = math_pipe::fp16_tensor;
constexpr math_pipe bf16_tensor = math_pipe::bf16_tensor;
constexpr math_pipe fp8_tensor = math_pipe::fp8_tensor;
constexpr math_pipe fp4_tensor = math_pipe::fp4_tensor;
constexpr math_pipe int8_tensor = math_pipe::int8_tensor;

constexpr rule factor(std::string_view text, std::string_view also = {}) noexcept {
  return {text, also, math_pipe::unknown, true};
}

constexpr std::array rules{
    // CuTe's atoms in CUTLASS' template arguments (include/cute/arch/mma_sm*.hpp): accumulator, A, B.
    rule{"f32bf16bf16", {}, bf16_tensor},
    rule{"f32f16f16", {}, fp16_tensor},
    rule{"f16f16f16", {}, math_pipe::fp16_tensor_fp16},
    rule{"f32tf32tf32", {}, math_pipe::tf32_tensor},
    rule{"f32e4m3", {}, fp8_tensor},
    rule{"f32e5m2", {}, fp8_tensor},
    rule{"s32s8s8", {}, int8_tensor},
    rule{"s32u8u8", {}, int8_tensor},
    rule{"f64f64f64", {}, math_pipe::fp64_tensor},
    rule{"mma_mxf4", {}, fp4_tensor},
    rule{"f8f6f4", {}, fp8_tensor},
    rule{"mma_tf32", {}, math_pipe::tf32_tensor},
    rule{"mma_s8", {}, int8_tensor},

    // What is around the products of attention: softmax statistics put together on the cores.
    rule{"flash", "combine", fp32},
    // FlashAttention 2 and 3: the element type is a template argument of the traits (csrc/flash_attn,
    // hopper/).
    factor("flash_fwd"),
    factor("flash_bwd"),
    factor("flashattnfwd"),
    factor("flashattnbwd"),
    // PyTorch's memory-efficient attention (aten/src/ATen/native/transformers/cuda/mem_eff_attention): the
    // type is in the name; those of sm50 multiply on the cores, in FP32 tensor cores may or may not be used.
    rule{"fmha_cutlass", "_sm50"},
    factor("fmha_cutlass"),
    // FlashInfer (include/flashinfer/attention): prefill by mma.sync in the queries' type, which stands
    // first; decode on the cores, in FP32.
    factor("prefillwith", "kvcache"),
    rule{"decodewith", "kvcache", fp32},
    factor("batchmlapagedattention"),
    // vLLM (csrc/attention): products of vectors, summed in FP32.
    rule{"paged_attention_v1_kernel", {}, fp32},
    rule{"paged_attention_v2_kernel", {}, fp32},
    // TensorRT-LLM: fmha_v2_flash_attention_fp16_fp32_…: type and, where it is named, accumulator.
    // Generated ones: fmhaSm100aKernel_QkvE4m3OBfloat16…, the queries first.
    rule{"fmha_v2", "_bf16", bf16_tensor},
    rule{"fmha_v2", "_e4m3", fp8_tensor},
    rule{"fmha_v2", "_fp16_fp32", fp16_tensor},
    factor("fmhasm"),

    // DeepGEMM (deep_gemm/include/deep_gemm/impls): sm90_fp8_gemm_1d2d_impl, fp8_paged_mqa_logits.
    rule{"deep_gemm::", "fp8_", fp8_tensor},
    rule{"deep_gemm::", "bf16_", bf16_tensor},
    rule{"deep_gemm::", "tf32_", math_pipe::tf32_tensor},

    // Marlin: weights are widened to the activations' type and summed in FP32. Since 2024 types are numbers
    // (csrc/core/scalar_type.hpp: exponent + 2^8 · mantissa + 2^16 if signed + 2^50 as IEEE has its NaNs):
    // BF16 8 + 2^8 · 7 + 2^16 + 2^50, FP16 5 + 2^8 · 10 + 2^16 + 2^50. The first ones knew FP16 only, and
    // begin with the number of threads.
    rule{"marlin<1125899906909960", {}, bf16_tensor},
    rule{"marlin<(long)1125899906909960", {}, bf16_tensor},
    rule{"marlin<1125899906910725", {}, fp16_tensor},
    rule{"marlin<(long)1125899906910725", {}, fp16_tensor},
    rule{"marlin<256,", {}, fp16_tensor},
    rule{"marlin<(int)256,", {}, fp16_tensor},
    factor("marlin<"),
    // AWQ (awq_cuda/quantization): mma.sync of FP16 into FP32. ExLlama's GPTQ: pairs on the cores.
    rule{"gemm_forward_4bit", {}, fp16_tensor},
    rule{"gemmv2_forward_4bit", {}, fp16_tensor},
    rule{"gemm_half_q_half", {}, fp16},
    // llama.cpp (ggml-cuda): vectors by dp4a; matrices on tensor cores since Turing, by dp4a before, when
    // the device has no INT8 rate of tensor cores either.
    rule{"mul_mat_q_stream_k_fixup", {}, fp32},
    rule{"mul_mat_vec_q", {}, math_pipe::int8_dp4a},
    rule{"mul_mat_q", {}, int8_tensor},
    rule{"flash_attn_vec_ext_f32", {}, fp32},
    rule{"flash_attn_tile_ext_f32", {}, fp32},
    rule{"flash_attn_vec_ext_f16", {}, fp16},
    rule{"flash_attn_tile_ext_f16", {}, fp16},

    // CUTLASS by its template arguments, where no atom tells more: A's type is the first.
    rule{"mmasimt"},
    factor("moefcgemm"),
    rule{"gemmuniversal", "signed char", int8_tensor},
    rule{"gemmuniversal", "int8_t", int8_tensor},
    factor("gemmuniversal"),

    // cuBLAS' products with vectors, or with thin matrices, and its sums over split products: on the cores.
    rule{"gemv", "float", fp32},
    rule{"gemv", "double", math_pipe::fp64},
    rule{"gemmk1", "float", fp32},
    rule{"gemmsn", "float", fp32},
    rule{"dot_kernel", "float", fp32},
    rule{"splitkreduce", "float", fp32},
    rule{"splitk_reduce", "float", fp32},

    // Products of which the name does not say more, though it may name what is fused with them.
    rule{"triton_tem"},
    rule{"gemm"},
    rule{"matmul"},
    rule{"_mm_"},
    rule{"attn"},
    rule{"attention"},
    rule{"conv"},
    rule{"moe"},
    rule{"nccl"},

    // PyTorch, vLLM, FlashInfer, TensorRT-LLM, llama.cpp, Triton: element by element, and sums, in FP32.
    rule{"elementwise", "double", math_pipe::fp64},
    rule{"reduce_kernel", "double", math_pipe::fp64},
    rule{"norm", "double", math_pipe::fp64},
    rule{"softmax", "double", math_pipe::fp64},
    rule{"elementwise", {}, fp32},
    rule{"reduce_kernel", {}, fp32},
    rule{"norm", {}, fp32},
    rule{"softmax", {}, fp32},
    rule{"soft_max", {}, fp32},
    rule{"silu", {}, fp32},
    rule{"gelu", {}, fp32},
    rule{"act_and_mul", {}, fp32},
    rule{"rotary", {}, fp32},
    rule{"k_bin_bcast", {}, fp32},
    rule{"unary_op_kernel", {}, fp32},
    rule{"triton_poi_", {}, fp32},
    rule{"triton_red_", {}, fp32},
    rule{"triton_per_", {}, fp32},
};

/// By the first type from `from` on.
math_pipe first_factor(std::string_view name, std::size_t from) noexcept {
  constexpr named_number types[] = {{"bfloat16", number::bf16}, {"bf16", number::bf16}, {"half", number::f16},
                                    {"fp16", number::f16},      {"f16", number::f16},   {"e4m3", number::f8},
                                    {"e5m2", number::f8}};
  std::size_t first = std::string_view::npos;
  number type = number::none;
  for (const named_number& t : types) {
    const std::size_t found = name.find(t.text, from);
    if (found < first) {
      first = found;
      type = t.type;
    }
  }
  return tensor_pipe(type);
}

}  // namespace

math_pipe pipe_of_kernel(std::string_view kernel_name) {
  std::string name{kernel_name};
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (const said s = by_grammar(name)) {
    return *s;
  }
  for (const rule& r : rules) {
    const std::size_t found = name.find(r.text);
    if (found != std::string::npos && holds(name, r.also)) {
      return r.by_factor ? first_factor(name, found) : r.pipe;
    }
  }
  return math_pipe::unknown;
}

}  // namespace v0
}  // namespace varve

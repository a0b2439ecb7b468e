// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Formulas for the work of common operators. Conventions (docs/work.md says more):
// a multiply-add is two FLOPs (Kaplan et al. 2020, "Scaling laws for neural language models", table 1); FLOPs
// are those of matrix products, so what goes element by element has bytes alone; each operand is read once
// and each result written once. Sizes that are 0 or negative give no work; sums and products beyond 63 bits
// stop at the largest number.
#ifndef VARVE_WORK_FORMULAS_HPP
#define VARVE_WORK_FORMULAS_HPP

#include <varve/work.hpp>

#include <cstdint>

namespace varve {
inline namespace v0 {

/// The pipe of a product whose factors have these types: of 16 bits or fewer on tensor cores, and where the
/// types differ that of the wider, which the narrower is widened to. f32 is fp32 (say tf32 where that is
/// allowed). Unknown for f64, which has tensor cores on some devices only, for two 4-bit integers, and where
/// integers meet narrow floating-point numbers that they cannot be widened to.
constexpr math_pipe pipe_of(dtype a, dtype b) noexcept {
  const dtype wider = bits(a) >= bits(b) ? a : b;
  const bool same = a == b;
  switch (wider) {
    case dtype::f32:
      return math_pipe::fp32;
    case dtype::tf32:
      return math_pipe::tf32_tensor;
    case dtype::bf16:
      return math_pipe::bf16_tensor;
    case dtype::f16:
      return math_pipe::fp16_tensor;
    case dtype::fp8:
      return math_pipe::fp8_tensor;
    case dtype::int8:
      return same || a == dtype::int4 || b == dtype::int4 ? math_pipe::int8_tensor : math_pipe::unknown;
    case dtype::fp4:
      return same ? math_pipe::fp4_tensor : math_pipe::unknown;
    case dtype::f64:
    case dtype::int4:
      break;
  }
  return math_pipe::unknown;
}

/// How a matrix of weights lies in memory: its type and, where it is quantised, scales and zero points, one
/// for each `group` weights along k and `columns` along n.
struct weight_format {
  dtype type = dtype::bf16;
  std::int64_t group = 0;       ///< 0: all of k
  std::int64_t columns = 0;     ///< 0: all of n
  std::int64_t scale_bits = 0;  ///< of one scale
  std::int64_t zero_bits = 0;   ///< of one zero point

  constexpr weight_format() noexcept = default;
  /// A type alone is a format.
  constexpr weight_format(dtype t) noexcept : type{t} {}  // NOLINT(google-explicit-constructor)
  constexpr weight_format(dtype t, std::int64_t along_k, std::int64_t along_n, std::int64_t scale,
                          std::int64_t zero = 0) noexcept
      : type{t}, group{along_k}, columns{along_n}, scale_bits{scale}, zero_bits{zero} {}
};

constexpr bool operator==(const weight_format& a, const weight_format& b) noexcept {
  return a.type == b.type && a.group == b.group && a.columns == b.columns && a.scale_bits == b.scale_bits &&
         a.zero_bits == b.zero_bits;
}
constexpr bool operator!=(const weight_format& a, const weight_format& b) noexcept { return !(a == b); }

/// Bytes of n · k weights: bits of the weights + ⌈k ÷ group⌉ · ⌈n ÷ columns⌉ · (bits of a scale and a zero
/// point). 4096 · 4096 as AWQ stores them, {int4, 128, 1, 16, 4}: 8,388,608 + 32·4096·20/8 = 327,680,
/// together 8,716,288.
constexpr std::int64_t bytes_of(std::int64_t n, std::int64_t k, const weight_format& format) noexcept {
  const std::int64_t along_k = format.group > 0 ? sizes::quotient(k, format.group) : (k > 0 ? 1 : 0);
  const std::int64_t along_n = format.columns > 0 ? sizes::quotient(n, format.columns) : (n > 0 ? 1 : 0);
  return sizes::sum(
      bytes_of(sizes::product(n, k), format.type),
      sizes::quotient(sizes::product(along_k, along_n, sizes::sum(format.scale_bits, format.zero_bits)), 8));
}

/// C[m,n] = A[m,k] · B[k,n] where B holds weights: 2·m·n·k FLOPs; B is read once as weights, A is read and C
/// written once as activations. gemm(16, 4096, 4096, f16): 2·16·4096·4096 = 536,870,912 FLOPs,
/// 4096·4096·2 = 33,554,432 weight bytes, (16·4096 + 16·4096)·2 = 262,144 activation bytes.
constexpr work gemm(std::int64_t m, std::int64_t n, std::int64_t k, const weight_format& weights,
                    dtype activations, dtype result) noexcept {
  work out;
  out.flops = sizes::product(2, m, n, k);
  out.weight_bytes = m > 0 ? bytes_of(n, k, weights) : 0;
  out.activation_bytes = n > 0 && k > 0 ? sizes::sum(bytes_of(sizes::product(m, k), activations),
                                                     bytes_of(sizes::product(m, n), result))
                                        : 0;
  out.pipe = pipe_of(weights.type, activations);
  return out;
}
constexpr work gemm(std::int64_t m, std::int64_t n, std::int64_t k, const weight_format& weights,
                    dtype activations) noexcept {
  return gemm(m, n, k, weights, activations, activations);
}
constexpr work gemm(std::int64_t m, std::int64_t n, std::int64_t k, dtype type) noexcept {
  return gemm(m, n, k, type, type, type);
}

/// `batch` products C[m,n] = A[m,k] · B[k,n], none of whose factors is a weight: 2·batch·m·n·k FLOPs.
/// batched_gemm(32, 1, 128, 1024, f16, f16, f16): 2·32·128·1024 = 8,388,608 FLOPs and
/// 32·(1024 + 1024·128 + 128)·2 = 8,462,336 activation bytes.
constexpr work batched_gemm(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, dtype a,
                            dtype b, dtype c) noexcept {
  work out;
  out.flops = sizes::product(2, batch, m, sizes::product(n, k));
  out.activation_bytes = sizes::sum(
      bytes_of(sizes::product(batch, m, k), a),
      sizes::sum(bytes_of(sizes::product(batch, k, n), b), bytes_of(sizes::product(batch, m, n), c)));
  out.pipe = pipe_of(a, b);
  return out;
}

/// How many keys all new tokens of a sequence attend to together, causally: token i of n, the newest of which
/// attends to `context` keys, itself among them, to min(context − n + i, window). `window` 0: none.
/// A prompt of S: S·(S + 1)/2, 2048 gives 2,098,176. A decoded token: min(context, window).
/// (Kaplan et al. count half of S·S, most calculators S·S: attended_square.)
constexpr std::int64_t attended_keys(std::int64_t tokens, std::int64_t context,
                                     std::int64_t window = 0) noexcept {
  if (tokens <= 0 || context < tokens) {
    return 0;
  }
  const std::int64_t most = window > 0 && window < context ? window : context;
  const std::int64_t first = context - tokens + 1;  // keys of the first new token
  if (first >= most) {
    return sizes::product(tokens, most);
  }
  const std::int64_t growing = most - first;  // tokens before the first one that sees `most`
  // Of `growing` and first + most − 1 one is even: either both ends of the run or its length.
  const std::int64_t ends = sizes::sum(first, most - 1);
  const std::int64_t half =
      growing % 2 == 0 ? sizes::product(growing / 2, ends) : sizes::product(growing, ends / 2);
  return sizes::sum(half, sizes::product(tokens - growing, most));
}
/// The same where the whole rectangle is computed, masked or not, as other tools count: tokens · context.
constexpr std::int64_t attended_square(std::int64_t tokens, std::int64_t context) noexcept {
  return sizes::product(tokens, context);
}

/// How many of a sequence's keys its new tokens need at all: min(context, tokens − 1 + window).
/// 1 token with context 4096 and window 128: 128.
constexpr std::int64_t needed_keys(std::int64_t tokens, std::int64_t context,
                                   std::int64_t window = 0) noexcept {
  if (tokens <= 0 || context < tokens) {
    return 0;
  }
  const std::int64_t seen = sizes::sum(tokens - 1, window);
  return window > 0 && seen < context ? seen : context;
}

/// Heads of one attention layer, and elements of one head's key and value.
struct attention_heads {
  std::int64_t queries = 1;
  std::int64_t keys = 1;  ///< key and value heads: fewer than of queries in grouped-query attention
  std::int64_t key_width = 128;
  std::int64_t value_width = 128;
};

/// Attention of one sequence over its cache: 2·h·(dk + dv)·(attended keys) FLOPs, where query heads count.
/// Keys and values that are needed are read once each, not once for every query head; the scores are never
/// stored (FlashAttention, Dao et al. 2022). A paged cache moves the same bytes. New keys and values are the
/// projection's to write: kv_write(). Llama 3 8B, {32, 8, 128, 128}, 1 token, context 1024, f16:
/// 2·32·256·1024 = 16,777,216 FLOPs, 1024·8·256·2 = 4,194,304 KV bytes, 2·32·128·2 = 16,384 activation bytes.
constexpr work attention(const attention_heads& heads, std::int64_t tokens, std::int64_t context,
                         std::int64_t window, dtype type, dtype cache) noexcept {
  work out;
  const std::int64_t width = sizes::sum(heads.key_width, heads.value_width);
  out.flops = sizes::product(2, heads.queries, width, attended_keys(tokens, context, window));
  out.kv_bytes = bytes_of(sizes::product(needed_keys(tokens, context, window), heads.keys, width), cache);
  out.activation_bytes = bytes_of(sizes::product(tokens, heads.queries, width), type);
  out.pipe = pipe_of(type, cache);
  return out;
}
constexpr work attention(const attention_heads& heads, std::int64_t tokens, std::int64_t context,
                         dtype type) noexcept {
  return attention(heads, tokens, context, 0, type, type);
}

/// Writing the keys and values of new tokens: tokens · heads · (dk + dv) elements. {32, 8, 128, 128}, 1
/// token, f16: 8·256·2 = 4,096 KV bytes.
constexpr work kv_write(const attention_heads& heads, std::int64_t tokens, dtype cache) noexcept {
  work out;
  out.kv_bytes =
      bytes_of(sizes::product(tokens, heads.keys, sizes::sum(heads.key_width, heads.value_width)), cache);
  return out;
}

/// Latent attention (DeepSeek-V2, 2024) in its absorbed form, as decoding runs it: every query head scores
/// against one shared latent and its rotary part, 2·h·(2·latent + rotary)·(attended keys) FLOPs, and the
/// latent is read once for scores and values. h = 128, latent 512, rotary 64, 1 token, context 1024, f16:
/// 2·128·1088·1024 = 285,212,672 FLOPs, 1024·576·2 = 1,179,648 KV bytes.
constexpr work latent_attention(std::int64_t heads, std::int64_t latent, std::int64_t rotary,
                                std::int64_t tokens, std::int64_t context, dtype type, dtype cache) noexcept {
  work out = attention({heads, 1, sizes::sum(latent, rotary), latent}, tokens, context, 0, type, cache);
  out.kv_bytes = bytes_of(sizes::product(needed_keys(tokens, context), sizes::sum(latent, rotary)), cache);
  return out;
}

/// RMSNorm, or with `vectors` 2 LayerNorm, which has a bias besides its scale: each element is read and
/// written, the vectors are weights. norm(16, 4096, f16): 2·16·4096·2 = 262,144 activation bytes, 8,192
/// weight bytes.
constexpr work norm(std::int64_t tokens, std::int64_t width, dtype type, std::int64_t vectors = 1) noexcept {
  work out;
  out.weight_bytes = tokens > 0 ? bytes_of(sizes::product(vectors, width), type) : 0;
  out.activation_bytes = bytes_of(sizes::product(2, tokens, width), type);
  return out;
}

/// ReLU, GELU and their like, element by element: read and written. activation(16, 8192, f16):
/// 2·16·8192·2 = 524,288 bytes.
constexpr work activation(std::int64_t tokens, std::int64_t width, dtype type) noexcept {
  work out;
  out.activation_bytes = bytes_of(sizes::product(2, tokens, width), type);
  return out;
}
/// act(gate) · up (SwiGLU, GeGLU): two read, one written. gated_activation(16, 14336, f16):
/// 3·16·14336·2 = 1,376,256 bytes.
constexpr work gated_activation(std::int64_t tokens, std::int64_t width, dtype type) noexcept {
  work out;
  out.activation_bytes = bytes_of(sizes::product(3, tokens, width), type);
  return out;
}

/// The sum of `inputs` tensors. residual(16, 4096, f16): 3·16·4096·2 = 393,216 bytes.
constexpr work residual(std::int64_t tokens, std::int64_t width, dtype type,
                        std::int64_t inputs = 2) noexcept {
  work out;
  out.activation_bytes = bytes_of(sizes::product(sizes::sum(inputs, 1), tokens, width), type);
  return out;
}

/// Rotary embedding in a kernel of its own, in place: each rotated element of queries and keys is read and
/// written. rope(16, 40, 128, f16): 2·16·40·128·2 = 327,680 bytes. (Work of a model counts it as part of the
/// projection: free.)
constexpr work rope(std::int64_t tokens, std::int64_t heads, std::int64_t rotary_width, dtype type) noexcept {
  work out;
  out.activation_bytes = bytes_of(sizes::product(2, tokens, heads, rotary_width), type);
  return out;
}

/// Rows looked up in a table of weights and written. embedding(16, 4096, f16): 131,072 weight bytes and as
/// many of activations; twice the tokens look up as many rows again.
constexpr work embedding(std::int64_t tokens, std::int64_t width, dtype table, dtype type) noexcept {
  work out;
  out.weight_bytes = bytes_of(sizes::product(tokens, width), table);
  out.activation_bytes = bytes_of(sizes::product(tokens, width), type);
  out.doubled_bytes = out.weight_bytes;
  return out;
}
constexpr work embedding(std::int64_t tokens, std::int64_t width, dtype type) noexcept {
  return embedding(tokens, width, type, type);
}

/// Softmax in a kernel of its own: scores read, probabilities written. softmax(512, 1024, f16):
/// 2·512·1024·2 = 2,097,152 bytes.
constexpr work softmax(std::int64_t rows, std::int64_t columns, dtype type) noexcept {
  return activation(rows, columns, type);
}

/// Choosing a token from the logits of each sequence: they are read once, and an index of 4 bytes is written.
/// sampling(16, 128256, f32): 16·128256·4 + 16·4 = 8,208,448 bytes.
constexpr work sampling(std::int64_t sequences, std::int64_t vocabulary, dtype logits) noexcept {
  work out;
  out.activation_bytes =
      sizes::sum(bytes_of(sizes::product(sequences, vocabulary), logits), sizes::product(sequences, 4));
  return out;
}

/// Odds that an expert is left out by all of `tokens`, each of which takes it with odds of `taken`.
constexpr double untouched_odds(double taken, std::int64_t tokens) noexcept {
  double out = 1;  // (1 − taken)^tokens by squaring
  double power = 1 - taken;
  for (std::int64_t left = tokens; left > 0; left /= 2, power *= power) {
    out *= left % 2 != 0 ? power : 1;
  }
  return out;
}

/// How many of `experts` are touched when each of `tokens` takes `chosen` of them, all equally likely and
/// independent of each other: E·(1 − (1 − k/E)^T). 8 experts, 2 a token, 16 tokens: 8·(1 − 0.75^16) = 7.9198.
/// At least k, in all cases at most min(T·k, E).
constexpr double expected_experts(std::int64_t experts, std::int64_t chosen, std::int64_t tokens) noexcept {
  if (experts <= 0 || chosen <= 0 || tokens <= 0) {
    return 0;
  }
  if (chosen >= experts) {
    return static_cast<double>(experts);
  }
  const double taken = static_cast<double>(chosen) / static_cast<double>(experts);
  return static_cast<double>(experts) * (1 - untouched_odds(taken, tokens));
}

/// What least_experts() takes a token's odds of an expert to be at least, as a share of k ÷ E, whatever the
/// tokens before it took and whichever others it leaves out: routers are not even
/// (docs/adr/0008-fewest-experts.md).
inline constexpr double rarest_expert = 0.1;

/// Fewer than these are touched with odds of one in a million at most: the largest n with
/// C(E, u)·(1 − share·k/E)^(T·u) ≤ 10⁻⁶ for u = E − n + 1 untouched ones, and never fewer than k. 128
/// experts, 8 a token, 4096 tokens: 128·(1 − 0.1·8/128)^4096 = 9.0e-10, so all 128; 64 tokens: 11; one: 8.
/// k for a `share` of 0, and for more than 4096 experts.
constexpr std::int64_t least_experts(std::int64_t experts, std::int64_t chosen, std::int64_t tokens,
                                     double share = rarest_expert) noexcept {
  constexpr std::int64_t most = 4096;
  constexpr double doubted = 1e-6;
  if (experts <= 0 || chosen <= 0 || tokens <= 0) {
    return 0;
  }
  if (chosen >= experts) {
    return experts;
  }
  if (experts > most || !(share > 0)) {
    return chosen;
  }
  const double taken = static_cast<double>(chosen) / static_cast<double>(experts);
  const double untouched = untouched_odds((share < 1 ? share : 1) * taken, tokens);
  double odds = 1;
  for (std::int64_t u = 1; u <= experts - chosen; ++u) {
    odds *= untouched * static_cast<double>(experts - u + 1) / static_cast<double>(u);
    if (odds <= doubted) {
      return experts - u + 1;
    }
  }
  return chosen;
}

/// Choosing experts: a product of width · experts. router(16, 2048, 128, bf16): 2·16·2048·128 = 8,388,608
/// FLOPs.
constexpr work router(std::int64_t tokens, std::int64_t width, std::int64_t experts, dtype type) noexcept {
  return gemm(tokens, experts, width, type);
}

/// Bytes that are expected to be read of `experts` matrices of `each` bytes, rounded to whole bytes.
constexpr std::int64_t expected_bytes(std::int64_t experts, std::int64_t chosen, std::int64_t tokens,
                                      std::int64_t each) noexcept {
  const double expected = expected_experts(experts, chosen, tokens) * static_cast<double>(each);
  const bool fits = expected < 9.2e18;
  const std::int64_t least = tokens > 0 ? sizes::product(chosen < experts ? chosen : experts, each) : 0;
  const std::int64_t picks = sizes::product(tokens, chosen);
  const std::int64_t most = sizes::product(picks < experts ? picks : experts, each);
  std::int64_t read = fits ? static_cast<std::int64_t>(expected) : sizes::most;
  read += fits && expected - static_cast<double>(read) >= 0.5 ? 1 : 0;
  return read < least ? least : read > most ? most : read;  // what rounding of doubles may have moved
}

/// Bytes that are read of `experts` matrices of `each` bytes: the expected ones as weight_bytes, how far
/// fewer (least_experts()) or more (no two tokens shared one) bytes may be, and what twice the tokens would
/// add. An engine that knows which experts were touched adds their bytes to weight_bytes itself.
constexpr void read_experts(work& out, std::int64_t experts, std::int64_t chosen, std::int64_t tokens,
                            std::int64_t each, double share = rarest_expert) noexcept {
  const std::int64_t picks = sizes::product(tokens, chosen);
  const std::int64_t most = sizes::product(picks < experts ? picks : experts, each);
  const std::int64_t read = expected_bytes(experts, chosen, tokens, each);
  const std::int64_t least = sizes::product(least_experts(experts, chosen, tokens, share), each);
  const std::int64_t twice = expected_bytes(experts, chosen, sizes::sum(tokens, tokens), each);
  out.weight_bytes = sizes::sum(out.weight_bytes, read);
  out.bytes_below = sizes::sum(out.bytes_below, read > least ? read - least : 0);
  out.bytes_above = sizes::sum(out.bytes_above, most - read);
  out.doubled_bytes = sizes::sum(out.doubled_bytes, twice - read);
}

/// A product with the chosen experts' matrices, n · k each: every token's row takes part `chosen` times.
/// expert_gemm(16, 28672, 4096, 8, 2, f16, f16): 2·16·2·28672·4096 = 7,516,192,768 FLOPs; 234,881,024 bytes a
/// matrix, of which 7.9198 are read, 2 at least and 8 at most.
constexpr work expert_gemm(std::int64_t tokens, std::int64_t n, std::int64_t k, std::int64_t experts,
                           std::int64_t chosen, const weight_format& weights, dtype activations,
                           double share = rarest_expert) noexcept {
  work out = gemm(sizes::product(tokens, chosen), n, k, weights, activations);
  out.weight_bytes = 0;
  read_experts(out, experts, chosen, tokens, bytes_of(n, k, weights), share);
  return out;
}

enum class collective_kind : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast };

/// Bytes that each of `ranks` sends over its links for a message of `bytes`, which is the larger of what a
/// rank gives and gets, in the best of cases: all-reduce 2·(n − 1)/n, all-gather, reduce-scatter and
/// all-to-all (n − 1)/n, broadcast 1 (nccl-tests, doc/PERFORMANCE.md: "bus bandwidth").
/// link_bytes(all_reduce, 8192, 8): 2·7·8192/8 = 14,336.
constexpr std::int64_t link_bytes(collective_kind kind, std::int64_t bytes, std::int64_t ranks) noexcept {
  if (ranks <= 1 || bytes <= 0) {
    return 0;
  }
  if (kind == collective_kind::broadcast) {
    return bytes;
  }
  const std::int64_t others = bytes - bytes / ranks;
  return kind == collective_kind::all_reduce ? sizes::product(2, others) : others;
}

}  // namespace v0
}  // namespace varve

#endif  // VARVE_WORK_FORMULAS_HPP

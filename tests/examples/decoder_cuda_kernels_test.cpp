// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The CUDA back end's kernels, run on the host thread by thread (emulated_cuda.hpp): each against double,
// with the bound of its rounding errors as tolerance, then the whole model. A GPU adds cuBLAS and its own
// rounding of exponentials.
#include "emulated_backend.hpp"

#include "cpu_backend.hpp"
#include "one_sequence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

namespace {

using decoder::head_shape;
using decoder::id_list;
using decoder::kv_cache;
using decoder::tensor;
using emulated::order;

/// Of a type of p binary digits: rounding is wrong by 2⁻ᵖ at most, relatively, and below its normal numbers
/// by half of the smallest one, absolutely.
template <class T>
struct rounding;
template <>
struct rounding<float> {
  static constexpr double relative = 0x1p-24;
  static constexpr double absolute = 0x1p-150;
};
template <>
struct rounding<__half> {
  static constexpr double relative = 0x1p-11;
  static constexpr double absolute = 0x1p-25;
};
template <>
struct rounding<__nv_bfloat16> {
  static constexpr double relative = 0x1p-8;
  static constexpr double absolute = 0x1p-134;
};

/// What a result in T may be wrong by: it is rounded once, after `in_float` roundings of the same magnitude.
template <class T>
double tolerance(double value, double in_float) {
  return std::abs(value) * (rounding<T>::relative + in_float * reference::roundoff) + rounding<T>::absolute;
}

template <class T>
class cuda_kernels : public testing::Test {
 public:
  using number = T;
  tensor random(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
    return filled(rows, columns, reference::random_floats(static_cast<std::size_t>(rows * columns), seed));
  }
  tensor filled(std::int64_t rows, std::int64_t columns, const std::vector<float>& values) {
    const tensor t = memory_.numbers(rows, columns);
    stream_.upload(t, values.data());
    return t;
  }
  id_list ids(const std::vector<std::int32_t>& values) {
    const id_list l = memory_.ids(static_cast<std::int64_t>(values.size()));
    stream_.upload(l, values.data());
    return l;
  }
  std::vector<float> floats(tensor t) {
    std::vector<float> out(static_cast<std::size_t>(t.rows * t.columns));
    stream_.download(out.data(), t);
    return out;
  }
  reference::matrix exact(tensor t) {
    return reference::to_matrix(floats(t), static_cast<std::size_t>(t.columns));
  }
  std::vector<std::int32_t> numbers(id_list l) {
    const auto* const data = static_cast<const std::int32_t*>(l.data);
    return {data, data + l.size};
  }
  void TearDown() override { EXPECT_TRUE(memory_.whole()) << "something was written beyond its end"; }

  std::uint64_t fault_ = 0;
  emulated::memory<T> memory_;
  emulated::stream<T> stream_{fault_};
};

using types = testing::Types<float, __half, __nv_bfloat16>;
struct type_names {
  template <class T>
  // NOLINTNEXTLINE(readability-identifier-naming): as GoogleTest names it
  static std::string GetName(int /*index*/) {
    return sizeof(T) == 4 ? "f32" : rounding<T>::relative < 0x1p-10 ? "f16" : "bf16";
  }
};
TYPED_TEST_SUITE(cuda_kernels, types, type_names);

// The mean of n squares is wrong by n roundings in float, of which the root keeps half; four operations
// follow.
TYPED_TEST(cuda_kernels, rms_norm_equals_double_for_odd_and_even_widths) {
  for (const std::int64_t n : {1, 2, 67, 344, 2056}) {
    const tensor x = this->random(3, n, 4);
    const tensor weight = this->random(1, n, 5);
    const tensor out = this->memory_.numbers(3, n);
    this->stream_.rms_norm(out, x, weight, 1e-5F);
    for (std::size_t r = 0; r < 3; ++r) {
      const auto expected =
          reference::rms_norm(this->exact(x)[r], this->exact(weight).front(), static_cast<double>(1e-5F));
      const auto result = this->exact(out)[r];
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(result[i], expected[i], tolerance<TypeParam>(expected[i], static_cast<double>(n) / 2 + 4))
            << "n = " << n;
      }
    }
  }
}

// Sine and cosine, their products and the sum: three roundings in float of at most |a| + |b| ≤ 2.
TYPED_TEST(cuda_kernels, rope_turns_the_pairs_of_each_head_by_their_positions) {
  for (const std::int64_t size : {2, 10, 128, 256}) {
    const std::vector<std::int32_t> positions{0, 1, 5, 4000};
    const tensor x = this->random(4, 3 * size, 7);
    const auto before = this->exact(x);
    this->stream_.rope(x, this->ids(positions), size, 10000.0F);
    const auto after = this->exact(x);
    EXPECT_EQ(after[0], before[0]);
    for (std::size_t r = 0; r < positions.size(); ++r) {
      const auto expected = reference::rope(before[r], positions[r], static_cast<std::size_t>(size), 10000.0);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(after[r][i], expected[i], tolerance<TypeParam>(expected[i], 0) + 6 * reference::roundoff);
      }
    }
  }
}

TYPED_TEST(cuda_kernels, rope_refuses_heads_that_its_table_does_not_hold) {
  const tensor x = this->random(1, 258, 8);
  EXPECT_THROW(this->stream_.rope(x, this->ids({0}), 258, 10000.0F), std::invalid_argument);
}

// exp (two roundings), two additions, division and product.
TYPED_TEST(cuda_kernels, swiglu_equals_double_for_all_elements) {
  for (const std::int64_t columns : {13, 16}) {  // 65 and 80 elements: one and several an access
    std::vector<float> values = reference::random_floats(static_cast<std::size_t>(5 * columns), 9);
    values[0] = 30;
    values[1] = -30;
    values[2] = -100;  // exp(100) is infinite in float: the result is -0, in double -3.7e-42
    values[3] = 0;
    const tensor gate = this->filled(5, columns, values);
    const tensor up = this->random(5, columns, 10);
    const auto before = this->exact(gate);
    this->stream_.swiglu(gate, up);
    for (std::size_t r = 0; r < 5; ++r) {
      const auto expected = reference::swiglu(before[r], this->exact(up)[r]);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(this->exact(gate)[r][i], expected[i],
                    tolerance<TypeParam>(expected[i], 8) + double{std::numeric_limits<float>::min()});
      }
    }
  }
}

TYPED_TEST(cuda_kernels, add_rounds_the_sum_once) {
  for (const std::int64_t columns : {129, 1024}) {  // 387 and 3072 elements: over several blocks
    const tensor x = this->random(3, columns, 11);
    const tensor y = this->random(3, columns, 12);
    const std::vector<float> a = this->floats(x);
    const std::vector<float> b = this->floats(y);
    this->stream_.add(x, y);
    const std::vector<float> sum = this->floats(x);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      ASSERT_EQ(sum[i], decoder::cuda::to_float(decoder::cuda::from_float<TypeParam>(a[i] + b[i])));
    }
  }
}

// Two sequences of which the last two and the last token ask. A score sums `size` products of magnitude 1/4
// on average, over sqrt(size): wrong by (size + 2) roundings in float of sqrt(size) / 4, at most 6e-5 for
// size 256, and in practice the root of that many; the softmax doubles it at most; values are below 1.
template <class Test>
void expect_attention(Test& test, const head_shape& shape, std::int64_t context) {
  using T = typename Test::number;
  const std::int64_t capacity = context + 3;
  const std::int64_t kv_width = shape.kv_heads * shape.size;
  const tensor keys = test.random(2 * capacity, kv_width, 11);
  const tensor values = test.random(2 * capacity, kv_width, 12);
  const tensor queries = test.random(3, shape.heads * shape.size, 13);
  const tensor out = test.memory_.numbers(3, shape.heads * shape.size);
  const auto last = static_cast<std::int32_t>(context - 1);
  const std::vector<std::int32_t> sequences{1, 1, 0};
  const std::vector<std::int32_t> positions{last - 1, last, last};
  test.stream_.attention(out, queries, {keys, values, capacity}, {test.ids(sequences), test.ids(positions)},
                         shape, context);
  test.stream_.synchronise();
  const auto k = test.exact(keys);
  const auto v = test.exact(values);
  for (std::size_t r = 0; r < 3; ++r) {
    const std::ptrdiff_t first = sequences[r] * capacity;
    const std::ptrdiff_t end = first + positions[r] + 1;
    const auto expected = reference::attention(
        test.exact(queries)[r], {k.begin() + first, k.begin() + end}, {v.begin() + first, v.begin() + end},
        static_cast<std::size_t>(shape.heads), static_cast<std::size_t>(shape.kv_heads));
    const auto result = test.exact(out)[r];
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(result[i], expected[i], tolerance<T>(expected[i], 0) + 2e-5)
          << shape.size << " elements, context " << context << ", row " << r;
    }
  }
}

// One to eight elements a lane, lanes without any, one to four query heads a key head; contexts below, at and
// beyond what the warps take at once (32), and one of which most warps have none.
TYPED_TEST(cuda_kernels, attention_equals_double_over_the_cache_up_to_each_rows_position) {
  expect_attention(*this, {1, 1, 2}, 2);
  expect_attention(*this, {4, 4, 6}, 7);
  expect_attention(*this, {4, 2, 10}, 33);
  expect_attention(*this, {8, 2, 64}, 32);
  expect_attention(*this, {2, 1, 96}, 71);
  expect_attention(*this, {2, 2, 128}, 40);
  expect_attention(*this, {1, 1, 256}, 37);
}

TYPED_TEST(cuda_kernels, attention_depends_on_positions_and_not_on_the_bound) {
  const tensor keys = this->random(8, 4, 15);
  const tensor values = this->random(8, 4, 16);
  const tensor queries = this->random(1, 4, 17);
  const tensor tight = this->memory_.numbers(1, 4);
  const tensor wide = this->memory_.numbers(1, 4);
  const kv_cache cache{keys, values, 8};
  const decoder::row_places places{this->ids({0}), this->ids({4})};
  this->stream_.attention(tight, queries, cache, places, {2, 2, 2}, 5);
  this->stream_.attention(wide, queries, cache, places, {2, 2, 2}, 512);
  EXPECT_EQ(this->floats(tight), this->floats(wide));
  // A replay takes the position that the pass before left there.
  this->stream_.increment(places.positions);
  EXPECT_EQ(this->numbers(places.positions), std::vector<std::int32_t>{5});
  this->stream_.attention(wide, queries, cache, places, {2, 2, 2}, 512);
  EXPECT_NE(this->floats(tight), this->floats(wide));
  this->stream_.synchronise();
}

TYPED_TEST(cuda_kernels, attention_refuses_heads_that_lanes_cannot_share) {
  const tensor x = this->random(1, 264, 18);
  const decoder::row_places places{this->ids({0}), this->ids({0})};
  for (const std::int64_t size : {66, 132, 264}) {
    EXPECT_THROW(this->stream_.attention(x, x, {x, x, 1}, places, {1, 1, size}, 1), std::invalid_argument);
  }
}

TYPED_TEST(cuda_kernels, store_kv_writes_each_row_to_its_place_and_nothing_else) {
  for (const std::int64_t width : {1, 8, 24}) {
    const tensor keys = this->memory_.numbers(4, width);
    const tensor values = this->memory_.numbers(4, width);
    const tensor new_keys = this->random(2, width, 22);
    const tensor new_values = this->random(2, width, 23);
    this->stream_.store_kv({keys, values, 2}, new_keys, new_values, {this->ids({1, 0}), this->ids({0, 1})});
    // Rows of the cache: sequence · 2 + position = 2 and 1.
    const auto n = static_cast<std::size_t>(width);
    const reference::row zeros(n, 0.0);
    const auto k = this->exact(new_keys);
    const auto v = this->exact(new_values);
    EXPECT_EQ(this->exact(keys), (reference::matrix{zeros, k[1], k[0], zeros}));
    EXPECT_EQ(this->exact(values), (reference::matrix{zeros, v[1], v[0], zeros}));
  }
}

TYPED_TEST(cuda_kernels, embedding_and_gather_copy_whole_rows) {
  for (const std::int64_t width : {1, 3, 8, 1288}) {
    const tensor table = this->random(3, width, 24);
    const tensor out = this->memory_.numbers(2, width);
    const auto rows = this->exact(table);
    this->stream_.embedding(out, table, this->ids({2, 0}));
    EXPECT_EQ(this->exact(out), (reference::matrix{rows[2], rows[0]}));
    this->stream_.gather(out, table, this->ids({1, 2}));
    EXPECT_EQ(this->exact(out), (reference::matrix{rows[1], rows[2]}));
  }
}

TYPED_TEST(cuda_kernels, argmax_takes_the_first_of_equals) {
  std::vector<float> values(3 * 700, -5.0F);
  values[30] = values[300] = values[699] = 2;  // one thread's, another's, and of the last stride
  values[700 + 650] = values[700 + 394] =
      -4.5;  // of one thread, where it takes one at a time: 394 = 256 + 138
  std::fill(values.begin() + 1400, values.end(), -std::numeric_limits<float>::infinity());
  const id_list out = this->ids({9, 9, 9});
  this->stream_.argmax(out, this->filled(3, 700, values));
  EXPECT_EQ(this->numbers(out), (std::vector<std::int32_t>{30, 394, 0}));
  std::vector<float> wide(2 * 4096, 0.0F);  // several at an access: by one thread, and by two
  wide[2051] = wide[2050] = 1;
  wide[4096 + 4095] = wide[4096 + 16] = 1;
  this->stream_.argmax(out.first(2), this->filled(2, 4096, wide));
  EXPECT_EQ(this->numbers(out.first(2)), (std::vector<std::int32_t>{2050, 16}));
  this->stream_.argmax(out, this->filled(3, 1, {1, 2, 3}));
  EXPECT_EQ(this->numbers(out), (std::vector<std::int32_t>{0, 0, 0}));
}

TYPED_TEST(cuda_kernels, increment_adds_one_to_each) {
  std::vector<std::int32_t> values(300);
  std::iota(values.begin(), values.end(), -2);
  const id_list list = this->ids(values);
  this->stream_.increment(list);
  std::iota(values.begin(), values.end(), -1);
  EXPECT_EQ(this->numbers(list), values);
}

/// What is reported after `launch`, of a stream of its own.
template <class Launch>
std::string reported(Launch&& launch) {
  std::uint64_t fault = 0;
  emulated::stream<float> stream{fault};
  launch(stream);
  try {
    stream.synchronise();
  } catch (const std::out_of_range& e) {
    return e.what();
  }
  return "nothing";
}

class cuda_faults : public cuda_kernels<float> {};

TEST_F(cuda_faults, are_reported_and_their_work_is_left_out) {
  const tensor table = random(3, 4, 1);
  const tensor out = memory_.numbers(1, 4);
  const auto embed = [&](std::int32_t token) {
    return reported([&](auto& s) { s.embedding(out, table, ids({token})); });
  };
  EXPECT_EQ(embed(3), "token 3 is outside its table");
  EXPECT_EQ(embed(-1), "token -1 is outside its table");
  EXPECT_EQ(reported([&](auto& s) { s.gather(out, table, ids({7})); }), "row 7 is outside its matrix");
  const kv_cache cache{memory_.numbers(4, 4), memory_.numbers(4, 4), 2};
  const auto store = [&](std::int32_t sequence, std::int32_t position) {
    return reported([&](auto& s) {
      s.store_kv(cache, table.first_rows(1), table.first_rows(1), {ids({sequence}), ids({position})});
    });
  };
  EXPECT_EQ(store(0, 2), "position 2 is outside the cache of its sequence");  // the next sequence's place
  EXPECT_EQ(store(0, -1), "position -1 is outside the cache of its sequence");
  EXPECT_EQ(store(2, 0), "sequence 2 is outside the cache");
  EXPECT_EQ(store(-1, 0), "sequence -1 is outside the cache");
  EXPECT_EQ(reported([&](auto& s) {
              s.attention(out, table.first_rows(1), cache, {ids({0}), ids({1})}, {2, 2, 2}, 1);
            }),
            "position 1 is outside the cache of its sequence");  // it is beyond the bound
  EXPECT_EQ(floats(out), std::vector<float>(4, 0.0F));
  EXPECT_EQ(floats(cache.keys), std::vector<float>(16, 0.0F));
  EXPECT_EQ(embed(2), "nothing");
}

// Threads of a block may run in any order between two barriers.
TYPED_TEST(cuda_kernels, results_do_not_depend_on_which_thread_is_first) {
  const tensor x = this->random(2, 400, 31);
  const tensor weight = this->random(1, 400, 32);
  const tensor keys = this->random(80, 64, 33);
  const kv_cache cache{keys, this->random(80, 64, 34), 40};
  const decoder::row_places places{this->ids({0, 1}), this->ids({39, 20})};
  const tensor queries = this->random(2, 128, 35);
  std::vector<std::vector<float>> results;
  std::vector<std::vector<std::int32_t>> tokens;
  for (const order which : {order::ascending, order::descending, order::shuffled}) {
    emulated::stream<TypeParam> stream{this->fault_, which};
    const tensor normed = this->memory_.numbers(2, 400);
    const tensor turned = this->memory_.numbers(2, 400);
    const tensor attended = this->memory_.numbers(2, 128);
    const id_list best = this->memory_.ids(2);
    stream.rms_norm(normed, x, weight, 1e-5F);
    stream.gather(turned, x, this->ids({0, 1}));
    stream.rope(turned, places.positions, 20, 10000.0F);
    stream.attention(attended, queries, cache, places, {4, 2, 32}, 40);
    stream.argmax(best, x);
    for (const tensor t : {normed, turned, attended}) {
      results.push_back(this->floats(t));
    }
    tokens.push_back(this->numbers(best));
  }
  for (std::size_t i = 3; i < results.size(); ++i) {
    EXPECT_EQ(results[i], results[i % 3]) << i;
  }
  EXPECT_EQ(tokens, std::vector<std::vector<std::int32_t>>(3, tokens[0]));
}

// A barrier is missing: what a thread reads depends on whether the one that writes it was there before.
void racing_kernel(int* out) {
  __shared__ int parts[64];
  const int self = static_cast<int>(threadIdx.x);
  parts[self] = 0;
  __syncthreads();
  parts[self] = self + 1;
  out[self] = parts[63 - self];
}

void diverging_kernel(int* out) {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  }
  out[threadIdx.x] = 1;
}

TEST(emulated_cuda, shows_a_race_and_refuses_a_barrier_that_not_all_come_to) {
  std::vector<int> ascending(64);
  std::vector<int> descending(64);
  emulated::launch(1, 1, 64, order::ascending, racing_kernel, ascending.data());
  emulated::launch(1, 1, 64, order::descending, racing_kernel, descending.data());
  EXPECT_NE(ascending, descending);
  EXPECT_THROW(emulated::launch(1, 1, 64, order::ascending, diverging_kernel, ascending.data()),
               std::logic_error);
}

// --- the whole model -------------------------------------------------------------------------------------

template <class T>
class cuda_model : public testing::Test {};
TYPED_TEST_SUITE(cuda_model, types, type_names);

TYPED_TEST(cuda_model, gives_the_logits_of_double_in_prefill_and_over_its_cache) {
  for (const decoder::model_config& config : reference::shapes) {
    emulated::backend<TypeParam> device;
    const decoder::token_list tokens = reference::prompts(config, {9}, 3).front();
    reference::one_sequence at_once{device, config};
    const std::vector<float> prefilled = at_once.forward(tokens, 0);
    reference::one_sequence stepwise{device, config};
    stepwise.forward({tokens.begin(), tokens.begin() + 7}, 0);
    stepwise.forward({tokens[7]}, 7);
    const std::vector<float> decoded = stepwise.forward({tokens[8]}, 8);
    const reference::row expected = at_once.exact(tokens);
    ASSERT_EQ(prefilled.size(), expected.size());
    const double tolerance = reference::tolerance_of_logits(config, rounding<TypeParam>::relative);
    EXPECT_LE(reference::distance(prefilled, expected), tolerance);
    EXPECT_LE(reference::distance(decoded, expected), tolerance);
  }
}

TEST(cuda_generator, makes_the_tokens_of_the_cpu_back_end) {
  emulated::backend<float> emulated;
  const auto cpu = decoder::make_cpu_backend();
  const decoder::model_config& config = reference::shapes[1];
  const decoder::engine_limits limits{3, 24, 32};
  decoder::generator one{emulated, config, limits, decoder::launch_mode::eager, 5};
  decoder::generator other{*cpu, config, limits, decoder::launch_mode::eager, 5};
  const auto lists = reference::prompts(config, {5, 11, 2}, 1);
  EXPECT_EQ(one.generate(lists, 8), other.generate(lists, 8));
  EXPECT_THROW(one.generate({{97}}, 2), std::out_of_range);  // tokens are 0 to 96
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a call of each form asks for. A function a form, with the parameters of the call; false where types
// are not known.
#ifndef VARVE_CUBLAS_CALLS_HPP
#define VARVE_CUBLAS_CALLS_HPP

#include "cublas/declarations.hpp"
#include "cublas/next.hpp"
#include "cublas/product.hpp"

#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming,misc-unused-parameters): as cuBLAS has them
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

namespace varve::cublas {

/// What is the same in all calls of an entry point.
struct entry_types {
  element scalar;  ///< of alpha and beta
  element a;
  element c;
  bool three_mul;
};

/// What a handle says of the calls with it.
struct handle_modes {
  int math = default_math;
  bool on_host = true;  ///< alpha and beta
};
inline handle_modes modes_of(void* handle) noexcept {
  using getter = int (*)(void*, int*);
  handle_modes out;
  int pointers = pointer_host;
  if (const auto get = next<getter>(function::cublasGetMathMode)) {
    static_cast<void>(get(handle, &out.math));
  }
  if (const auto get = next<getter>(function::cublasGetPointerMode_v2)) {
    out.on_host = get(handle, &pointers) == success && pointers == pointer_host;
  }
  return out;
}

constexpr int compute_of(int scalar) noexcept {
  return scalar == r_64f || scalar == c_64f ? compute_64f : scalar == r_16f ? compute_16f : compute_32f;
}

/// With one handle, types and way to compute for all.
struct general_call {
  int a, b, c;
  int compute;
  int scalar;
  bool three_mul = false;
};
inline product product_of(const handle_modes& modes, const general_call& g, std::int64_t m, std::int64_t n,
                          std::int64_t k, const void* beta) noexcept {
  product p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = g.a;
  p.b = g.b;
  p.c = p.d = g.c;
  p.three_mul = g.three_mul;
  p.pipe = pipe_of(g.compute, g.a, g.b, modes.math);
  p.adds_c = modes.on_host && is_not_zero(beta, g.scalar);
  return p;
}
inline general_call fixed(const entry_types& t) noexcept {
  return {t.a, t.a, t.c, compute_of(t.scalar), t.scalar, t.three_mul};
}

template <class Index, class Scalar>
bool gemm(work& out, const entry_types& t, VARVE_CUBLAS_PARAMETERS_gemm(Index, Scalar)) noexcept {
  return work_of(product_of(modes_of(handle), fixed(t), m, n, k, beta), out);
}

template <class Index, class Scalar>
bool gemm_types(work& out, const entry_types& t, VARVE_CUBLAS_PARAMETERS_gemm_types(Index, Scalar)) noexcept {
  const general_call g{Atype, Btype, Ctype, compute_of(t.scalar), t.scalar, t.three_mul};
  return work_of(product_of(modes_of(handle), g, m, n, k, beta), out);
}

template <class Index, class Scalar>
bool gemm_ex(work& out, const entry_types& t, VARVE_CUBLAS_PARAMETERS_gemm_ex(Index, Scalar)) noexcept {
  const general_call g{Atype, Btype, Ctype, computeType, scalar_of(computeType, Ctype)};
  return work_of(product_of(modes_of(handle), g, m, n, k, beta), out);
}

inline bool batch(work& out, product p, std::int64_t count, bool shared_a = false,
                  bool shared_b = false) noexcept {
  p.batched = true;
  p.batch = count;
  p.shared_a = shared_a;
  p.shared_b = shared_b;
  return work_of(p, out);
}

template <class Index, class Scalar>
bool batched(work& out, const entry_types& t, VARVE_CUBLAS_PARAMETERS_batched(Index, Scalar)) noexcept {
  return batch(out, product_of(modes_of(handle), fixed(t), m, n, k, beta), batchCount);
}

template <class Index, class Scalar>
bool strided(work& out, const entry_types& t, VARVE_CUBLAS_PARAMETERS_strided(Index, Scalar)) noexcept {
  return batch(out, product_of(modes_of(handle), fixed(t), m, n, k, beta), batchCount, strideA == 0,
               strideB == 0);
}

template <class Index, class Scalar>
bool batched_ex(work& out, const entry_types& t, VARVE_CUBLAS_PARAMETERS_batched_ex(Index, Scalar)) noexcept {
  const general_call g{Atype, Btype, Ctype, computeType, scalar_of(computeType, Ctype)};
  return batch(out, product_of(modes_of(handle), g, m, n, k, beta), batchCount);
}

template <class Index, class Scalar>
bool strided_ex(work& out, const entry_types& t, VARVE_CUBLAS_PARAMETERS_strided_ex(Index, Scalar)) noexcept {
  const general_call g{Atype, Btype, Ctype, computeType, scalar_of(computeType, Ctype)};
  return batch(out, product_of(modes_of(handle), g, m, n, k, beta), batchCount, strideA == 0, strideB == 0);
}

/// Sizes of groups and their betas are arrays on the host.
template <class Index>
bool groups(work& out, void* handle, const general_call& g, const void* m, const void* n, const void* k,
            const void* beta, std::int64_t count, const void* sizes) noexcept {
  const auto at = [](const void* array, std::int64_t i) {
    return static_cast<std::int64_t>(static_cast<const Index*>(array)[i]);
  };
  const std::int64_t bytes = g.scalar == c_64f                        ? 16
                             : g.scalar == r_64f || g.scalar == c_32f ? 8
                             : g.scalar == r_16f                      ? 2
                                                                      : 4;
  const handle_modes modes = modes_of(handle);
  work all;
  for (std::int64_t i = 0; i < count; ++i) {
    const void* const own = beta != nullptr ? static_cast<const char*>(beta) + i * bytes : nullptr;
    work one;
    if (!batch(one, product_of(modes, g, at(m, i), at(n, i), at(k, i), own), at(sizes, i))) {
      return false;
    }
    all += one;
  }
  out = all;
  return true;
}

template <class Index, class Scalar>
bool grouped(work& out, const entry_types& t, VARVE_CUBLAS_PARAMETERS_grouped(Index, Scalar)) noexcept {
  return groups<Index>(out, handle, fixed(t), m_array, n_array, k_array, beta_array, group_count, group_size);
}

template <class Index, class Scalar>
bool grouped_ex(work& out, const entry_types& t, VARVE_CUBLAS_PARAMETERS_grouped_ex(Index, Scalar)) noexcept {
  const general_call g{Atype, Btype, Ctype, computeType, scalar_of(computeType, Ctype)};
  return groups<Index>(out, handle, g, m_array, n_array, k_array, beta_array, group_count, group_size);
}

/// A matrix times one vector, on cores: no kernel of these uses tensor cores.
inline product vector_product(const entry_types& t, bool transposed, std::int64_t m, std::int64_t n,
                              bool adds) noexcept {
  product p;
  p.m = transposed ? n : m;
  p.n = 1;
  p.k = transposed ? m : n;
  p.a = p.b = t.a;
  p.c = p.d = t.c;
  p.adds_c = adds;
  p.pipe = compute_of(t.scalar) == compute_64f ? math_pipe::fp64 : math_pipe::fp32;
  return p;
}

template <class Index, class Scalar>
bool gemv(work& out, const entry_types& t, VARVE_CUBLAS_PARAMETERS_gemv(Index, Scalar)) noexcept {
  const bool adds = modes_of(handle).on_host && is_not_zero(beta, t.scalar);
  return work_of(vector_product(t, trans != no_transpose, m, n, adds), out);
}

template <class Index, class Scalar>
bool gemv_batched(work& out, const entry_types& t,
                  VARVE_CUBLAS_PARAMETERS_gemv_batched(Index, Scalar)) noexcept {
  const bool adds = modes_of(handle).on_host && is_not_zero(beta, t.scalar);
  return batch(out, vector_product(t, trans != no_transpose, m, n, adds), batchCount);
}

template <class Index, class Scalar>
bool gemv_strided(work& out, const entry_types& t,
                  VARVE_CUBLAS_PARAMETERS_gemv_strided(Index, Scalar)) noexcept {
  const bool adds = modes_of(handle).on_host && is_not_zero(beta, t.scalar);
  return batch(out, vector_product(t, trans != no_transpose, m, n, adds), batchCount, strideA == 0,
               stridex == 0);
}

template <class Index, class Scalar>
bool uint8(work& out, const entry_types& t, VARVE_CUBLAS_PARAMETERS_uint8(Index, Scalar)) noexcept {
  product p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = p.b = p.c = p.d = r_8u;
  return work_of(p, out);
}

template <class Index, class Scalar>
bool legacy_gemm(work& out, const entry_types& t,
                 VARVE_CUBLAS_PARAMETERS_legacy_gemm(Index, Scalar)) noexcept {
  product p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = p.b = p.c = p.d = t.a;
  p.adds_c = is_not_zero(&beta, t.scalar);
  p.pipe = pipe_of(compute_of(t.scalar), t.a, t.a, default_math);
  return work_of(p, out);
}

template <class Index, class Scalar>
bool legacy_gemv(work& out, const entry_types& t,
                 VARVE_CUBLAS_PARAMETERS_legacy_gemv(Index, Scalar)) noexcept {
  const bool transposed = trans != 'n' && trans != 'N';
  return work_of(vector_product(t, transposed, m, n, is_not_zero(&beta, t.scalar)), out);
}

/// An attribute of cuBLASLt, or what it is where the library does not know it.
template <class Value>
Value attribute(function getter, void* of, int which, Value otherwise) noexcept {
  using function_type = int (*)(void*, int, void*, std::size_t, std::size_t*);
  const auto get = next<function_type>(getter);
  Value value = otherwise;
  std::size_t written = 0;
  return of != nullptr && get != nullptr && get(of, which, &value, sizeof value, &written) == success
             ? value
             : otherwise;
}

template <class Index, class Scalar>
bool matmul(work& out, const entry_types& t, VARVE_CUBLAS_PARAMETERS_matmul(Index, Scalar)) noexcept {
  const auto of_call = [&](matmul_attribute which, std::int32_t otherwise) {
    return attribute(function::cublasLtMatmulDescGetAttribute, computeDesc, which, otherwise);
  };
  const auto of_layout = [](void* layout, layout_attribute which, auto otherwise) {
    return attribute(function::cublasLtMatrixLayoutGetAttribute, layout, which, otherwise);
  };
  const bool transposed = of_call(matmul_transpose_a, no_transpose) != no_transpose;
  const std::int32_t compute = of_call(matmul_compute, 0);
  product p;
  p.m = static_cast<std::int64_t>(of_layout(Ddesc, layout_rows, std::uint64_t{0}));
  p.n = static_cast<std::int64_t>(of_layout(Ddesc, layout_columns, std::uint64_t{0}));
  p.k = static_cast<std::int64_t>(
      of_layout(Adesc, transposed ? layout_rows : layout_columns, std::uint64_t{0}));
  p.batch = of_layout(Ddesc, layout_batch_count, std::int32_t{1});
  p.a = of_layout(Adesc, layout_type, std::int32_t{given});
  p.b = of_layout(Bdesc, layout_type, std::int32_t{given});
  p.d = of_layout(Ddesc, layout_type, std::int32_t{given});
  p.batched = p.batch > 1;
  if (p.batched && of_layout(Ddesc, layout_batch_pointers, std::int32_t{0}) == 0) {
    p.shared_a = of_layout(Adesc, layout_batch_stride, std::int64_t{0}) == 0;
    p.shared_b = of_layout(Bdesc, layout_batch_stride, std::int64_t{0}) == 0;
  }
  p.pipe = pipe_of(compute, p.a, p.b, default_math);
  const std::int32_t pointers = of_call(matmul_pointer_mode, pointer_host);
  if (pointers == pointer_host || pointers == pointer_beta_host) {
    p.adds_c = is_not_zero(beta, of_call(matmul_scale_type, scalar_of(compute, p.d)));
  }
  p.c = p.adds_c ? of_layout(Cdesc, layout_type, std::int32_t{p.d}) : p.d;
  if ((of_call(matmul_epilogue, 0) & epilogue_bias) != 0) {
    const std::int32_t bias = of_call(matmul_bias_type, given);
    p.bias = bias != given ? bias : p.d;
  }
  p.a_scales = of_call(matmul_a_scale_mode, scale_scalar);
  p.b_scales = of_call(matmul_b_scale_mode, scale_scalar);
  p.d_scales = of_call(matmul_d_out_scale_mode, scale_scalar);
  return work_of(p, out);
}

}  // namespace varve::cublas

#pragma GCC diagnostic pop
// NOLINTEND(readability-identifier-naming,misc-unused-parameters)

#endif  // VARVE_CUBLAS_CALLS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// All of the CUDA back end that nvcc compiles: the stream's kernels, for each type of numbers.
#include "cuda_error.hpp"
#include "cuda_launch.hpp"
#include "cuda_stream.hpp"

#include <utility>

namespace decoder {

namespace {

struct launcher {
  cudaStream_t stream;

  template <class... Parameters, class... Arguments>
  void operator()(const char* name, cuda::grid blocks, void (*kernel)(Parameters...),
                  Arguments... arguments) const {
    if (blocks.x == 0) {
      return;  // a grid without blocks is an error, and there is nothing to do
    }
    const dim3 grid{static_cast<unsigned>(blocks.x), static_cast<unsigned>(blocks.y), 1};
    kernel<<<grid, cuda::threads, 0, stream>>>(static_cast<Parameters>(arguments)...);
    cuda::check(cudaGetLastError(), name);
  }
};

/// Calls `f` with a number of the type.
template <class Function>
void with_type(varve::dtype type, Function&& f) {
  if (type == varve::dtype::f32) {
    f(float{});
  } else if (type == varve::dtype::bf16) {
    f(__nv_bfloat16{});
  } else {
    f(__half{});
  }
}

}  // namespace

void check_kernels() {
  cudaFuncAttributes unused{};
  cuda::check(cudaFuncGetAttributes(&unused, cuda::increment_kernel<std::int32_t>), "cudaFuncGetAttributes");
}

void cuda_stream::embedding(tensor out, tensor table, id_list tokens) {
  with_type(state_.type(), [&](auto t) {
    cuda::embedding<decltype(t)>(launcher{handle_.get()}, state_.fault(), out, table, tokens);
  });
}

void cuda_stream::gather(tensor out, tensor x, id_list rows) {
  with_type(state_.type(), [&](auto t) {
    cuda::gather<decltype(t)>(launcher{handle_.get()}, state_.fault(), out, x, rows);
  });
}

void cuda_stream::rms_norm(tensor out, tensor x, tensor weight, float epsilon) {
  with_type(state_.type(),
            [&](auto t) { cuda::rms_norm<decltype(t)>(launcher{handle_.get()}, out, x, weight, epsilon); });
}

void cuda_stream::rope(tensor x, id_list positions, std::int64_t head_size, float base) {
  with_type(state_.type(),
            [&](auto t) { cuda::rope<decltype(t)>(launcher{handle_.get()}, x, positions, head_size, base); });
}

void cuda_stream::store_kv(const kv_cache& cache, tensor keys, tensor values, const row_places& places) {
  with_type(state_.type(), [&](auto t) {
    cuda::store_kv<decltype(t)>(launcher{handle_.get()}, state_.fault(), cache, keys, values, places);
  });
}

void cuda_stream::attention(tensor out, tensor queries, const kv_cache& cache, const row_places& places,
                            const head_shape& shape, std::int64_t bound) {
  with_type(state_.type(), [&](auto t) {
    cuda::attention<decltype(t)>(launcher{handle_.get()}, state_.fault(), out, queries, cache, places, shape,
                                 bound);
  });
}

void cuda_stream::swiglu(tensor gate, tensor up) {
  with_type(state_.type(), [&](auto t) { cuda::swiglu<decltype(t)>(launcher{handle_.get()}, gate, up); });
}

void cuda_stream::add(tensor x, tensor y) {
  with_type(state_.type(), [&](auto t) { cuda::add<decltype(t)>(launcher{handle_.get()}, x, y); });
}

void cuda_stream::argmax(id_list out, tensor x) {
  with_type(state_.type(), [&](auto t) { cuda::argmax<decltype(t)>(launcher{handle_.get()}, out, x); });
}

void cuda_stream::increment(id_list ids) { cuda::increment(launcher{handle_.get()}, ids); }

void cuda_stream::widen(float* to, const void* from, std::int64_t count) {
  with_type(state_.type(), [&](auto t) {
    cuda::convert(launcher{handle_.get()}, to, static_cast<const decltype(t)*>(from), count);
  });
}

void cuda_stream::narrow(void* to, const float* from, std::int64_t count) {
  with_type(state_.type(), [&](auto t) {
    cuda::convert(launcher{handle_.get()}, static_cast<decltype(t)*>(to), from, count);
  });
}

}  // namespace decoder

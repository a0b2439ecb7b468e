// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The CUDA back end's kernels and launches on the host, behind the engine's interface: all but cuBLAS, the
// runtime and the GPU. Streams run at once; graphs do not exist.
#ifndef VARVE_TESTS_EXAMPLES_EMULATED_BACKEND_HPP
#define VARVE_TESTS_EXAMPLES_EMULATED_BACKEND_HPP

#include "emulated_cuda.hpp"

#include "cuda_launch.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace emulated {

struct launcher {
  order which = order::ascending;

  template <class... Parameters, class... Arguments>
  void operator()(const char* /*name*/, decoder::cuda::grid blocks, void (*kernel)(Parameters...),
                  Arguments... arguments) const {
    launch(static_cast<unsigned>(blocks.x), static_cast<unsigned>(blocks.y), decoder::cuda::threads, which,
           kernel, arguments...);
  }
};

/// As aligned as device memory is, and at its end NaNs that must not be read and that stay as they are.
template <class T>
class buffer {
 public:
  explicit buffer(std::size_t size) : size_{size} {
    void* memory = nullptr;
    if (posix_memalign(&memory, 256, (size + margin) * sizeof(T)) != 0) {
      throw std::bad_alloc{};
    }
    data_.reset(static_cast<T*>(memory));
    std::memset(memory, 0, size * sizeof(T));
    std::memset(static_cast<void*>(data_.get() + size), 0xff, margin * sizeof(T));  // a NaN in every type
  }
  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] bool whole() const {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(data_.get() + size_);
    return std::all_of(bytes, bytes + margin * sizeof(T), [](unsigned char b) { return b == 0xff; });
  }

 private:
  static constexpr std::size_t margin = 64;
  struct release {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::size_t size_;
  std::unique_ptr<T, release> data_;
};

template <class T>
class memory final : public decoder::memory {
 public:
  decoder::tensor numbers(std::int64_t rows, std::int64_t columns) override {
    numbers_.emplace_back(static_cast<std::size_t>(rows * columns));
    return {numbers_.back().data(), rows, columns};
  }
  decoder::id_list ids(std::int64_t count) override {
    ids_.emplace_back(static_cast<std::size_t>(count));
    return {ids_.back().data(), count};
  }
  [[nodiscard]] bool whole() const {
    return std::all_of(numbers_.begin(), numbers_.end(), [](const auto& b) { return b.whole(); }) &&
           std::all_of(ids_.begin(), ids_.end(), [](const auto& b) { return b.whole(); });
  }

 private:
  std::vector<buffer<T>> numbers_;
  std::vector<buffer<std::int32_t>> ids_;
};

/// Throws what a kernel has reported.
inline void check(std::uint64_t fault) {
  if (fault != 0) {
    throw std::out_of_range{decoder::cuda::describe_fault(fault)};
  }
}

class event final : public decoder::event {
 public:
  explicit event(const std::uint64_t& fault) : fault_{fault} {}
  void synchronise() override { check(fault_); }
  [[nodiscard]] double seconds_since(const decoder::event& /*earlier*/) const override { return 0; }

 private:
  const std::uint64_t& fault_;
};

template <class T>
class stream final : public decoder::stream {
 public:
  explicit stream(std::uint64_t& fault, order which = order::ascending) : launch_{which}, fault_{fault} {}

  void synchronise() override { check(fault_); }
  void record(decoder::event& /*mark*/) override {}
  void wait(const decoder::event& /*mark*/) override {}
  void begin_capture() override { throw std::logic_error{"there are no graphs here"}; }
  std::unique_ptr<decoder::graph> end_capture() override { return nullptr; }
  void launch(const decoder::executable& /*replayed*/) override {}

  void upload(decoder::tensor to, const float* from) override {
    decoder::cuda::convert(launch_, static_cast<T*>(to.data), from, to.rows * to.columns);
  }
  void upload(decoder::id_list to, const std::int32_t* from) override {
    std::copy_n(from, to.size, static_cast<std::int32_t*>(to.data));
  }
  void download(float* to, decoder::tensor from) override {
    decoder::cuda::convert(launch_, to, static_cast<const T*>(from.data), from.rows * from.columns);
  }
  void download(std::int32_t* to, decoder::id_list from) override {
    std::copy_n(static_cast<const std::int32_t*>(from.data), from.size, to);
  }

  void embedding(decoder::tensor out, decoder::tensor table, decoder::id_list tokens) override {
    decoder::cuda::embedding<T>(launch_, &fault_, out, table, tokens);
  }
  void rms_norm(decoder::tensor out, decoder::tensor x, decoder::tensor weight, float epsilon) override {
    decoder::cuda::rms_norm<T>(launch_, out, x, weight, epsilon);
  }
  /// As cuBLAS is asked for it: sums in float, the result in T.
  void matmul(decoder::tensor out, decoder::tensor x, decoder::tensor weight) override {
    for (std::int64_t r = 0; r < x.rows; ++r) {
      for (std::int64_t j = 0; j < weight.rows; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < x.columns; ++k) {
          sum += decoder::cuda::to_float(static_cast<const T*>(x.data)[r * x.columns + k]) *
                 decoder::cuda::to_float(static_cast<const T*>(weight.data)[j * x.columns + k]);
        }
        static_cast<T*>(out.data)[r * weight.rows + j] = decoder::cuda::from_float<T>(sum);
      }
    }
  }
  void rope(decoder::tensor x, decoder::id_list positions, std::int64_t head_size, float base) override {
    decoder::cuda::rope<T>(launch_, x, positions, head_size, base);
  }
  void store_kv(const decoder::kv_cache& cache, decoder::tensor keys, decoder::tensor values,
                const decoder::row_places& places) override {
    decoder::cuda::store_kv<T>(launch_, &fault_, cache, keys, values, places);
  }
  void attention(decoder::tensor out, decoder::tensor queries, const decoder::kv_cache& cache,
                 const decoder::row_places& places, const decoder::head_shape& shape,
                 std::int64_t bound) override {
    decoder::cuda::attention<T>(launch_, &fault_, out, queries, cache, places, shape, bound);
  }
  void swiglu(decoder::tensor gate, decoder::tensor up) override {
    decoder::cuda::swiglu<T>(launch_, gate, up);
  }
  void add(decoder::tensor x, decoder::tensor y) override { decoder::cuda::add<T>(launch_, x, y); }
  void gather(decoder::tensor out, decoder::tensor x, decoder::id_list rows) override {
    decoder::cuda::gather<T>(launch_, &fault_, out, x, rows);
  }
  void argmax(decoder::id_list out, decoder::tensor x) override { decoder::cuda::argmax<T>(launch_, out, x); }
  void increment(decoder::id_list ids) override { decoder::cuda::increment(launch_, ids); }

 private:
  launcher launch_;
  std::uint64_t& fault_;
};

template <class T>
class backend final : public decoder::backend {
 public:
  [[nodiscard]] std::string name() const override { return "emulated"; }
  [[nodiscard]] varve::dtype type() const override { return varve::dtype::f32; }
  std::unique_ptr<decoder::memory> make_memory() override { return std::make_unique<memory<T>>(); }
  std::unique_ptr<decoder::stream> make_stream() override { return std::make_unique<stream<T>>(fault_); }
  std::unique_ptr<decoder::event> make_event() override { return std::make_unique<event>(fault_); }
  std::unique_ptr<decoder::executable> instantiate(const decoder::graph& /*from*/) override {
    return nullptr;
  }

 private:
  std::uint64_t fault_ = 0;
};

}  // namespace emulated

#endif  // VARVE_TESTS_EXAMPLES_EMULATED_BACKEND_HPP

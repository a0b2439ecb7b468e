// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Streams, events and graphs of the CUDA back end.
#ifndef DECODER_CUDA_STREAM_HPP
#define DECODER_CUDA_STREAM_HPP

#include "backend.hpp"
#include "cuda_handles.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace decoder {

/// What the streams of one device share: how numbers are stored, and what a kernel could not do.
class cuda_state {
 public:
  explicit cuda_state(varve::dtype type);

  [[nodiscard]] varve::dtype type() const { return type_; }
  [[nodiscard]] std::size_t number_size() const { return type_ == varve::dtype::f32 ? 4 : 2; }
  /// Where kernels report what they leave out, in memory of the host.
  [[nodiscard]] volatile std::uint64_t* fault() const { return device_fault_; }
  /// Throws std::out_of_range after a kernel has reported a fault, each time.
  void check_fault() const;

 private:
  varve::dtype type_;
  cuda::pinned_block host_fault_;
  volatile std::uint64_t* device_fault_ = nullptr;
};

class cuda_event final : public event {
 public:
  explicit cuda_event(const cuda_state& state);
  void synchronise() override;
  [[nodiscard]] double seconds_since(const event& earlier) const override;

 private:
  friend class cuda_stream;
  const cuda_state& state_;
  cuda::event_handle handle_;
};

class cuda_graph final : public graph {
 public:
  explicit cuda_graph(cudaGraph_t captured) : handle_{captured} {}
  [[nodiscard]] std::size_t size() const override;
  [[nodiscard]] cudaGraph_t get() const { return handle_.get(); }

 private:
  cuda::graph_handle handle_;
};

class cuda_executable final : public executable {
 public:
  explicit cuda_executable(const cuda_graph& from);
  [[nodiscard]] bool update(const graph& from) override;
  [[nodiscard]] cudaGraphExec_t get() const { return handle_.get(); }

 private:
  cuda::executable_handle handle_;
};

class cuda_stream final : public stream {
 public:
  explicit cuda_stream(const cuda_state& state);
  cuda_stream(const cuda_stream&) = delete;
  cuda_stream& operator=(const cuda_stream&) = delete;
  ~cuda_stream() override;

  void synchronise() override;
  void record(event& mark) override;
  void wait(const event& mark) override;
  void begin_capture() override;
  std::unique_ptr<graph> end_capture() override;
  void launch(const executable& replayed) override;

  void upload(tensor to, const float* from) override;
  void upload(id_list to, const std::int32_t* from) override;
  void download(float* to, tensor from) override;
  void download(std::int32_t* to, id_list from) override;

  void embedding(tensor out, tensor table, id_list tokens) override;
  void rms_norm(tensor out, tensor x, tensor weight, float epsilon) override;
  void matmul(tensor out, tensor x, tensor weight) override;
  void rope(tensor x, id_list positions, std::int64_t head_size, float base) override;
  void store_kv(const kv_cache& cache, tensor keys, tensor values, const row_places& places) override;
  void attention(tensor out, tensor queries, const kv_cache& cache, const row_places& places,
                 const head_shape& shape, std::int64_t bound) override;
  void swiglu(tensor gate, tensor up) override;
  void add(tensor x, tensor y) override;
  void gather(tensor out, tensor x, id_list rows) override;
  void argmax(id_list out, tensor x) override;
  void increment(id_list ids) override;

 private:
  void refuse_while_capturing(const char* call) const;
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
  /// Calls `with` for `count` floats of device memory that are there until the stream has passed its work.
  template <class Function>
  void with_floats(std::size_t count, Function&& with);
  void widen(float* to, const void* from, std::int64_t count);
  void narrow(void* to, const float* from, std::int64_t count);
  cublasHandle_t products();

  const cuda_state& state_;
  cuda::stream_handle handle_;
  cuda::device_block workspace_;  // of the products; outlives their handle
  cuda::cublas_handle products_;  // made for the first product: a stream that only copies needs none
  bool capturing_ = false;
};

/// Throws where this program has no kernels for the current device.
void check_kernels();

}  // namespace decoder

#endif  // DECODER_CUDA_STREAM_HPP

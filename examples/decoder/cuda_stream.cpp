// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cuda_stream.hpp"

#include "cuda_error.hpp"
#include "cuda_fault.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace decoder {

using cuda::check;

cuda_state::cuda_state(varve::dtype type) : type_{type} {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, sizeof(std::uint64_t), cudaHostAllocMapped), "cudaHostAlloc");
  host_fault_.reset(memory);
  *static_cast<volatile std::uint64_t*>(memory) = 0;
  void* device = nullptr;
  check(cudaHostGetDevicePointer(&device, memory, 0), "cudaHostGetDevicePointer");
  device_fault_ = static_cast<volatile std::uint64_t*>(device);
}

void cuda_state::check_fault() const {
  if (const std::uint64_t fault = *static_cast<const volatile std::uint64_t*>(host_fault_.get())) {
    throw std::out_of_range{cuda::describe_fault(fault)};
  }
}

cuda_event::cuda_event(const cuda_state& state) : state_{state} {
  cudaEvent_t made = nullptr;
  check(cudaEventCreate(&made), "cudaEventCreate");
  handle_.reset(made);
}

void cuda_event::synchronise() {
  check(cudaEventSynchronize(handle_.get()), "cudaEventSynchronize");
  state_.check_fault();
}

double cuda_event::seconds_since(const event& earlier) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, static_cast<const cuda_event&>(earlier).handle_.get(),
                             handle_.get()),
        "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) / 1000;
}

std::size_t cuda_graph::size() const {
  std::size_t nodes = 0;
  check(cudaGraphGetNodes(handle_.get(), nullptr, &nodes), "cudaGraphGetNodes");
  return nodes;
}

cuda_executable::cuda_executable(const cuda_graph& from) {
  cudaGraphExec_t made = nullptr;
  check(cudaGraphInstantiate(&made, from.get(), 0), "cudaGraphInstantiate");
  handle_.reset(made);
}

bool cuda_executable::update(const graph& from) {
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t error =
      cudaGraphExecUpdate(handle_.get(), static_cast<const cuda_graph&>(from).get(), &info);
  if (error == cudaErrorGraphExecUpdateFailure) {
    (void)cudaGetLastError();  // it is answered; the next check must not see it
    return false;
  }
  check(error, "cudaGraphExecUpdate");
  return true;
}

cuda_stream::cuda_stream(const cuda_state& state) : state_{state} {
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  handle_.reset(made);
}

cuda_stream::~cuda_stream() {
  if (capturing_) {
    cudaGraph_t abandoned = nullptr;
    (void)cudaStreamEndCapture(handle_.get(), &abandoned);
    const cuda::graph_handle owned{abandoned};
  }
  (void)cudaStreamSynchronize(handle_.get());
}

void cuda_stream::refuse_while_capturing(const char* call) const {
  if (capturing_) {
    throw std::logic_error{std::string{call} + " is not possible while the stream captures a graph"};
  }
}

void cuda_stream::synchronise() {
  refuse_while_capturing("synchronise");
  check(cudaStreamSynchronize(handle_.get()), "cudaStreamSynchronize");
  state_.check_fault();
}

void cuda_stream::record(event& mark) {
  refuse_while_capturing("record");
  check(cudaEventRecord(static_cast<cuda_event&>(mark).handle_.get(), handle_.get()), "cudaEventRecord");
}

void cuda_stream::wait(const event& mark) {
  refuse_while_capturing("wait");
  check(cudaStreamWaitEvent(handle_.get(), static_cast<const cuda_event&>(mark).handle_.get(), 0),
        "cudaStreamWaitEvent");
}

void cuda_stream::begin_capture() {
  refuse_while_capturing("begin_capture");
  products();  // cuBLAS allocates as it starts, which a capture does not allow
  // Relaxed: libraries may load their kernels at the first use, also while this thread captures.
  check(cudaStreamBeginCapture(handle_.get(), cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  capturing_ = true;
}

std::unique_ptr<graph> cuda_stream::end_capture() {
  if (!capturing_) {
    throw std::logic_error{"end_capture without begin_capture"};
  }
  capturing_ = false;
  cudaGraph_t captured = nullptr;
  const cudaError_t error = cudaStreamEndCapture(handle_.get(), &captured);
  auto made = std::make_unique<cuda_graph>(captured);
  check(error, "cudaStreamEndCapture");
  return made;
}

void cuda_stream::launch(const executable& replayed) {
  refuse_while_capturing("launch of a graph");
  check(cudaGraphLaunch(static_cast<const cuda_executable&>(replayed).get(), handle_.get()),
        "cudaGraphLaunch");
}

void cuda_stream::copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  check(cudaMemcpyAsync(to, from, bytes, kind, handle_.get()), "cudaMemcpyAsync");
}

template <class Function>
void cuda_stream::with_floats(std::size_t count, Function&& with) {
  void* memory = nullptr;
  check(cudaMallocAsync(&memory, count * sizeof(float), handle_.get()), "cudaMallocAsync");
  try {
    with(static_cast<float*>(memory));
  } catch (...) {
    (void)cudaFreeAsync(memory, handle_.get());
    throw;
  }
  check(cudaFreeAsync(memory, handle_.get()), "cudaFreeAsync");
}

void cuda_stream::upload(tensor to, const float* from) {
  const auto count = static_cast<std::size_t>(to.rows * to.columns);
  if (state_.type() == varve::dtype::f32) {
    copy(to.data, from, count * sizeof(float), cudaMemcpyHostToDevice);
  } else if (count > 0) {
    with_floats(count, [&](float* there) {
      copy(there, from, count * sizeof(float), cudaMemcpyHostToDevice);
      narrow(to.data, there, to.rows * to.columns);
    });
  }
}

void cuda_stream::upload(id_list to, const std::int32_t* from) {
  copy(to.data, from, static_cast<std::size_t>(to.size) * sizeof(std::int32_t), cudaMemcpyHostToDevice);
}

void cuda_stream::download(float* to, tensor from) {
  const auto count = static_cast<std::size_t>(from.rows * from.columns);
  if (state_.type() == varve::dtype::f32) {
    copy(to, from.data, count * sizeof(float), cudaMemcpyDeviceToHost);
  } else if (count > 0) {
    with_floats(count, [&](float* there) {
      widen(there, from.data, from.rows * from.columns);
      copy(to, there, count * sizeof(float), cudaMemcpyDeviceToHost);
    });
  }
}

void cuda_stream::download(std::int32_t* to, id_list from) {
  copy(to, from.data, static_cast<std::size_t>(from.size) * sizeof(std::int32_t), cudaMemcpyDeviceToHost);
}

cublasHandle_t cuda_stream::products() {
  if (!products_) {
    cublasHandle_t made = nullptr;
    check(cublasCreate(&made), "cublasCreate");
    cuda::cublas_handle owned{made};
    check(cublasSetStream(made, handle_.get()), "cublasSetStream");
    constexpr std::size_t bytes = std::size_t{32} << 20U;  // what cuBLAS itself takes from Hopper on
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc of a workspace");
    workspace_.reset(memory);
    // Ours, since cuBLAS would share its own with whatever else runs in this process.
    check(cublasSetWorkspace(made, memory, bytes), "cublasSetWorkspace");
    // Parts of a product that several blocks share are to be added in FP32 too, not in the result's type.
    check(
        cublasSetMathMode(made, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                                          CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
        "cublasSetMathMode");
    products_ = std::move(owned);
  }
  return products_.get();
}

/// Rows here are columns to cuBLAS: outᵀ [n, m] = weightᵀᵀ [n, k] · xᵀ [k, m], each as it lies in memory.
void cuda_stream::matmul(tensor out, tensor x, tensor weight) {
  if (x.rows == 0) {
    return;
  }
  const int m = static_cast<int>(x.rows);
  const int n = static_cast<int>(weight.rows);
  const int k = static_cast<int>(weight.columns);
  const cudaDataType_t type = state_.type() == varve::dtype::f32    ? CUDA_R_32F
                              : state_.type() == varve::dtype::bf16 ? CUDA_R_16BF
                                                                    : CUDA_R_16F;
  const float one = 1;
  const float zero = 0;
  check(cublasGemmEx(products(), CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, weight.data, type, k, x.data, type,
                     k, &zero, out.data, type, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
}

}  // namespace decoder

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The GPU that is measured: its stream, memory and clock.
#ifndef VARVE_CUDA_CEILINGS_GPU_HPP
#define VARVE_CUDA_CEILINGS_GPU_HPP

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <varve/trace.hpp>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace varve::ceilings_of_gpu {

/// There is no GPU to measure; the text says why, and what to do.
class no_gpu : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throw std::runtime_error that names the call.
void check(cudaError_t error, const char* call);
void check(cublasStatus_t status, const char* call);

template <class Handle, auto Destroy>
struct destroyer {
  using pointer = Handle;
  void operator()(Handle handle) const noexcept { (void)Destroy(handle); }
};
template <class Handle, auto Destroy>
using owner = std::unique_ptr<Handle, destroyer<Handle, Destroy>>;
using device_memory = owner<void*, static_cast<cudaError_t (*)(void*)>(&cudaFree)>;

[[nodiscard]] device_memory allocate(std::int64_t bytes);

/// The first visible device and a stream on it. Throws no_gpu.
class gpu {
 public:
  gpu();

  [[nodiscard]] const device_info& about() const { return about_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  [[nodiscard]] std::int64_t free_bytes() const;

  /// Seconds that `times` calls of `launch` take on the stream, by its events.
  template <class Launch>
  double seconds(int times, Launch&& launch) const {
    check(cudaEventRecord(begin_.get(), stream_.get()), "cudaEventRecord");
    for (int i = 0; i < times; ++i) {
      launch();
    }
    check(cudaEventRecord(end_.get(), stream_.get()), "cudaEventRecord");
    return elapsed();
  }

  /// Rates of `samples` runs of at least 20 ms, each `amount` a call; two calls before them do not count.
  template <class Launch>
  std::vector<double> rates(double amount, int samples, Launch&& launch) const {
    seconds(1, launch);
    const int times = repetitions_for(seconds(1, launch));
    std::vector<double> out;
    for (int i = 0; i < samples; ++i) {
      out.push_back(amount * times / seconds(times, launch));
    }
    return out;
  }

 private:
  [[nodiscard]] double elapsed() const;
  [[nodiscard]] static int repetitions_for(double one);

  device_info about_;
  owner<cudaStream_t, &cudaStreamDestroy> stream_;
  owner<cudaEvent_t, &cudaEventDestroy> begin_;
  owner<cudaEvent_t, &cudaEventDestroy> end_;
};

}  // namespace varve::ceilings_of_gpu

#endif  // VARVE_CUDA_CEILINGS_GPU_HPP

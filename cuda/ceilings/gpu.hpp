// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The GPU that is measured: its stream, memory and clock.
#ifndef VARVE_CUDA_CEILINGS_GPU_HPP
#define VARVE_CUDA_CEILINGS_GPU_HPP

#include "ceilings/clock.hpp"
#include "ceilings/rates.hpp"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <varve/trace.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
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

/// One of the visible devices, and a stream on it. Throws no_gpu.
class gpu {
 public:
  explicit gpu(int ordinal);

  [[nodiscard]] const device_info& about() const { return about_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  [[nodiscard]] std::int64_t free_bytes() const;
  /// Why measurements tell no clock; empty where they do.
  [[nodiscard]] const std::string& clock_error() const { return clock_->error(); }

  /// Seconds that `times` calls of `launch` take on the stream, by its events.
  template <class Launch>
  double seconds(int times, Launch&& launch) const {
    enqueue(times, launch);
    return elapsed();
  }

  /// Calls until clocks have settled; what one takes then.
  template <class Launch>
  double settle(Launch&& launch) const {
    seconds(1, launch);  // which loads the kernel
    double one = seconds(1, launch);
    double spent = one;
    for (int i = 0; i < 1000 && spent < warm_up_seconds; ++i) {  // events may stand still
      const int calls = schedule_of(one, 1).calls;
      const double all = seconds(calls, launch);
      spent += all;
      one = all / calls;
    }
    return one;
  }

  /// Rates of up to `samples` runs of calls that do `amount` each, by schedule_of(), and the clock meanwhile;
  /// after settle().
  template <class Launch>
  measurement measure(std::string what, math_pipe pipe, double amount, int samples, Launch&& launch) const {
    const schedule plan = schedule_of(settle(launch), samples);
    measurement out{std::move(what), pipe, {}, 0};
    std::vector<double> clocks;
    for (int i = 0; i < plan.samples; ++i) {
      enqueue(plan.calls, launch);
      clocks.push_back(clock_->hertz());  // while they run
      out.samples.push_back(amount * plan.calls / elapsed());
    }
    out.clock = median_of_known(clocks);
    return out;
  }

 private:
  template <class Launch>
  void enqueue(int times, Launch&& launch) const {
    check(cudaEventRecord(begin_.get(), stream_.get()), "cudaEventRecord");
    for (int i = 0; i < times; ++i) {
      launch();
    }
    check(cudaEventRecord(end_.get(), stream_.get()), "cudaEventRecord");
  }
  [[nodiscard]] double elapsed() const;

  device_info about_;
  std::optional<sm_clock> clock_;
  owner<cudaStream_t, &cudaStreamDestroy> stream_;
  owner<cudaEvent_t, &cudaEventDestroy> begin_;
  owner<cudaEvent_t, &cudaEventDestroy> end_;
};

}  // namespace varve::ceilings_of_gpu

#endif  // VARVE_CUDA_CEILINGS_GPU_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The clock that multiprocessors run at while something is measured.
#ifndef VARVE_CUDA_CEILINGS_CLOCK_HPP
#define VARVE_CUDA_CEILINGS_CLOCK_HPP

#include "nvml/library.hpp"

#include <string>

namespace varve::ceilings_of_gpu {

/// Read by NVML, where that can be used.
class sm_clock {
 public:
  /// Of the GPU in that place ("0000:3B:00.0"). `library`: a file, or what the loader finds.
  explicit sm_clock(const std::string& pci_bus_id, const std::string& library = {});
  sm_clock(const sm_clock&) = delete;
  sm_clock& operator=(const sm_clock&) = delete;
  ~sm_clock();

  /// In Hz, as it is now; 0 where it cannot be read.
  [[nodiscard]] double hertz() const noexcept;
  /// Why it cannot; empty where it can.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

 private:
  nvml::library library_;
  nvml::device device_ = nullptr;
  bool initialised_ = false;
  std::string error_;
};

}  // namespace varve::ceilings_of_gpu

#endif  // VARVE_CUDA_CEILINGS_CLOCK_HPP

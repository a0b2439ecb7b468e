// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CUDA_COUNTERS_CALLS_HPP
#define VARVE_CUDA_COUNTERS_CALLS_HPP

#include "driver/driver.hpp"

#include <optional>

namespace varve::counters {

/// Around calls of CUPTI's range profiler: it allocates and submits, which breaks captures (in other
/// contexts, or ones that nobody told of) but for threads in the relaxed mode.
class calls_of_ours {
 public:
  /// `c` is current meanwhile; null: whichever is. `d` may be null.
  calls_of_ours(const cuda::driver* d, cuda::context c) noexcept {
    if (d == nullptr) {
      return;
    }
    uncaptured_.emplace(*d);
    if (c != nullptr && d->context_push != nullptr && d->context_pop != nullptr) {
      current_.emplace(*d, c);
    }
  }
  calls_of_ours(const calls_of_ours&) = delete;
  calls_of_ours& operator=(const calls_of_ours&) = delete;

 private:
  std::optional<cuda::outside_captures> uncaptured_;
  std::optional<cuda::in_context> current_;
};

}  // namespace varve::counters

#endif  // VARVE_CUDA_COUNTERS_CALLS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cpu_device.hpp"

namespace decoder {

void cpu_device::execute(const task& what, std::uint32_t stream, std::uint32_t correlation,
                         std::uint64_t node) {
  if (failed_.load()) {
    return;
  }
  const std::uint64_t begin = varve::clock_ticks();
  try {
    what.run();
  } catch (...) {
    const std::lock_guard lock{mutex_};
    if (!error_) {
      error_ = std::current_exception();
    }
    failed_.store(true);
  }
  reporter_.report(
      {stream, correlation, what.name, begin, varve::clock_ticks(), what.kind, node, what.bytes});
}

void cpu_device::check() const {
  const std::lock_guard lock{mutex_};
  if (error_) {
    std::rethrow_exception(error_);
  }
}

}  // namespace decoder

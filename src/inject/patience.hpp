// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_INJECT_PATIENCE_HPP
#define VARVE_INJECT_PATIENCE_HPP

#include <chrono>

namespace varve::inject {

/// How long a process that dies waits for what it recorded to be written: in all, and while nothing moves.
/// Locks are needed, of the session's and of malloc's, that may never be free.
class patience {
 public:
  static constexpr std::chrono::milliseconds at_rest{20'000};
  static constexpr std::chrono::milliseconds in_all{600'000};

  /// After so long a wait. `worked`: the processor time that the writing thread has used since records were
  /// taken, 0 before. Large traces take long, but whoever waits for a lock uses none.
  [[nodiscard]] bool is_over(std::chrono::milliseconds waited, std::chrono::nanoseconds worked) noexcept {
    if (worked.count() != 0 && worked != worked_) {
      worked_ = worked;
      moved_ = waited;
    }
    return waited - moved_ >= at_rest || waited >= in_all;
  }

 private:
  std::chrono::nanoseconds worked_{0};
  std::chrono::milliseconds moved_{0};
};

}  // namespace varve::inject

#endif  // VARVE_INJECT_PATIENCE_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_INJECT_SIGNAL_MASK_HPP
#define VARVE_INJECT_SIGNAL_MASK_HPP

#include <csignal>

namespace varve::inject {

/// While it lives, the thread takes no signals, or those of its own faults alone.
class signals_blocked {
 public:
  enum which { all, but_faults };
  explicit signals_blocked(which those) noexcept {
    sigset_t set;
    ::sigfillset(&set);
    if (those == but_faults) {
      for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS}) {
        ::sigdelset(&set, fault);
      }
    }
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;
  ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace varve::inject

#endif  // VARVE_INJECT_SIGNAL_MASK_HPP

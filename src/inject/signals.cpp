// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/signals.hpp"

#include "inject/life.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <iterator>

namespace varve::inject {

namespace {

// Crashes, whoever handles them, and what else ends a process, where nobody handles it.
constexpr int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGQUIT};
// Beside these the real-time signals. SIGPROF is left alone: profilers refuse to start where somebody has it.
constexpr int requests[] = {SIGTERM, SIGINT,  SIGHUP,    SIGPIPE, SIGALRM, SIGUSR1,  SIGUSR2,
                            SIGXCPU, SIGXFSZ, SIGVTALRM, SIGIO,   SIGPWR,  SIGSTKFLT};

std::array<struct sigaction, 65> before{};
std::atomic<bool> written{false};

void handle(int signal, siginfo_t* about, void* context) {
  const struct sigaction& old = before[static_cast<std::size_t>(signal)];
  const bool told = (old.sa_flags & SA_SIGINFO) != 0;
  if (told || old.sa_handler != SIG_DFL) {
    // A handler of the engine's may well go on with its life: it waits for us once.
    if (!written.exchange(true)) {
      write_now(why::perhaps);
    }
    told ? old.sa_sigaction(signal, about, context) : old.sa_handler(signal);
    return;
  }
  const bool crash = std::find(std::begin(crashes), std::end(crashes), signal) != std::end(crashes);
  write_now(crash ? why::crash : why::end);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(signal, &usual, nullptr);
  const bool fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
  if (!fault || about->si_code <= 0) {
    ::raise(signal);  // arrives once this handler has returned
  }                   // a faulting instruction faults again
}

void watch(int signal, bool also_handled) noexcept {
  struct sigaction& old = before[static_cast<std::size_t>(signal)];
  if (::sigaction(signal, nullptr, &old) != 0) {
    return;
  }
  const bool told = (old.sa_flags & SA_SIGINFO) != 0;
  if (told ? !also_handled : old.sa_handler == SIG_IGN || (old.sa_handler != SIG_DFL && !also_handled)) {
    return;
  }
  struct sigaction ours {};
  ours.sa_sigaction = handle;
  ours.sa_mask = old.sa_mask;
  // Handlers of the engine's run on the stack that they have asked for.
  const bool handled = told || old.sa_handler != SIG_DFL;
  ours.sa_flags = SA_SIGINFO | (handled ? old.sa_flags & SA_ONSTACK : SA_ONSTACK) |
                  (old.sa_flags & (SA_RESTART | SA_NODEFER));
  ::sigaction(signal, &ours, nullptr);
}

}  // namespace

void watch_signals() noexcept {
  static std::atomic<bool> done{false};
  if (done.exchange(true)) {
    return;  // a forked child has its parent's
  }
  for (const int signal : crashes) {
    watch(signal, true);
  }
  for (const int signal : requests) {
    watch(signal, false);
  }
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) {
    watch(signal, false);
  }
}

}  // namespace varve::inject

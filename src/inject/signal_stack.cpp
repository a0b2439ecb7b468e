// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/signal_stack.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>

namespace varve::inject {

namespace {

/// Room for handlers of the engine's that ours calls. Pages that are not touched take no memory.
constexpr std::size_t stack_size = std::size_t{128} << 10U;

/// Of threads that have ended, for new ones: the engine may still hold the address of one that it found. No
/// lock, which a forked child could find taken.
std::array<std::atomic<void*>, 256> spare{};

/// Above a page that stops what overflows it; null where there is no memory.
void* make_stack() noexcept {
  for (std::atomic<void*>& s : spare) {
    if (s.load(std::memory_order_relaxed) != nullptr) {
      if (void* const found = s.exchange(nullptr)) {
        return found;
      }
    }
  }
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const made = ::mmap(nullptr, page + stack_size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (made == MAP_FAILED) {
    return nullptr;
  }
  ::mprotect(made, page, PROT_NONE);
  return static_cast<char*>(made) + page;
}

void take_back(void* stack) noexcept {
  for (std::atomic<void*>& s : spare) {
    void* expected = nullptr;
    if (s.compare_exchange_strong(expected, stack)) {
      return;
    }
  }
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  ::munmap(static_cast<char*>(stack) - page, page + stack_size);
}

/// The stack of a thread, while it lives.
class given_stack {
 public:
  given_stack() noexcept {
    stack_t now{};
    if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) {
      return;
    }
    stack_t ours{};
    ours.ss_sp = make_stack();
    ours.ss_size = stack_size;
    if (ours.ss_sp != nullptr && ::sigaltstack(&ours, nullptr) == 0) {
      stack_ = ours.ss_sp;
    } else if (ours.ss_sp != nullptr) {
      take_back(ours.ss_sp);
    }
  }
  given_stack(const given_stack&) = delete;
  given_stack& operator=(const given_stack&) = delete;
  ~given_stack() {
    stack_t now{};
    if (stack_ == nullptr || ::sigaltstack(nullptr, &now) != 0) {
      return;
    }
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (now.ss_sp != stack_ || ::sigaltstack(&none, nullptr) == 0) {  // it fails inside a handler
      take_back(stack_);
    }
  }

 private:
  void* stack_ = nullptr;
};

}  // namespace

void give_signal_stack() noexcept {
  static thread_local const given_stack mine;
  static_cast<void>(mine);
}

}  // namespace varve::inject

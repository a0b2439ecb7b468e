// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cuda/fake_driver.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace {

/// Of a thread. Of no destructor: a session may stop after those of a thread's objects.
struct context_stack {
  std::array<void*, 16> contexts;
  std::size_t size;

  void clear() noexcept { size = 0; }
  [[nodiscard]] bool empty() const noexcept { return size == 0; }
  [[nodiscard]] void* back() const noexcept { return contexts[size - 1]; }
  bool push(void* context) noexcept {
    if (size == contexts.size()) {
      return false;
    }
    contexts[size++] = context;
    return true;
  }
  void pop_back() noexcept { --size; }
};
thread_local context_stack current{};
thread_local int capture_mode = 0;  // global
std::atomic<bool> captures{false};
std::atomic<bool> captures_elsewhere{false};
std::atomic<bool> captures_blocking{false};
std::atomic<bool> broken{false};
std::atomic<bool> ended{false};

std::function<void(void*)>& hook() {
  static auto* const leaked = new std::function<void(void*)>;
  return *leaked;
}

constexpr int success = 0;
constexpr int deinitialized = 4;
constexpr int invalid_context = 201;
constexpr int capture_unsupported = 900;
constexpr int capture_implicit = 906;
constexpr int relaxed = 2;
const void* const legacy_stream = reinterpret_cast<void*>(std::uintptr_t{1});

}  // namespace

void fake_driver::on_synchronize(std::function<void(void*)> to) { hook() = std::move(to); }

void fake_driver::set_current(void* context) {
  current.clear();
  if (context != nullptr) {
    current.push(context);
  }
}

void fake_driver::capture(bool under_way, bool blocking) {
  captures = under_way;
  captures_blocking = under_way && blocking;
  captures_elsewhere = false;
  broken = false;
}

void fake_driver::capture_elsewhere(bool under_way) {
  capture(false);
  captures_elsewhere = under_way;
}

void fake_driver::touch() {
  if ((captures || captures_elsewhere) && capture_mode != relaxed) {
    broken = true;
  }
}

bool fake_driver::capture_broken() { return broken; }

void fake_driver::end() { ended = true; }

// NOLINTBEGIN(readability-identifier-naming): the driver's names
#define EXPORTED extern "C" __attribute__((visibility("default"))) int

EXPORTED cuCtxPushCurrent_v2(void* context) { return current.push(context) ? success : invalid_context; }

EXPORTED cuCtxPopCurrent_v2(void** context) {
  if (current.empty()) {
    return invalid_context;
  }
  *context = current.back();
  current.pop_back();
  return success;
}

EXPORTED cuCtxGetCurrent(void** context) {
  *context = current.empty() ? nullptr : current.back();
  return success;
}

EXPORTED cuCtxGetDevice(int* device) {
  *device = 0;
  return current.empty() ? invalid_context : success;
}

EXPORTED cuCtxSynchronize() {
  if (ended) {
    return deinitialized;
  }
  if (current.empty()) {
    return invalid_context;
  }
  if (captures) {
    broken = true;
    return capture_unsupported;
  }
  if (hook()) {
    hook()(current.back());
  }
  return success;
}

EXPORTED cuStreamIsCapturing(void* stream, int* status) {
  *status = 0;
  return stream == legacy_stream && captures_blocking ? capture_implicit : success;
}

EXPORTED cuThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(*mode, capture_mode);
  return success;
}
// NOLINTEND(readability-identifier-naming)

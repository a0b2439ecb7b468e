// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cuda/fake_driver.hpp"

#include <atomic>
#include <utility>
#include <vector>

namespace {

thread_local std::vector<void*> current;
thread_local int capture_mode = 0;  // global
std::atomic<bool> captures{false};
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
constexpr int relaxed = 2;

}  // namespace

void fake_driver::on_synchronize(std::function<void(void*)> to) { hook() = std::move(to); }

void fake_driver::set_current(void* context) {
  current.clear();
  if (context != nullptr) {
    current.push_back(context);
  }
}

void fake_driver::capture(bool under_way) {
  captures = under_way;
  broken = false;
}

bool fake_driver::capture_broken() { return broken; }

void fake_driver::end() { ended = true; }

#define EXPORTED extern "C" __attribute__((visibility("default"))) int

EXPORTED cuCtxPushCurrent_v2(void* context) {
  current.push_back(context);
  return success;
}

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
    broken = broken || capture_mode != relaxed;
    return capture_unsupported;
  }
  if (hook()) {
    hook()(current.back());
  }
  return success;
}

EXPORTED cuThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(*mode, capture_mode);
  return success;
}

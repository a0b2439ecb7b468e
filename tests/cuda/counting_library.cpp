// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The real libcupti behind functions that count how often they are called.
#include "cupti/abi.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace {

using namespace varve::cupti;

std::atomic<std::size_t> calls{0};

template <class... Parameters>
result forward(const char* name, Parameters... parameters) {
  static void* const real = ::dlopen(VARVE_REAL_CUPTI, RTLD_NOW | RTLD_LOCAL);
  ++calls;
  const auto function =
      reinterpret_cast<result (*)(Parameters...)>(real != nullptr ? ::dlsym(real, name) : nullptr);
  return function != nullptr ? function(parameters...) : result::api_not_implemented;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED std::size_t counted_calls() { return calls; }

// NOLINTBEGIN(readability-identifier-naming): CUPTI's names
EXPORTED result cuptiGetVersion(std::uint32_t* version) { return forward("cuptiGetVersion", version); }
EXPORTED result cuptiGetTimestamp(std::uint64_t* timestamp) {
  return forward("cuptiGetTimestamp", timestamp);
}
EXPORTED result cuptiGetCallbackName(callback_domain domain, std::uint32_t id, const char** name) {
  return forward("cuptiGetCallbackName", domain, id, name);
}
EXPORTED result cuptiSubscribe(subscriber_handle* subscriber, callback_function function, void* data) {
  return forward("cuptiSubscribe", subscriber, function, data);
}
EXPORTED result cuptiUnsubscribe(subscriber_handle subscriber) {
  return forward("cuptiUnsubscribe", subscriber);
}
EXPORTED result cuptiEnableCallback(std::uint32_t on, subscriber_handle subscriber, callback_domain domain,
                                    std::uint32_t id) {
  return forward("cuptiEnableCallback", on, subscriber, domain, id);
}
EXPORTED result cuptiActivityRegisterCallbacks(buffer_requested_function requested,
                                               buffer_completed_function completed) {
  return forward("cuptiActivityRegisterCallbacks", requested, completed);
}
EXPORTED result cuptiActivityEnable(record_kind kind) { return forward("cuptiActivityEnable", kind); }
EXPORTED result cuptiActivityDisable(record_kind kind) { return forward("cuptiActivityDisable", kind); }
EXPORTED result cuptiActivityFlushAll(std::uint32_t flag) { return forward("cuptiActivityFlushAll", flag); }
EXPORTED result cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
  return forward("cuptiActivityGetNextRecord", buffer, valid, record);
}
EXPORTED result cuptiActivityGetNumDroppedRecords(context_handle context, std::uint32_t stream,
                                                  std::size_t* dropped) {
  return forward("cuptiActivityGetNumDroppedRecords", context, stream, dropped);
}
// NOLINTEND(readability-identifier-naming)

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The subscriber, and which callbacks it has enabled.
#ifndef VARVE_TESTS_STANDIN_CUPTI_CALLBACKS_HPP
#define VARVE_TESTS_STANDIN_CUPTI_CALLBACKS_HPP

#include "standin_cupti/control.hpp"

namespace standin {

abi::result subscribe(abi::subscriber_handle* subscriber, abi::callback_function function, void* user_data);
abi::result unsubscribe(abi::subscriber_handle subscriber);
abi::result enable(bool on, abi::subscriber_handle subscriber, abi::callback_domain domain, std::uint32_t id);
abi::result enable_domain(bool on, abi::subscriber_handle subscriber, abi::callback_domain domain);

/// Calls the subscriber on this thread, with no lock held, if it has enabled the callback.
void emit(abi::callback_domain domain, std::uint32_t id, const void* data);

inline void emit(abi::resource_event event, const void* data) {
  emit(abi::callback_domain::resource, static_cast<std::uint32_t>(event), data);
}

/// Whether any callback of the runtime's or driver's functions is enabled.
bool api_callbacks_enabled();

void reset_callbacks();

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_CALLBACKS_HPP

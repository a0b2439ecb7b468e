// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The subscriber, and which callbacks it has enabled.
#ifndef VARVE_TESTS_STANDIN_CUPTI_CALLBACKS_HPP
#define VARVE_TESTS_STANDIN_CUPTI_CALLBACKS_HPP

#include "standin_cupti/control.hpp"

namespace standin {

cupti::result subscribe(cupti::subscriber_handle* subscriber, cupti::callback_function function,
                        void* user_data);
cupti::result unsubscribe(cupti::subscriber_handle subscriber);
cupti::result enable(bool on, cupti::subscriber_handle subscriber, cupti::callback_domain domain,
                     std::uint32_t id);
cupti::result enable_domain(bool on, cupti::subscriber_handle subscriber, cupti::callback_domain domain);

/// Calls the subscriber on this thread, with no lock held, if it has enabled the callback.
void emit(cupti::callback_domain domain, std::uint32_t id, const void* data);

inline void emit(cupti::resource_event event, const void* data) {
  emit(cupti::callback_domain::resource, static_cast<std::uint32_t>(event), data);
}

/// Whether any callback of the runtime's or driver's functions is enabled.
bool api_callbacks_enabled();

void reset_callbacks();

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_CALLBACKS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which records the client wants, and what threads and external ids go into them.
#ifndef VARVE_TESTS_STANDIN_CUPTI_ACTIVITY_HPP
#define VARVE_TESTS_STANDIN_CUPTI_ACTIVITY_HPP

#include "standin_cupti/layout.hpp"

namespace standin {

cupti::result enable_kind(cupti::record_kind kind, bool on);
bool wanted(cupti::record_kind kind);
/// Of kernels: concurrent_kernel or kernel, or invalid for neither.
cupti::record_kind wanted_kernels();

cupti::result enable_api(cupti::callback_domain domain, std::uint32_t id, bool on);
bool wanted_api(cupti::callback_domain domain, std::uint32_t id);
/// Whether API records or callbacks make correlation ids.
bool correlates();

cupti::result set_thread_id_type(cupti::thread_id_type type);
std::uint32_t this_thread_id();

cupti::result push_external(cupti::external_correlation_kind kind, std::uint64_t id);
cupti::result pop_external(cupti::external_correlation_kind kind, std::uint64_t* last);
/// Writes this thread's external ids, as far as they are wanted.
void write_external(std::uint32_t correlation);

cupti::result set_attribute(cupti::attribute what, const std::size_t* size, const void* value);
cupti::result get_attribute(cupti::attribute what, std::size_t* size, void* value);

void reset_activity();

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_ACTIVITY_HPP

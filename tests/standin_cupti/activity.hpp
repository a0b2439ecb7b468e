// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which records the client wants, and what threads and external ids go into them.
#ifndef VARVE_TESTS_STANDIN_CUPTI_ACTIVITY_HPP
#define VARVE_TESTS_STANDIN_CUPTI_ACTIVITY_HPP

#include "standin_cupti/layout.hpp"

namespace standin {

abi::result enable_kind(abi::record_kind kind, bool on);
bool wanted(abi::record_kind kind);
/// Of kernels: concurrent_kernel or kernel, or invalid for neither.
abi::record_kind wanted_kernels();

abi::result enable_api(abi::callback_domain domain, std::uint32_t id, bool on);
bool wanted_api(abi::callback_domain domain, std::uint32_t id);
/// Whether API records or callbacks make correlation ids.
bool correlates();

abi::result set_thread_id_type(abi::thread_id_type type);
std::uint32_t this_thread_id();

abi::result push_external(abi::external_correlation_kind kind, std::uint64_t id);
abi::result pop_external(abi::external_correlation_kind kind, std::uint64_t* last);
/// Writes this thread's external ids, as far as they are wanted.
void write_external(std::uint32_t correlation);

abi::result set_attribute(abi::attribute what, const std::size_t* size, const void* value);
abi::result get_attribute(abi::attribute what, std::size_t* size, void* value);

void reset_activity();

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_ACTIVITY_HPP

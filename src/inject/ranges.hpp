// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Ranges of NVTX in the recorder: pushed and popped a domain and thread, or started and ended anywhere.
#ifndef VARVE_INJECT_RANGES_HPP
#define VARVE_INJECT_RANGES_HPP

#include "inject/labels.hpp"

#include <cstdint>

namespace varve::inject {

/// `index` is the payload's, where the mark has none. Returns how many ranges are open on the thread, without
/// it.
int push_range(const void* domain, const range_mark& mark, std::int32_t index) noexcept;
/// The same number, or −1 where the domain has none open on the thread.
int pop_range(const void* domain) noexcept;

/// Returns an id, 0 where nothing records it.
std::uint64_t start_range(const range_mark& mark, std::int32_t index) noexcept;
/// On any thread.
void end_range(std::uint64_t id) noexcept;

/// Around a fork.
void lock_ranges() noexcept;
void unlock_ranges() noexcept;

}  // namespace varve::inject

#endif  // VARVE_INJECT_RANGES_HPP

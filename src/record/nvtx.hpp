// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// NVTX ranges in the domain "varve", for whatever tool is attached. The only code that sees NVTX headers;
// without them, or without a tool, attach() is false and nothing else is called.
#ifndef VARVE_RECORD_NVTX_HPP
#define VARVE_RECORD_NVTX_HPP

#include <cstdint>

namespace varve::record::nvtx {

/// Looks for a tool, which NVTX loads at its first call. Called once.
bool attach() noexcept;
void push(const char* name, std::int32_t index) noexcept;
void pop() noexcept;
std::uint64_t start(const char* name, std::int32_t index) noexcept;
void end(std::uint64_t id) noexcept;

}  // namespace varve::record::nvtx

#endif  // VARVE_RECORD_NVTX_HPP

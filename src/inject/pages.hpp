// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_INJECT_PAGES_HPP
#define VARVE_INJECT_PAGES_HPP

namespace varve::inject {

/// Whether the page that holds this address may be written; true where that is not known. Allocates nothing.
[[nodiscard]] bool is_writable(const void* address) noexcept;

}  // namespace varve::inject

#endif  // VARVE_INJECT_PAGES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Names made at run time, stored once for the life of the process so that a marker can keep their address.
#ifndef VARVE_RECORD_NAMES_HPP
#define VARVE_RECORD_NAMES_HPP

#include <string_view>

namespace varve::record {

/// The one copy of `text`. Thread safe; "" when there is no memory for it.
const char* intern_name(std::string_view text) noexcept;
/// Around a fork.
void lock_names() noexcept;
void unlock_names() noexcept;

}  // namespace varve::record

#endif  // VARVE_RECORD_NAMES_HPP

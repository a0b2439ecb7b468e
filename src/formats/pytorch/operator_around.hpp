// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_PYTORCH_OPERATOR_AROUND_HPP
#define VARVE_FORMATS_PYTORCH_OPERATOR_AROUND_HPP

#include <varve/trace.hpp>

#include <cstdint>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// The innermost operator or annotation on `thread` that holds the instant, both ends counting as inside;
/// none where it would be behind more than 256 that have ended, each inside the next.
[[nodiscard]] std::uint32_t operator_around(const operator_columns& o, std::uint16_t thread, time_ns at);
/// The same without annotations, of which it looks through up to 64.
[[nodiscard]] std::uint32_t operation_around(const trace& t, std::uint16_t thread, time_ns at);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_OPERATOR_AROUND_HPP

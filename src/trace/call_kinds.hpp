// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which calls make a device work.
#ifndef VARVE_TRACE_CALL_KINDS_HPP
#define VARVE_TRACE_CALL_KINDS_HPP

#include <varve/trace.hpp>

namespace varve {
inline namespace v0 {

/// Calls that put work on a device.
constexpr bool launches_work(call_kind kind) noexcept {
  return kind == call_kind::launch || kind == call_kind::graph_launch || kind == call_kind::copy ||
         kind == call_kind::set;
}

}  // namespace v0
}  // namespace varve

#endif  // VARVE_TRACE_CALL_KINDS_HPP

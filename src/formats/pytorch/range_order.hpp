// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_PYTORCH_RANGE_ORDER_HPP
#define VARVE_FORMATS_PYTORCH_RANGE_ORDER_HPP

#include <varve/trace.hpp>

#include <cstdint>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Brings parents before children again, once ranges were added behind the first `marked` and some of those
/// have parents there now: what stays, then what was added, then what moved into that. Whatever names a range
/// follows.
void order_ranges(trace& t, std::uint32_t marked);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_RANGE_ORDER_HPP

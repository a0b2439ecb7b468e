// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Sums of a report's fields as doubles: a report that comes from a file may hold any integers.
#ifndef VARVE_FORMATS_TABLE_SUMS_HPP
#define VARVE_FORMATS_TABLE_SUMS_HPP

#include <varve/report.hpp>

namespace varve::table {

inline double starved_sum(const starved_time& t) noexcept {
  return static_cast<double>(t.launching) + static_cast<double>(t.graph_building) +
         static_cast<double>(t.synchronising) + static_cast<double>(t.allocating) +
         static_cast<double>(t.other);
}

inline double busy_sum(const wall_partition& p) noexcept {
  return static_cast<double>(p.compute) + static_cast<double>(p.exposed_communication) +
         static_cast<double>(p.exposed_copy);
}

inline double token_sum(const phase_row& p) noexcept {
  return static_cast<double>(p.prefill_tokens) + static_cast<double>(p.decode_tokens);
}

inline double byte_sum(const work& w) noexcept {
  return static_cast<double>(w.weight_bytes) + static_cast<double>(w.kv_bytes) +
         static_cast<double>(w.activation_bytes);
}

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_SUMS_HPP

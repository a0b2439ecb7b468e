// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What stays in a store when something is taken from it.
#ifndef VARVE_RECORD_STORE_REST_HPP
#define VARVE_RECORD_STORE_REST_HPP

#include "record/store.hpp"

namespace varve::record {

/// As the members of a store, in new tables.
struct store::remainder {
  trace t;
  std::uint64_t begin = 0;
  std::deque<log_state> logs;
  std::unordered_map<std::uint64_t, std::uint16_t> streams;
  std::unordered_map<std::uint64_t, node_rows> nodes;
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> carriers;
  std::unordered_map<std::uint64_t, captured_work> taken_captures;
  std::vector<std::uint32_t> last_works;
  std::vector<std::uint32_t> works_before;
  activity_columns device_activities;
  std::size_t unresolved = 0;
  std::vector<kept_span> spans;
  std::vector<capture> captures;
  std::unordered_map<std::uint64_t, request_state> requests;
  std::unordered_multimap<std::uint64_t, std::uint32_t> early_links;
  std::unordered_map<std::uint32_t, std::uint64_t> ends_elsewhere;
  std::uint64_t late = 0;
};

}  // namespace varve::record

#endif  // VARVE_RECORD_STORE_REST_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What add_report() joins: the rows of a window's report with those of the windows before.
#ifndef VARVE_ANALYZE_ADD_ROWS_HPP
#define VARVE_ANALYZE_ADD_ROWS_HPP

#include <varve/report.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// What was left out of a sum.
struct left_out {
  std::uint64_t rows = 0;           ///< beyond `most_rows` of a list
  std::uint64_t distributions = 0;  ///< that lack a histogram on one side
};

inline constexpr std::size_t most_rows = 65536;  ///< of each list

/// A kind of pass on a device.
using group_key = std::tuple<std::string_view, std::string_view, std::string_view, std::uint32_t>;

template <class Row>
group_key group_of(const Row& r) noexcept {
  return {r.phase, r.model, r.batch, r.device};
}

/// Of each of `next` the first of `total` with the same key, or none.
template <class Row, class Key>
std::vector<std::uint32_t> match(const std::vector<Row>& total, const std::vector<Row>& next,
                                 const Key& key) {
  std::map<decltype(key(total[0])), std::uint32_t> places;
  for (std::uint32_t i = 0; i < total.size(); ++i) {
    places.emplace(key(total[i]), i);
  }
  std::vector<std::uint32_t> out;
  out.reserve(next.size());
  for (const Row& r : next) {
    const auto found = places.find(key(r));
    out.push_back(found != places.end() ? found->second : none);
  }
  return out;
}

/// Joins rows; new ones come last. `moves`: those of kernels are others than those of copies and sets of one
/// name. Returns where each of `next` went, or none: left out.
std::vector<std::uint32_t> join_rows(std::vector<row>& total, std::vector<row>& next, bool moves,
                                     left_out& lost);
void add_window(distribution& to, const distribution& next, left_out& lost);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_ADD_ROWS_HPP

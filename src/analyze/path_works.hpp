// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a description tells of the label paths that passes replayed.
#ifndef VARVE_ANALYZE_PATH_WORKS_HPP
#define VARVE_ANALYZE_PATH_WORKS_HPP

#include "analyze/flat_map.hpp"

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

class path_works {
 public:
  void add(std::uint32_t pass, std::uint32_t path, const work& w) {
    std::uint32_t& list = lists_[pair_key(pass, path)];
    if (list == none) {
      list = static_cast<std::uint32_t>(entries_.size());
      entries_.emplace_back();
    }
    entries_[list].push_back(w);
  }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  /// A number for what is told of a path in a pass, or none.
  [[nodiscard]] std::uint32_t find(std::uint32_t pass, std::uint32_t path) const noexcept {
    return lists_.find(pair_key(pass, path));
  }
  [[nodiscard]] const std::vector<work>& operator[](std::uint32_t list) const noexcept {
    return entries_[list];
  }

 private:
  flat_map lists_;
  std::vector<std::vector<work>> entries_;
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_PATH_WORKS_HPP

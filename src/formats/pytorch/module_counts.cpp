// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/module_counts.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_map>

namespace varve {
inline namespace v0 {
namespace pytorch {

std::vector<std::size_t> count_modules(const label_table& labels) {
  std::unordered_map<std::uint32_t, std::set<std::int32_t>> indices;
  for (std::uint32_t l = 0; l < labels.size(); ++l) {
    if (labels[l].kind == range_kind::layer && labels[l].index != no_index) {
      indices[labels[l].name].insert(labels[l].index);
    }
  }
  std::vector<std::size_t> counts;
  for (const auto& [name, all] : indices) {
    if (all.size() >= 3) {
      counts.push_back(all.size());
    }
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

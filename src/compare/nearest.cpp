// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/nearest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

constexpr std::size_t longest = 64;

/// Levenshtein's: letters to change, add or take away.
std::size_t distance(std::string_view a, std::string_view b) {
  std::array<std::size_t, longest + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row[b.size()];
}

std::size_t cut_distance(std::string_view a, std::string_view b) {
  return distance(a.substr(0, longest), b.substr(0, longest));
}

std::string_view last_step(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  path = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return !path.empty() && path.front() == ' ' ? path.substr(1) : path;
}

std::string list_of(std::vector<std::pair<std::size_t, std::string_view>> ranked) {
  constexpr std::size_t most = 3;
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  ranked.resize(std::min(most, ranked.size()));
  std::string out;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    out += i == 0                   ? ranked.size() == 1 ? "; there is " : "; the nearest are "
           : i + 1 == ranked.size() ? " and "
                                    : ", ";
    out += '"' + std::string{ranked[i].second.substr(0, 2 * longest)} + '"';
  }
  return out;
}

}  // namespace

std::string nearest(std::string_view to, const std::vector<std::string_view>& names) {
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  for (const std::string_view name : names) {
    ranked.emplace_back(cut_distance(to, name), name);
  }
  return list_of(std::move(ranked));
}

std::string nearest_paths(std::string_view to, const std::vector<std::string_view>& paths) {
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  for (const std::string_view path : paths) {
    ranked.emplace_back(std::min(cut_distance(to, path), cut_distance(last_step(to), last_step(path))), path);
  }
  return list_of(std::move(ranked));
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/kernel_pipes.hpp"

#include "trace/launching_ranges.hpp"

#include <algorithm>
#include <unordered_map>

namespace varve {
inline namespace v0 {
namespace model_work {

namespace {

constexpr double nearly_all = 0.95;

/// Adds each row to that of its parent, which comes before it.
template <class Parent>
void add_to_parents(std::vector<double>& times, std::size_t width, Parent parent_of) {
  for (std::size_t row = width == 0 ? 0 : times.size() / width; row-- > 0;) {
    const std::uint32_t up = parent_of(row);
    for (std::size_t k = 0; up < row && k < width; ++k) {
      times[up * width + k] += times[row * width + k];
    }
  }
}

}  // namespace

kernel_pipes::kernel_pipes(const trace& t) {
  std::unordered_map<std::uint32_t, std::size_t> places;  // in pipes_, by name; beyond: it tells nothing
  const auto place_of = [&](std::uint32_t name) {
    const auto [at, added] = places.try_emplace(name, math_pipes);
    if (added && kernel_category(t.strings[name]) == "linear") {
      if (const math_pipe pipe = pipe_of_kernel(t.strings[name]); pipe != math_pipe::unknown) {
        at->second = static_cast<std::size_t>(std::find(pipes_.begin(), pipes_.end(), pipe) - pipes_.begin());
        if (at->second == pipes_.size()) {
          pipes_.push_back(pipe);
        }
      }
    }
    return at->second;
  };
  std::vector<std::size_t> told(t.activities.size(), math_pipes);
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (t.activities.kind[i] == activity_kind::kernel) {
      told[i] = place_of(t.activities.name[i]);
    }
  }
  if (pipes_.empty()) {
    return;
  }
  const std::size_t width = pipes_.size();
  ranges_.assign(t.ranges.size() * width, 0);
  labels_.assign(t.labels.size() * width, 0);
  const launching_ranges launched{t};
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (told[i] >= width) {
      continue;
    }
    const double time =
        std::max(0.0, static_cast<double>(t.activities.end[i]) - static_cast<double>(t.activities.begin[i]));
    const std::uint32_t node = t.activities.node[i];
    const bool replayed = node < t.graph_nodes.size();
    const std::uint32_t row = replayed ? t.graph_nodes[node].label : launched.of(i);
    if (times& to = replayed ? labels_ : ranges_; row < to.size() / width) {
      to[row * width + told[i]] += time;
    }
  }
  add_to_parents(ranges_, width, [&](std::size_t r) { return t.ranges[r].parent; });
  add_to_parents(labels_, width,
                 [&](std::size_t l) { return t.labels[static_cast<std::uint32_t>(l)].parent; });
}

math_pipe kernel_pipes::pipe_of(const times& of, std::uint32_t row) const noexcept {
  const std::size_t width = pipes_.size();
  if (width == 0 || row >= of.size() / width) {
    return math_pipe::unknown;
  }
  const auto begin = of.begin() + static_cast<std::ptrdiff_t>(row * width);
  const auto most = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(width));
  double all = 0;
  for (std::size_t k = 0; k < width; ++k) {
    all += of[row * width + k];
  }
  return *most > 0 && *most >= nearly_all * all ? pipes_[static_cast<std::size_t>(most - begin)]
                                                : math_pipe::unknown;
}

}  // namespace model_work
}  // namespace v0
}  // namespace varve

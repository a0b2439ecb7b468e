// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/unlaunched.hpp"

#include "formats/pytorch/operator_around.hpp"

#include <algorithm>
#include <cstddef>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

/// The correlations of calls that launch something.
class correlations {
 public:
  explicit correlations(const call_columns& calls) {
    std::uint32_t least = none;
    std::uint32_t most = 0;
    std::size_t count = 0;
    const auto each = [&](auto f) {
      for (std::size_t c = 0; c < calls.size(); ++c) {
        if (calls.correlation[c] != 0 && calls.captured[c] == 0) {
          f(calls.correlation[c]);
        }
      }
    };
    each([&](std::uint32_t id) {
      least = std::min(least, id);
      most = std::max(most, id);
      ++count;
    });
    if (count == 0) {
      return;
    }
    // Numbers without many gaps, as profilers give them: looked up, not searched.
    if (most - least < 64 * count) {
      first_ = least;
      dense_.assign(std::size_t{most} - least + 1, false);
      each([&](std::uint32_t id) { dense_[id - first_] = true; });
    } else {
      sparse_.reserve(count);
      each([&](std::uint32_t id) { sparse_.push_back(id); });
      std::sort(sparse_.begin(), sparse_.end());
    }
  }

  [[nodiscard]] bool has(std::uint32_t id) const {
    return dense_.empty() ? std::binary_search(sparse_.begin(), sparse_.end(), id)
                          : id - first_ < dense_.size() && dense_[id - first_];
  }

 private:
  std::uint32_t first_ = 0;
  std::vector<bool> dense_;
  std::vector<std::uint32_t> sparse_;
};

}  // namespace

std::vector<std::uint32_t> find_unlaunched(const trace& t) {
  const activity_columns& a = t.activities;
  const correlations launched{t.calls};
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    if (a.node[i] == none && a.kind[i] != activity_kind::graph && !launched.has(a.correlation[i])) {
      out.push_back(i);
    }
  }
  return out;
}

void place_unlaunched(trace& t, const std::vector<std::uint32_t>& activities,
                      const std::vector<launch_point>& points) {
  call_columns calls;
  calls.reserve(points.size());
  for (const launch_point& p : points) {
    calls.begin.push_back(p.at);
    calls.end.push_back(p.at);
    calls.thread.push_back(p.thread);
  }
  calls.range.assign(points.size(), none);
  join_calls_to_ranges(t, calls);

  const auto range_of = [&](std::uint32_t op) { return op != none ? t.operators.range[op] : none; };
  std::vector<std::uint32_t>& ranges = t.range_of_activity;
  const auto place = [&](std::uint32_t activity, std::uint32_t range, std::uint64_t& count) {
    if (range != none) {
      ranges.resize(t.activities.size(), none);
      ranges[activity] = range;
      ++count;
    }
    return range != none;
  };
  const bool have_operators = !t.operator_of_activity.empty();
  std::size_t next = 0;
  for (const std::uint32_t i : activities) {
    const bool placed =
        have_operators && place(i, range_of(t.operator_of_activity[i]), t.elsewhere.activities_by_operator);
    for (; next < points.size() && points[next].activity < i; ++next) {
    }
    if (placed || next == points.size() || points[next].activity != i) {
      continue;
    }
    const launch_point& p = points[next];
    const std::uint32_t op = have_operators ? operation_around(t, p.thread, p.at) : none;
    (void)place(i, calls.range[next] != none ? calls.range[next] : range_of(op),
                t.elsewhere.activities_by_flow);
    if (have_operators && t.operator_of_activity[i] == none) {
      t.operator_of_activity[i] = op;
    }
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

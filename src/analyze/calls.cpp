// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/calls.hpp"

#include "analyze/time_order.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

constexpr std::uint16_t first_unknown_thread = 65534;  // more threads than the table holds, or none

}  // namespace

call_index::call_index(const trace& t)
    : calls_{t.calls},
      ranges_{t.ranges.size()},
      size_{static_cast<std::uint32_t>(std::min<std::size_t>(t.calls.size(), several - 1))} {
  prepare_index();
  if (!walk()) {
    order_ = in_order_of_begin();
    prepare_index();
    walk();
  }
  std::sort(hidden_.begin(), hidden_.end());
  settle();
}

void call_index::prepare_index() {
  is_outermost_.assign(size_, false);
  threads_.clear();
  graph_launches_.clear();
  hidden_.clear();
  disputed_.clear();
  unknown_ranges_ = 0;
  dense_.clear();
  sparse_ = {};
  std::uint32_t least = none;
  std::uint32_t most = 0;
  for (std::uint32_t c = 0; c < size_; ++c) {
    least = std::min(least, calls_.correlation[c] - 1);  // 0, "none", becomes the greatest
    most = std::max(most, calls_.correlation[c]);
  }
  first_ = least + 1;
  if (most != 0 && most - first_ < 8ULL * size_ + 1024) {
    dense_.assign(std::size_t{most} - first_ + 1, none);
  }
}

std::uint32_t& call_index::entry(std::uint32_t correlation) {
  return dense_.empty() ? sparse_[correlation] : dense_[correlation - first_];
}

std::vector<std::uint32_t> call_index::in_order_of_begin() const {
  std::vector<std::uint32_t> order(size_);
  std::iota(order.begin(), order.end(), 0U);
  sort_by_time(
      std::span{order}, [&](std::uint32_t c) { return begin(c); },
      [&](std::uint32_t a, std::uint32_t b) {
        const auto rest = [&](std::uint32_t c) {
          return std::tuple{calls_.thread[c], calls_.kind[c], calls_.captured[c], calls_.correlation[c],
                            calls_.range[c]};
        };
        return begin(a) != begin(b) ? begin(a) < begin(b)
               : end(a) != end(b)   ? end(a) > end(b)
                                    : rest(a) < rest(b);
      });
  return order;
}

// Finds outermost calls and indexes correlations in one walk. False: the order is that of the records, and
// those of some thread are not in order of time.
bool call_index::walk() {
  const bool as_recorded = order_.empty();
  for (std::uint32_t k = 0; k < size_; ++k) {
    const std::uint32_t c = as_recorded ? k : order_[k];
    unknown_ranges_ += calls_.range[c] >= ranges_ && calls_.range[c] != none ? 1U : 0U;
    std::uint32_t launching = c;
    if (is_measured(kind(c))) {
      const std::uint16_t thread = calls_.thread[c];
      if (thread >= first_unknown_thread) {
        is_outermost_[c] = true;
        if (kind(c) == call_kind::graph_launch && !captured(c)) {
          graph_launches_.push_back(c);
        }
      } else {
        if (thread >= threads_.size()) {
          threads_.resize(thread + std::size_t{1});
        }
        thread_state& now = threads_[thread];
        const time_ns b = begin(c);
        const time_ns e = end(c);
        const bool ordered = b > now.begin || (b == now.begin && (e < now.end || (e == now.end && b == e)));
        if (as_recorded && !ordered) {
          return false;
        }
        now.begin = b;
        now.end = e;
        launching = enter(c, now);
      }
    }
    if (calls_.correlation[c] == 0 || captured(c)) {
      continue;
    }
    std::uint32_t& known = entry(calls_.correlation[c]);
    if (known == none) {
      known = launching;
    } else if (known != launching) {
      if (known != several) {
        disputed_.push_back({calls_.correlation[c], known});
        known = several;
      }
      disputed_.push_back({calls_.correlation[c], launching});
    }
  }
  return true;
}

// Call `c` comes next on its thread. Returns the outermost launching call that it is, or is part of.
std::uint32_t call_index::enter(std::uint32_t c, thread_state& now) {
  const bool is_outermost = now.begin >= now.outer_end || now.end > now.outer_end;
  if (is_outermost) {
    is_outermost_[c] = true;
    ++now.outermost;
    now.outer_end = now.end;
  }
  if (!launches_work(kind(c))) {
    return c;
  }
  if (now.begin >= now.launch_end || now.end > now.launch_end) {
    now.launch = c;
    now.launch_end = now.end;
    if (!is_outermost) {
      hidden_.push_back(c);
    } else if (kind(c) == call_kind::graph_launch && !captured(c)) {
      graph_launches_.push_back(c);
    }
  }
  return now.launch;
}

void call_index::settle() {
  const auto launches = [&](const claim& x) { return launches_work(kind(x.call)); };
  std::sort(disputed_.begin(), disputed_.end(), [&](const claim& x, const claim& y) {
    const auto key = [&](const claim& z) {
      return std::tuple{z.correlation,  !launches(z), begin(z.call), -end(z.call),
                        thread(z.call), kind(z.call), range(z.call)};
    };
    return key(x) < key(y);
  });
  for (auto x = disputed_.begin(); x != disputed_.end();) {
    const auto last = std::find_if(x, disputed_.end(), [&](const claim& y) {
      return y.correlation != x->correlation || launches(y) != launches(*x);
    });
    std::vector<std::uint32_t> group;
    for (auto y = x; y != last; ++y) {
      if (group.empty() || group.back() != y->call) {
        group.push_back(y->call);
      }
    }
    duplicates_ += launches(*x) ? static_cast<std::int64_t>(group.size()) - 1 : 0;
    if (group.size() == 1) {
      entry(x->correlation) = group[0];
    } else {
      entry(x->correlation) = several | static_cast<std::uint32_t>(groups_.size());
      groups_.push_back(std::move(group));
    }
    const std::uint32_t done = x->correlation;
    x = std::find_if(last, disputed_.end(), [&](const claim& y) { return y.correlation != done; });
  }
  disputed_ = {};
}

std::uint32_t call_index::choose(std::uint32_t group, time_ns at) const noexcept {
  const std::vector<std::uint32_t>& calls = groups_[group];
  const auto after = std::upper_bound(calls.begin(), calls.end(), at,
                                      [&](time_ns t, std::uint32_t c) { return t < begin(c); });
  return after == calls.begin() ? calls.front() : after[-1];
}

std::vector<std::uint32_t> call_index::finish_matching() {
  sparse_ = {};
  return std::move(dense_);
}

void call_index::find_outermost() {
  thread_begin_.assign(threads_.size() + 2, 0);
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    thread_begin_[t + 1] = thread_begin_[t] + threads_[t].outermost;
  }
  std::vector<std::size_t> next = thread_begin_;
  const auto total = static_cast<std::size_t>(std::count(is_outermost_.begin(), is_outermost_.end(), true));
  thread_begin_.back() = total;
  outermost_.resize(total);
  for (std::uint32_t k = 0; k < size_; ++k) {
    const std::uint32_t c = order_.empty() ? k : order_[k];
    if (is_outermost_[c]) {
      outermost_[next[std::min<std::size_t>(thread(c), threads_.size())]++] = c;
    }
  }
  is_outermost_ = {};
  order_ = {};
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

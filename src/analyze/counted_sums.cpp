// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/counted_sums.hpp"

#include "analyze/numbers.hpp"
#include "analyze/rated.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

bool is_before(const count_sum& s, const quantity& q) noexcept { return quantity_of(s) < q; }

const count_sum* find_sum(const std::vector<count_sum>& sums, const quantity& q) {
  const auto found = std::lower_bound(sums.begin(), sums.end(), q, is_before);
  return found != sums.end() && quantity_of(*found) == q && found->calls > 0 ? &*found : nullptr;
}

double mean_of(const count_sum& s) noexcept { return s.sum / static_cast<double>(s.calls); }

/// Sum of the means of all those of `all` that `belongs` names; −1 where one was not counted here, or none
/// is.
template <class Belongs>
double sum_of(const std::vector<count_sum>& here, const std::set<quantity>& all, const Belongs& belongs) {
  double sum = 0;
  bool any = false;
  for (const quantity& q : all) {
    if (belongs(std::get<0>(q), std::get<1>(q))) {
      const count_sum* const found = find_sum(here, q);
      if (found == nullptr) {
        return -1;
      }
      any = true;
      sum += mean_of(*found);
    }
  }
  return any ? sum : -1;
}

/// Where all kinds were counted: operations of one kind of core alone are no intensity.
void set_intensity(counted_work& c) noexcept {
  const double bytes = bytes_in(c);
  c.intensity = c.all_operations && bytes > 0 ? std::max(operations_in(c), 0.0) / bytes : 0;
}

}  // namespace

double operations_in(const counted_work& c) noexcept {
  return c.tensor_ops < 0 ? c.core_flops : c.tensor_ops + std::max(c.core_flops, 0.0);
}

void add_sum(std::vector<count_sum>& to, const count_sum& more) {
  const quantity q = quantity_of(more);
  const auto place = std::lower_bound(to.begin(), to.end(), q, is_before);
  if (place == to.end() || quantity_of(*place) != q) {
    to.insert(place, more);
  } else {
    add_to(place->calls, more.calls);
    place->sum += more.sum;
  }
}

std::set<quantity> quantities_of(const report& r) {
  std::set<quantity> all;
  const auto look = [&](const auto& rows) {
    for (const auto& one : rows) {
      if (one.counted) {
        for (const count_sum& s : one.counted->sums) {
          all.insert(quantity_of(s));
        }
      }
    }
  };
  look(r.layers);
  look(r.phases);
  return all;
}

void set_means(counted_work& c, const std::set<quantity>& all) {
  if (c.sums.empty()) {
    return;
  }
  const auto dram = [&](count_kind what) {
    return sum_of(c.sums, all, [&](count_kind k, math_pipe) { return k == what; });
  };
  const auto operations = [&](bool tensor) {
    return sum_of(c.sums, all, [&](count_kind k, math_pipe p) {
      return k == count_kind::operations && is_tensor(p) == tensor;
    });
  };
  c.dram_read = dram(count_kind::dram_read);
  c.dram_written = dram(count_kind::dram_written);
  c.tensor_ops = operations(true);
  c.core_flops = operations(false);
  const bool whole = std::all_of(all.begin(), all.end(), [&](const quantity& q) {
    return std::get<0>(q) != count_kind::operations || find_sum(c.sums, q) != nullptr;
  });
  c.all_operations = whole && operations_in(c) >= 0;
  c.calls = 0;
  c.operations.fill(0);
  for (const count_sum& s : c.sums) {
    c.calls = std::max(c.calls, s.calls);
    if (c.all_operations && s.what == count_kind::operations && s.calls > 0 &&
        static_cast<std::size_t>(s.pipe) < math_pipes) {
      c.operations[static_cast<std::size_t>(s.pipe)] += mean_of(s);
    }
  }
  set_intensity(c);
}

void set_means(report& r) {
  const std::set<quantity> all = quantities_of(r);
  const auto set = [&](auto& rows) {
    for (auto& one : rows) {
      if (one.counted) {
        set_means(*one.counted, all);
      }
    }
  };
  set(r.layers);
  set(r.phases);
}

void add_calls(counted_work& to, const counted_work& other) {
  to.other_work = to.other_work || other.other_work;
  if (!to.sums.empty() && !other.sums.empty()) {
    for (const count_sum& s : other.sums) {
      add_sum(to.sums, s);
    }
    add_to(to.calls, other.calls);
    return;
  }
  to.sums.clear();
  const auto here = static_cast<double>(to.calls);
  const auto there = static_cast<double>(other.calls);
  if (!(here + there > 0)) {
    return;
  }
  const auto mean = [&](double a, double b) { return (a * here + b * there) / (here + there); };
  const auto known_mean = [&](double a, double b) { return a < 0 || b < 0 ? -1 : mean(a, b); };
  to.dram_read = known_mean(to.dram_read, other.dram_read);
  to.dram_written = known_mean(to.dram_written, other.dram_written);
  to.tensor_ops = known_mean(to.tensor_ops, other.tensor_ops);
  to.core_flops = known_mean(to.core_flops, other.core_flops);
  to.all_operations = to.all_operations && other.all_operations;
  for (std::size_t k = 0; k < math_pipes; ++k) {
    to.operations[k] = to.all_operations ? mean(to.operations[k], other.operations[k]) : 0;
  }
  add_to(to.calls, other.calls);
  set_intensity(to);
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

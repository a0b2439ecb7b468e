// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The report of a window, added to that of the windows before. docs/metrics.md, "Reports that add up", has
// the rules.
#include "analyze/add_devices.hpp"
#include "analyze/add_quality.hpp"
#include "analyze/add_rows.hpp"
#include "analyze/add_trees.hpp"
#include "analyze/alike.hpp"
#include "analyze/assemble.hpp"
#include "analyze/collectives.hpp"
#include "analyze/counted.hpp"
#include "analyze/counted_sums.hpp"
#include "analyze/numbers.hpp"
#include "analyze/operator_rows.hpp"
#include "analyze/verdict.hpp"

#include <varve/report.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace varve {
inline namespace v0 {

namespace {

using namespace analysis;

constexpr std::size_t most_requests = 4096;

bool is_empty(const report& r) noexcept {
  return r.begin == 0 && r.end == 0 && r.source.empty() && r.devices.empty() && r.layers.empty() &&
         r.quality.losses.empty() && r.quality.collectors.empty();
}

/// Why `next` cannot be of the same session, later; empty where it can.
std::string_view reason_against(const report& total, const report& next) {
  if (total.rank >= 0 && next.rank >= 0 && total.rank != next.rank) {
    return "reports of another rank, left out";
  }
  for (const device_row& d : next.devices) {
    for (const device_row& known : total.devices) {
      if (d.device.id == known.device.id && !d.device.name.empty() && !known.device.name.empty() &&
          d.device.name != known.device.name) {
        return "reports of another GPU under the same number, left out";
      }
    }
  }
  return next.begin < total.end ? "reports that begin before the end of those added before, left out"
                                : std::string_view{};
}

bool is_by_batch(const report& r) noexcept {
  return std::any_of(r.phases.begin(), r.phases.end(), [](const phase_row& p) { return !p.batch.empty(); });
}

/// Joins rows of the same key. New ones are moved out of `next`.
template <class Row, class Key, class Add>
void join(std::vector<Row>& total, std::vector<Row>& next, const Key& key, const Add& add, left_out& lost) {
  const std::vector<std::uint32_t> places = match(total, next, key);
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (places[i] != none) {
      add(total[places[i]], next[i]);
    } else if (total.size() < most_rows) {
      total.push_back(std::move(next[i]));
    } else {
      ++lost.rows;
    }
  }
}

void add_collectives(report& total, report& next, left_out& lost) {
  join(
      total.collectives, next.collectives,
      [](const collective_row& c) { return std::tie(c.name, c.ranks, c.phase, c.model, c.device, c.batch); },
      [](collective_row& to, const collective_row& c) {
        add_to(to.calls, c.calls);
        add_to(to.sized_calls, c.sized_calls);
        add_to(to.bytes, c.bytes);
        add_to(to.gpu_time, c.gpu_time);
        add_to(to.exposed_time, c.exposed_time);
        add_to(to.sized_time, c.sized_time);
        set_bandwidth(to);
      },
      lost);
  std::map<group_key, std::size_t> ranks;
  for (const phase_row& p : total.phases) {
    ranks.emplace(group_of(p), ranks.size());
  }
  const auto key = [&](const collective_row& c) {
    const auto found = ranks.find(group_of(c));
    const std::size_t rank = found != ranks.end() ? found->second : ranks.size();
    return std::tuple{rank, c.device, ~c.gpu_time /* falling */, std::string_view{c.name}, c.ranks};
  };
  std::stable_sort(total.collectives.begin(), total.collectives.end(),
                   [&](const collective_row& a, const collective_row& b) { return key(a) < key(b); });
}

/// Of all devices, where they are the same.
const ceilings* common_ceilings(const report& r) noexcept {
  const ceilings* common = nullptr;
  for (const device_row& d : r.devices) {
    if (!d.ceilings || (common != nullptr && common->name != d.ceilings->name)) {
      return nullptr;
    }
    common = &*d.ceilings;
  }
  return common;
}

void add_operators(report& total, report& next, double here, double there, left_out& lost) {
  operator_tables& to = total.operators;
  if (to.by_name.empty() && next.operators.by_name.empty()) {
    return;
  }
  if (here + there > 0) {
    to.work_share = (to.work_share * here + next.operators.work_share * there) / (here + there);
  }
  for (const auto table : {&operator_tables::by_name, &operator_tables::by_shape}) {
    join(
        to.*table, next.operators.*table,
        [](const operator_row& r) { return std::tie(r.name, r.shapes, r.annotation, r.on_device); },
        [](operator_row& sum, const operator_row& r) { add_to(sum, r); }, lost);
    for (operator_row& r : to.*table) {
      judge_operator(r, common_ceilings(total));
    }
    put_in_order(to.*table);
  }
}

void add_requests(report& total, report& next) {
  std::move(next.requests.begin(), next.requests.end(), std::back_inserter(total.requests));
  const std::size_t more = total.requests.size() - std::min(total.requests.size(), most_requests);
  total.requests.erase(total.requests.begin(), total.requests.begin() + static_cast<std::ptrdiff_t>(more));
  lose(total.quality, "requests before the last 4,096", more);
}

/// Findings that only a trace gives: the latest.
std::vector<finding> keep_findings(const report& total, const report& next, const joined& places) {
  const auto take = [](const report& from, const new_places& phases, const new_places& layers, bool is_next) {
    std::vector<finding> out;
    const auto at = [&](const new_places& places_of, std::uint32_t i) {
      const std::vector<std::uint32_t>& to = is_next ? places_of.of_next : places_of.of_total;
      return i < to.size() ? to[i] : none;
    };
    for (finding f : from.findings) {
      if (f.what == finding::kind::work_difference) {
        f.phase = at(phases, f.phase);
        f.layer = at(layers, f.layer);
        out.push_back(std::move(f));
      }
    }
    return out;
  };
  std::vector<finding> out = take(next, places.phases, places.layers, true);
  return out.empty() ? take(total, places.phases, places.layers, false) : out;
}

void compare_options(report& total, const report& next) {
  const bool both = !total.phases.empty() && !next.phases.empty();
  const bool differ = total.quality.steady != next.quality.steady || is_by_batch(total) != is_by_batch(next);
  lose(total.quality,
       "reports made with other options (steady, by_batch): their passes are in rows of their own",
       both && differ ? 1 : 0);
  lose(total.quality, "reports of another source, added", total.source != next.source ? 1 : 0);
}

/// All but what the sums are told by.
void add_sums(report& total, report& next) {
  compare_options(total, next);
  make_alike(total, next);
  const quality_weights here = weigh(total);
  const quality_weights there = weigh(next);
  left_out lost;
  const joined places = join_trees(total, next, lost);
  total.findings = keep_findings(total, next, places);
  join_rows(total.labels, next.labels, false, lost);
  join_rows(total.kernels, next.kernels, true, lost);
  join_rows(total.categories, next.categories, false, lost);
  sort_rows(total);
  add_devices(total, next);
  add_collectives(total, next, lost);
  add_operators(total, next, here.activities, there.activities, lost);
  add_window(total.quality, here, next.quality, there);
  add_requests(total, next);
  lose(total.quality, "rows beyond the 65,536th of a list", lost.rows);
  lose(total.quality, "distributions added without histograms: percentiles leave their times out",
       lost.distributions);
  if (next.held_bytes) {
    total.held_bytes = plus(total.held_bytes.value_or(0), *next.held_bytes);
  }
}

}  // namespace

void add_report(report& total, const report& next) {
  if (is_empty(total)) {
    total = next;
    return;
  }
  if (const std::string_view reason = reason_against(total, next); !reason.empty()) {
    lose(total.quality, reason, 1);
    return;
  }
  report window = next;
  add_sums(total, window);
  total.rank = total.rank < 0 ? next.rank : total.rank;
  total.world_size = std::max(total.world_size, next.world_size);
  total.backend = total.backend.empty() ? next.backend : total.backend;
  total.end = std::max(total.end, next.end);
  total.unprofiled_wall = total.unprofiled_wall && next.unprofiled_wall
                              ? std::optional{plus(*total.unprofiled_wall, *next.unprofiled_wall)}
                              : std::nullopt;
  judge_rows(total);
  const auto is_counted = [](const auto& one) { return one.counted.has_value(); };
  if (std::any_of(total.layers.begin(), total.layers.end(), is_counted) ||
      std::any_of(total.phases.begin(), total.phases.end(), is_counted)) {
    const auto check = [](const auto& one) -> std::string {
      return one.counted->other_work ? "some are of other work" : "";
    };
    set_means(total);
    settle_counts(total, {check, check});
  }
  std::vector<finding> found = findings_of(total);
  total.findings.insert(total.findings.begin(), std::make_move_iterator(found.begin()),
                        std::make_move_iterator(found.end()));
  total.predictions = predictions_of(total);
}

}  // namespace v0
}  // namespace varve

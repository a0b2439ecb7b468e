// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/figures.hpp"

#include "formats/table/units.hpp"

#include <varve/testing/missing.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace varve {
inline namespace v0 {
namespace budgets {

namespace {

struct suffix {
  std::string_view text;
  statistic which;
};
constexpr std::array<suffix, 9> suffixes{{{".pass", statistic::pass},
                                          {".total", statistic::total},
                                          {".mean", statistic::mean},
                                          {".min", statistic::min},
                                          {".p50", statistic::p50},
                                          {".p95", statistic::p95},
                                          {".p99", statistic::p99},
                                          {".max", statistic::max},
                                          {".deviation", statistic::deviation}}};

constexpr double noticeable = 0.05;  // as for verdicts (docs/metrics.md)

bool is_row(budget_of of) noexcept {
  return of != budget_of::phase && of != budget_of::collective && of != budget_of::report;
}

bool has(const figure_info& info, statistic which, budget_of of) noexcept {
  const bool sums = info.shape == figure_shape::sum || info.shape == figure_shape::time;
  const bool spreads = info.shape == figure_shape::spread || info.shape == figure_shape::time;
  switch (which) {
    case statistic::own:
      return true;
    case statistic::pass:
      return sums && is_row(of);
    case statistic::total:
      return sums;
    default:
      return spreads;
  }
}

figure_value unknown(std::string why) { return {std::nullopt, std::move(why)}; }

/// Why there may be more calls than were recorded; empty when there aren't.
std::string missing_calls(const subject& s) {
  const auto all = static_cast<double>(s.whole->quality.activities);
  const auto unmatched = static_cast<double>(s.whole->quality.unmatched);
  if (unmatched > noticeable * all) {
    return "the launches of " + table::percent(unmatched, all) +
           " % of the activities were not recorded, so other calls may be missing too";
  }
  if (s.phase != nullptr && s.phase->total.kernels > 0 && s.phase->total.launches == 0) {
    return "kernels of " + s.phase->phase + " ran, and none of their launches was recorded";
  }
  return {};
}

/// Why a figure that rests on this means nothing here; empty when it does.
std::string missing(rests_on on, const subject& s) {
  const bool of_whole = s.one == nullptr && s.phase == nullptr && s.collective == nullptr;
  if (std::string why = of_whole ? "" : testing_detail::missing_records(*s.whole); !why.empty()) {
    return why;
  }
  if (on == rests_on::markers) {
    return {};
  }
  if (s.whole->quality.activities <= 0) {
    return "nothing but markers was recorded";
  }
  if (on == rests_on::calls) {
    return missing_calls(s);
  }
  if (s.phase != nullptr) {
    const auto wall = static_cast<double>(s.phase->wall);
    const auto absent = static_cast<double>(s.phase->partition.unrecorded);
    if (absent > noticeable * wall) {
      return "what the GPU did is not recorded for " + table::percent(absent, wall) + " % of the wall of " +
             s.phase->phase;
    }
  }
  if (!s.whole->quality.live_cpu && (s.one != nullptr || s.phase != nullptr)) {
    std::string why = s.phase != nullptr ? testing_detail::missing_work(s.phase->total) : "";
    why = why.empty() && s.one != nullptr ? testing_detail::missing_work(s.one->inclusive) : why;
    if (!why.empty()) {
      return why;
    }
  }
  if (on == rests_on::work && (s.one != nullptr || s.phase != nullptr)) {
    const measures& m = s.one != nullptr ? s.one->inclusive : s.phase->total;
    if (m.declared.empty()) {
      return "its work is not known";
    }
    if (m.calls_with_work < m.calls || m.unknown_work_time > m.gpu_time / 100) {
      return "its work is known in part only";
    }
  }
  return {};
}

figure_value quotient(double sum, std::int64_t by, const char* why) {
  return by > 0 ? figure_value{sum / static_cast<double>(by), {}} : unknown(why);
}

figure_value read_sum(const figure& f, const subject& s) {
  const double sum = f.of->sum_of != nullptr
                         ? f.of->sum_of(s)
                         : f.of->sum(s.one != nullptr ? s.one->inclusive : s.phase->total);
  if (f.which == statistic::total) {
    return {sum, {}};
  }
  if (s.collective != nullptr) {
    return quotient(sum, s.collective->calls, "it was never called");
  }
  if (s.one != nullptr && f.which != statistic::pass) {
    return quotient(sum, s.one->inclusive.calls, "it was never called");
  }
  return s.phase == nullptr ? unknown("it ran outside of any pass")
                            : quotient(sum, s.phase->passes, "its phase has no passes");
}

figure_value read_spread(statistic which, const distribution& d) {
  if (d.count <= 0) {
    return unknown("no single values of it are known");
  }
  switch (which) {
    case statistic::min:
      return {static_cast<double>(d.min), {}};
    case statistic::p50:
      return {static_cast<double>(d.p50), {}};
    case statistic::p95:
      return {static_cast<double>(d.p95), {}};
    case statistic::p99:
      return {static_cast<double>(d.p99), {}};
    case statistic::max:
      return {static_cast<double>(d.max), {}};
    case statistic::deviation:
      return {d.deviation, {}};
    default:
      return {d.mean, {}};
  }
}

}  // namespace

std::optional<figure> find_figure(budget_of of, std::string_view name) {
  const auto find = [&](std::string_view base, statistic which) -> std::optional<figure> {
    const std::vector<definition>& all = definitions(of);
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const definition& d) { return d.info.name == base; });
    return found != all.end() && has(found->info, which, of) ? std::optional{figure{&*found, which}}
                                                             : std::nullopt;
  };
  for (const suffix& x : suffixes) {
    if (name.size() > x.text.size() && name.substr(name.size() - x.text.size()) == x.text) {
      return find(name.substr(0, name.size() - x.text.size()), x.which);
    }
  }
  return find(name, statistic::own);
}

namespace {

figure_value read_recorded(const figure& f, const subject& s) {
  const definition& d = *f.of;
  if (d.value != nullptr) {
    return d.value(s);
  }
  const bool middle = f.which == statistic::own || f.which == statistic::mean;
  const bool sums = d.sum != nullptr || d.sum_of != nullptr;
  // A phase's mean needs no single passes.
  if (sums && (d.info.shape == figure_shape::sum || f.which == statistic::pass ||
               f.which == statistic::total || (middle && d.gathered != nullptr))) {
    return read_sum(f, s);
  }
  return read_spread(f.which, d.gathered != nullptr ? d.gathered(s) : *d.spread(s));
}

}  // namespace

figure_value read(const figure& f, const subject& s) {
  if (std::string why = missing(f.of->on, s); !why.empty()) {
    return unknown(std::move(why));
  }
  figure_value out = read_recorded(f, s);
  if (out.value && !std::isfinite(*out.value)) {  // a report may come from a file with anything in it
    return unknown("it is no number in the report");
  }
  return out;
}

const phase_row* phase_of(const report& r, const row& one) noexcept {
  for (const phase_row& p : r.phases) {
    if (p.phase == one.phase && p.model == one.model && p.device == one.device && p.batch == one.batch) {
      return &p;
    }
  }
  return nullptr;
}

}  // namespace budgets

std::vector<figure_info> figures(budget_of of) {
  std::vector<figure_info> out;
  for (const budgets::definition& d : budgets::definitions(of)) {
    out.push_back(d.info);
  }
  return out;
}

std::optional<figure_unit> unit_of(budget_of of, std::string_view figure) {
  const auto found = budgets::find_figure(of, figure);
  return found ? std::optional{found->of->info.unit} : std::nullopt;
}

namespace {

figure_value value_of(budget_of of, std::string_view name, const budgets::subject& s) {
  const auto found = budgets::find_figure(of, name);
  return found ? budgets::read(*found, s) : figure_value{std::nullopt, "there is no such figure"};
}

}  // namespace

figure_value figure_of(const report& r, const row& of, std::string_view figure) {
  return value_of(budget_of::layer, figure, {&r, &of, budgets::phase_of(r, of), nullptr});
}

figure_value figure_of(const report& r, const phase_row& of, std::string_view figure) {
  return value_of(budget_of::phase, figure, {&r, nullptr, &of, nullptr});
}

figure_value figure_of(const report& r, const collective_row& of, std::string_view figure) {
  return value_of(budget_of::collective, figure, {&r, nullptr, nullptr, &of});
}

figure_value figure_of(const report& r, std::string_view figure) {
  return value_of(budget_of::report, figure, {&r, nullptr, nullptr, nullptr});
}

}  // namespace v0
}  // namespace varve

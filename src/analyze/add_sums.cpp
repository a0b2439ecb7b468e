// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/add_sums.hpp"

#include "analyze/assemble.hpp"
#include "analyze/counted_sums.hpp"
#include "analyze/numbers.hpp"
#include "analyze/roofs.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace analysis {

void add_window(wall_partition& to, const wall_partition& next) {
  add_to(to.compute, next.compute);
  add_to(to.exposed_communication, next.exposed_communication);
  add_to(to.exposed_copy, next.exposed_copy);
  add_parts(to.starved, next.starved);
  add_to(to.device_gap, next.device_gap);
  add_to(to.unrecorded, next.unrecorded);
  add_to(to.no_pass, next.no_pass);
}

void add_window(measures& to, const measures& next) {
  add_parts(to, next);
  add_to(to.calls, next.calls);
  add_to(to.calls_with_work, next.calls_with_work);
  add_to(to.host_time, next.host_time);
  add_to(to.allocated_bytes, next.allocated_bytes);
  add_to(to.freed_bytes, next.freed_bytes);
  to.peak_bytes = std::max(to.peak_bytes, next.peak_bytes);
  add_to(to.roof, next.roof);
  add_span(to.first_start, to.span, next.first_start, next.span);
}

void add_span(time_ns& first, time_ns& span, time_ns next_first, time_ns next_span) {
  if (next_first == 0 && next_span == 0) {
    return;
  }
  if (first == 0 && span == 0) {
    first = next_first;
    span = next_span;
    return;
  }
  const time_ns begin = std::min(clamp_time(first), clamp_time(next_first));
  const time_ns end = std::max(clamp_time(plus(first, span)), clamp_time(plus(next_first, next_span)));
  first = begin;
  span = end - begin;
}

void add_window(std::optional<counted_work>& to, const std::optional<counted_work>& next) {
  if (to && next) {
    add_calls(*to, *next);
  } else if (next) {
    to = next;
  }
}

sample_plan::sample_plan(const pass_samples& samples, std::int64_t passes, const pass_samples& next,
                         std::int64_t next_passes, std::size_t most)
    : before{samples.step.size()} {
  constexpr std::int64_t many = std::int64_t{1} << 60;  // reports of files may have any number
  const auto cut = [](std::int64_t n) { return std::clamp(n, std::int64_t{0}, std::int64_t{many}); };
  passes = cut(passes);
  const std::int64_t all = passes + cut(next_passes);
  const std::int64_t next_stride = cut(next.stride);
  stride = cut(passes > 0 ? samples.stride : next.stride);
  if (most == 0 || stride == 0 || (all > passes && next_stride == 0)) {
    stride = 0;
    return;
  }
  const std::int64_t former = stride;
  while (stride < next_stride || (all - 1) / stride + 1 > static_cast<std::int64_t>(most)) {
    stride *= 2;
  }
  step = static_cast<std::size_t>(stride / former);
  kept = before != 0 ? (before - 1) / step + 1 : 0;
  // Of a window that has samples of every n-th pass only those next after.
  for (std::int64_t at = (passes + stride - 1) / stride * stride; at < all; at += stride) {
    const auto k = static_cast<std::size_t>((at - passes + next_stride - 1) / next_stride);
    if (k < next.step.size()) {
      taken.push_back(k);
    }
  }
}

namespace {

gauge_row* find_gauge(std::vector<gauge_row>& rows, const gauge_row& like) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const gauge_row& g) {
    return g.what == like.what && g.limit == like.limit;
  });
  return found != rows.end() ? &*found : nullptr;
}

/// As if it had been read and were `value` all the time.
gauge_row steady_gauge(const gauge_row& like, double value) {
  gauge_row out;
  out.what = like.what;
  out.limit = like.limit;
  out.mean = out.min = out.max = value;
  return out;
}

void add_gauge(gauge_row& to, double here, const gauge_row& next, double there) {
  if (here + there > 0) {
    to.mean += (next.mean - to.mean) * (there / (here + there));
  }
  to.min = std::min(to.min, next.min);
  to.max = std::max(to.max, next.max);
  to.total += next.total;
  add_to(to.samples, next.samples);
}

/// Gauges by kind, the device's before the process's.
void sort_gauges(std::vector<gauge_row>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const gauge_row& a, const gauge_row& b) { return a.what < b.what; });
}

/// Nothing was read: a level holds, what grows did not, and limits were off.
double held(const gauge_row& g, bool last) {
  if (grows(g.what) || g.what == gauge_kind::clock_limits) {
    return 0;
  }
  return g.per_pass.empty() ? g.mean : last ? g.per_pass.back() : g.per_pass.front();
}

}  // namespace

void add_gauges(std::vector<gauge_row>& to, const gauge_weights& here, const std::vector<gauge_row>& next,
                const gauge_weights& there, const sample_plan& plan) {
  if (!(there.passes > 0)) {
    return;
  }
  const std::size_t known = to.size();
  for (const gauge_row& g : next) {
    if (find_gauge(to, g) == nullptr) {
      to.push_back(here.passes > 0 ? steady_gauge(g, held(g, false)) : g);
    }
  }
  for (std::size_t k = 0; k < to.size(); ++k) {
    gauge_row& g = to[k];
    const auto same = std::find_if(
        next.begin(), next.end(), [&](const gauge_row& n) { return n.what == g.what && n.limit == g.limit; });
    const double last = held(g, true);
    const gauge_row& after = same != next.end() ? *same : steady_gauge(g, last);
    const double missing = k < known ? last : g.mean;
    if (here.passes > 0) {
      const bool by_pass = grows(g.what) || !(here.time + there.time > 0);
      add_gauge(g, by_pass ? here.passes : here.time, after, by_pass ? there.passes : there.time);
    }
    plan.apply(g.per_pass, after.per_pass, missing, after.mean);
  }
  sort_gauges(to);
}

void add_gauges(std::vector<gauge_row>& to, const std::vector<gauge_row>& next) {
  const auto readings = [](const std::vector<gauge_row>& rows) {
    std::int64_t most = 0;
    for (const gauge_row& g : rows) {
      most = std::max(most, g.samples);
    }
    return most;
  };
  const std::int64_t here = readings(to);
  const std::int64_t there = readings(next);
  const auto add = [&](gauge_row& g, const gauge_row& after) {
    add_gauge(g, static_cast<double>(g.samples), after, static_cast<double>(after.samples));
  };
  const auto off = [](const gauge_row& like, std::int64_t samples) {
    gauge_row out = steady_gauge(like, 0);
    out.samples = samples;
    return out;
  };
  for (gauge_row& g : to) {
    const bool is_limit = g.what == gauge_kind::clock_limits;
    if (is_limit && there > 0 && std::none_of(next.begin(), next.end(), [&](const gauge_row& n) {
          return n.what == g.what && n.limit == g.limit;
        })) {
      add(g, off(g, there));
    }
  }
  for (const gauge_row& n : next) {
    if (gauge_row* const same = find_gauge(to, n); same != nullptr) {
      add(*same, n);
    } else {
      to.push_back(n);
      if (n.what == gauge_kind::clock_limits && here > 0) {
        to.back() = off(n, here);
        add(to.back(), n);
      }
    }
  }
  sort_gauges(to);
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

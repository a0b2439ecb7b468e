// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/roofs.hpp"

#include "analyze/measured_clock.hpp"
#include "analyze/numbers.hpp"
#include "analyze/sentence.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

double amount(std::int64_t n) noexcept { return static_cast<double>(std::max<std::int64_t>(n, 0)); }

/// At the clock that is given, else at the one that gauges measured of `device`, or of all where it is none.
std::optional<ceilings> at_clock_of(const trace& t, std::uint32_t device, const analyze_options& options,
                                    std::optional<ceilings> c) {
  const bool known = c && (c->clock > 0 || c->top_clock > 0);
  if (c && options.clock > 0 && std::isfinite(options.clock)) {
    c = at_clock(*c, options.clock);
    c->source += (c->source.empty() ? "" : "; ") + std::string{known ? "scaled" : "not scaled"} +
                 " to the clock given, " + rate_of(options.clock, "Hz") +
                 (known ? "" : ": that of its rates is not known");
  } else if (known) {
    if (const measured_clock measured = measure_clock(t, device); measured.hertz > 0) {
      c = at_clock(*c, measured.hertz);
      c->source += (c->source.empty() ? "" : "; ") + std::string{"scaled to the SM clock, "} +
                   rate_of(measured.hertz, "Hz") + " in the median of " + std::to_string(measured.readings) +
                   " readings while kernels ran";
    }
  }
  return c;
}

}  // namespace

void add_to(roof_times& to, const roof_times& part) noexcept {
  to.total += part.total;
  to.compute += part.compute;
  to.memory += part.memory;
  to.total_below += part.total_below;
  to.total_above += part.total_above;
  to.memory_below += part.memory_below;
  to.memory_above += part.memory_above;
  to.half_weights += part.half_weights;
  to.quarter_weights += part.quarter_weights;
  to.half_kv += part.half_kv;
  to.double_batch += part.double_batch;
  add_to(to.unrated_flops, part.unrated_flops);
  for (std::size_t k = 0; k < math_pipes; ++k) {
    to.compute_by_pipe[k] += part.compute_by_pipe[k];
  }
}

void roof_sums::add(const work& w, const ceilings& device) noexcept {
  const auto pipe = static_cast<std::size_t>(w.pipe) < math_pipes ? w.pipe : math_pipe::unknown;
  const double peak = device.peak(pipe);
  const double compute = peak > 0 ? amount(w.flops) / peak * ns_per_second : 0;
  const double bytes = amount(w.weight_bytes) + amount(w.kv_bytes) + amount(w.activation_bytes);
  const auto memory_time = [&](double n) {
    return device.bandwidth > 0 ? std::max(n, 0.0) / device.bandwidth * ns_per_second : 0;
  };
  const double memory = memory_time(bytes);
  const double fewest = memory_time(bytes - amount(w.bytes_below));
  const double most = memory_time(bytes + amount(w.bytes_above));
  // Where its bytes take longer than FP32 cores would need for its FLOPs, any pipe is hidden behind them.
  const double cores = device.peak(math_pipe::fp32);
  if (!(peak > 0) && w.flops > 0 && !(cores > 0 && amount(w.flops) / cores * ns_per_second <= fewest)) {
    add_to(times.unrated_flops, w.flops);
  }
  const double total = std::max(compute, memory);
  times.total += total;
  times.compute += compute;
  times.memory += memory;
  times.total_below += (total - std::max(compute, fewest));
  times.total_above += (std::max(compute, most) - total);
  times.memory_below += (memory - fewest);
  times.memory_above += (most - memory);
  const double weights = amount(w.weight_bytes);
  const double kv = amount(w.kv_bytes);
  times.half_weights += std::max(compute, memory_time(bytes - weights / 2));
  times.quarter_weights += std::max(compute, memory_time(bytes - weights * 3 / 4));
  times.half_kv += std::max(compute, memory_time(bytes - kv / 2));
  times.double_batch += std::max(2 * compute, memory_time(2 * bytes - weights + amount(w.doubled_bytes)));
  times.compute_by_pipe[static_cast<std::size_t>(pipe)] += compute;
}

math_pipe main_pipe(const roof_times& roof) noexcept {
  const auto& times = roof.compute_by_pipe;
  const auto most = std::max_element(times.begin(), times.end());
  return *most > 0 ? static_cast<math_pipe>(most - times.begin()) : math_pipe::unknown;
}

void roof_ledger::add(std::uint32_t row, std::uint32_t device_index, const work& w) {
  const ceilings* const at_most = device(device_index);
  if (at_most == nullptr) {
    return;
  }
  if (row >= rows_.size()) {
    rows_.resize(row + std::size_t{1});
  }
  rows_[row].add(w, *at_most);
}

std::optional<ceilings> ceilings_of(const trace& t, std::uint32_t device, const analyze_options& options) {
  if (options.ceilings) {
    return at_clock_of(t, device, options, options.ceilings);
  }
  const auto known =
      std::find_if(t.devices.begin(), t.devices.end(), [&](const device_info& d) { return d.id == device; });
  return known != t.devices.end() ? at_clock_of(t, device, options, find_ceilings(*known)) : std::nullopt;
}

std::optional<ceilings> common_ceilings(const trace& t, const analyze_options& options) {
  if (options.ceilings) {
    return at_clock_of(t, none, options, options.ceilings);
  }
  std::optional<ceilings> common;
  for (const device_info& d : t.devices) {
    std::optional<ceilings> one = find_ceilings(d);
    if (!one || (common && common->name != one->name)) {
      return std::nullopt;
    }
    common = std::move(one);
  }
  return at_clock_of(t, none, options, std::move(common));
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/sides.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

/// Numbers devices in the order in which a report names them.
class device_order {
 public:
  std::uint32_t operator()(std::uint32_t device) {
    return known_.try_emplace(device, static_cast<std::uint32_t>(known_.size())).first->second;
  }

 private:
  std::map<std::uint32_t, std::uint32_t> known_;
};

run_times times_from(const std::vector<time_ns>& times, const phase_row& phase, double mean) {
  run_times out;
  out.mean = mean;
  constexpr std::size_t most = 4096;  // analyze() gives 512; a file may hold any number
  if (phase.samples.stride > 0 && times.size() == phase.samples.step.size()) {
    const std::size_t stride = (times.size() + most - 1) / most;
    for (std::size_t i = 0; i < times.size(); i += stride) {
      out.samples.push_back(amount(times[i]));
    }
    out.stride = stride * static_cast<std::size_t>(phase.samples.stride);
    out.passes = phase.passes;
  }
  return out;
}

}  // namespace

run::run(const report& r)
    : report_{&r},
      host_only_{r.quality.activities == 0 && r.devices.empty()},
      layers_(r.phases.size()),
      kernels_(r.phases.size()),
      paths_(r.phases.size()) {
  device_order order;
  for (const device_row& d : r.devices) {
    order(d.device.id);
  }
  for (std::uint32_t i = 0; i < r.phases.size(); ++i) {
    const phase_row& p = r.phases[i];
    keys_.push_back({p.phase, p.model, p.batch, order(p.device)});
    phases_.try_emplace(keys_.back(), i);
  }
  const auto phase_of = [&](const row& one) {
    return find(phase_key{one.phase, one.model, one.batch, order(one.device)});
  };
  for (std::uint32_t i = 0; i < r.layers.size(); ++i) {
    const std::uint32_t phase = phase_of(r.layers[i]);
    if (phase != none && !r.layers[i].path.empty()) {
      layers_[phase].push_back(i);
      paths_[phase].try_emplace(r.layers[i].path, i);
    }
  }
  for (std::uint32_t i = 0; i < r.kernels.size(); ++i) {
    if (const std::uint32_t phase = phase_of(r.kernels[i]); phase != none) {
      kernels_[phase].push_back(i);
    }
  }
}

std::uint32_t run::find(const phase_key& key) const {
  const auto found = phases_.find(key);
  return found == phases_.end() ? none : found->second;
}

std::uint32_t run::find(std::uint32_t phase, std::string_view path) const {
  const auto found = paths_[phase].find(path);
  return found == paths_[phase].end() ? none : found->second;
}

double run::passes(std::uint32_t phase) const noexcept {
  return std::max(1.0, amount(report_->phases[phase].passes));
}

run_times run::times_of(std::uint32_t phase, std::uint32_t layer) const {
  const row& one = report_->layers[layer];
  const time_ns total = host_only_ ? one.inclusive.host_time : one.inclusive.gpu_time;
  return times_from(one.per_pass, report_->phases[phase], amount(total) / passes(phase));
}

run_times run::step_of(std::uint32_t phase) const {
  const phase_row& p = report_->phases[phase];
  const double mean = p.step.count > 0 ? amount(p.step.mean) : amount(p.wall) / passes(phase);
  return times_from(p.samples.step, p, mean);
}

run_times run::gpu_time_of(std::uint32_t phase) const {
  const phase_row& p = report_->phases[phase];
  return times_from(p.samples.gpu_time, p, amount(p.total.gpu_time) / passes(phase));
}

double run::own_time(std::uint32_t phase, std::uint32_t layer) const {
  const measures& own = report_->layers[layer].exclusive;
  return (host_only_ ? amount(own.host_time) : amount(own.shared_time)) / passes(phase);
}

std::vector<std::uint32_t> side::phases(std::uint32_t of_first) const {
  std::vector<std::uint32_t> out;
  for (const run& r : runs) {
    out.push_back(of_first == none ? none : r.find(runs.front().keys()[of_first]));
  }
  return out;
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve

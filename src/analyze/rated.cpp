// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/rated.hpp"

#include "analyze/roofs.hpp"
#include "analyze/sentence.hpp"
#include "analyze/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

bool is_tensor(math_pipe pipe) noexcept {
  switch (pipe) {
    case math_pipe::fp64_tensor:
    case math_pipe::tf32_tensor:
    case math_pipe::fp16_tensor:
    case math_pipe::fp16_tensor_fp16:
    case math_pipe::bf16_tensor:
    case math_pipe::fp8_tensor:
    case math_pipe::fp4_tensor:
    case math_pipe::int8_tensor:
      return true;
    default:
      return false;
  }
}

double bytes_in(const counted_work& c) noexcept {
  return c.dram_read >= 0 && c.dram_written >= 0 ? c.dram_read + c.dram_written : -1;
}

bool declares_all(const measures& m) noexcept {
  const auto working = static_cast<double>(m.activity_time - m.collective_time);
  const auto unknown = static_cast<double>(m.unknown_work_time - m.unknown_collective_time);
  return !m.declared.empty() && m.calls_with_work >= m.calls && unknown <= (1 - known_from) * working;
}

namespace {

/// The work of a row by some source, and the time that it is known for.
struct amounts {
  double flops = 0;
  double bytes = 0;
  roof_times roof;
  double unknown = 0;  ///< time, collectives left out
  double counted = 0;

  void add(const amounts& other, double sign) {
    flops += sign * other.flops;
    bytes += sign * other.bytes;
    unknown += sign * other.unknown;
    counted += sign * other.counted;
    roof_times& r = roof;
    const roof_times& o = other.roof;
    r.total += sign * o.total;
    r.compute += sign * o.compute;
    r.memory += sign * o.memory;
    r.total_below += sign * o.total_below;
    r.total_above += sign * o.total_above;
    r.memory_below += sign * o.memory_below;
    r.memory_above += sign * o.memory_above;
    r.unrated_flops += static_cast<std::int64_t>(sign) * o.unrated_flops;
    for (std::size_t k = 0; k < math_pipes; ++k) {
      r.compute_by_pipe[k] += sign * o.compute_by_pipe[k];
    }
  }
  /// What differences of sums leave of nothing.
  void tidy() noexcept {
    constexpr double noise = 1e-9;
    const auto clean = [](double& value, double scale) { value = value > noise * scale ? value : 0; };
    roof_times& r = roof;
    for (double* const part :
         {&r.compute, &r.memory, &r.total_below, &r.total_above, &r.memory_below, &r.memory_above}) {
      clean(*part, r.total);
    }
    for (double& time : roof.compute_by_pipe) {
      clean(time, r.total);
    }
    clean(flops, 1);
    clean(bytes, 1);
    clean(unknown, 1);
    r.unrated_flops = std::max<std::int64_t>(r.unrated_flops, 0);
  }
};

std::int64_t whole(double value) noexcept {
  constexpr double most = 9.2e18;
  return std::llround(std::clamp(value, 0.0, most));
}

double working_time(const measures& m) noexcept {
  return static_cast<double>(m.activity_time) - static_cast<double>(m.collective_time);
}

class rater {
 public:
  explicit rater(report& r) : r_{r} {
    any_declared_ = std::any_of(r.phases.begin(), r.phases.end(),
                                [](const phase_row& p) { return !p.total.declared.empty(); });
  }

  void run() {
    const auto rests = [](const auto& one) { return one.rated || (one.counted && one.counted->used); };
    if (std::none_of(r_.phases.begin(), r_.phases.end(), rests) &&
        std::none_of(r_.layers.begin(), r_.layers.end(), rests)) {
      return;
    }
    find_phases();
    find_attributed();
    change_.resize(r_.layers.size());
    change_of_phase_.resize(r_.phases.size());
    for (std::size_t i = r_.layers.size(); i-- > 0;) {
      rate_row(i);
    }
    for (std::size_t p = 0; p < r_.phases.size(); ++p) {
      rate_phase(p);
    }
    tell_sources();
  }

 private:
  [[nodiscard]] const ceilings* device_of(std::uint32_t id) const noexcept {
    const auto found = std::find_if(r_.devices.begin(), r_.devices.end(),
                                    [&](const device_row& d) { return d.device.id == id; });
    return found != r_.devices.end() && found->ceilings ? &*found->ceilings : nullptr;
  }

  /// Of each row; r.phases.size(): in no pass.
  void find_phases() {
    using key = std::tuple<std::string_view, std::string_view, std::string_view, std::uint32_t>;
    std::map<key, std::size_t> places;
    for (const phase_row& p : r_.phases) {
      places.emplace(key{p.phase, p.model, p.batch, p.device}, places.size());
    }
    for (const row& one : r_.layers) {
      const auto found = places.find(key{one.phase, one.model, one.batch, one.device});
      phase_of_.push_back(found != places.end() ? found->second : r_.phases.size());
    }
  }

  /// As analyze() judged.
  void find_attributed() {
    std::vector<double> all(r_.phases.size() + 1);
    std::vector<double> inside(r_.phases.size() + 1);
    double everywhere = 0;
    double inside_anywhere = 0;
    for (std::size_t i = 0; i < r_.layers.size(); ++i) {
      const auto time = static_cast<double>(r_.layers[i].exclusive.activity_time);
      const double in_layer = r_.layers[i].path.empty() ? 0 : time;
      all[phase_of_[i]] += time;
      inside[phase_of_[i]] += in_layer;
      everywhere += time;
      inside_anywhere += in_layer;
    }
    // Time that is known to be in no layer, though not whose.
    const bool less = everywhere > 0 && r_.quality.attributed < inside_anywhere / everywhere - 1e-9;
    for (std::size_t p = 0; p < all.size(); ++p) {
      const double share = all[p] > 0 ? inside[p] / all[p] : 1;
      attributed_.push_back(less ? std::min(share, r_.quality.attributed) : share);
    }
  }

  [[nodiscard]] amounts declared_of(const measures& m) const {
    amounts out;
    const work& w = m.declared;
    out.flops = static_cast<double>(w.flops);
    out.bytes = static_cast<double>(w.weight_bytes) + static_cast<double>(w.kv_bytes) +
                static_cast<double>(w.activation_bytes);
    out.roof = m.roof;
    out.unknown = any_declared_ ? static_cast<double>(m.unknown_work_time - m.unknown_collective_time)
                                : working_time(m);
    return out;
  }

  /// Of one operator: no counter tells what is inside of a range apart.
  [[nodiscard]] static amounts counted_of(const counted_work& c, const measures& m, const amounts& declared,
                                          double calls, const ceilings* device) {
    amounts out;
    out.bytes = std::max(bytes_in(c), 0.0) * calls;
    out.counted = working_time(m);
    roof_times& roof = out.roof;
    const double bandwidth = device != nullptr ? device->bandwidth : 0;
    roof.memory = bandwidth > 0 ? out.bytes / bandwidth * ns_per_second : 0;
    if (c.all_operations) {
      add_operations(c, calls, device, out);
    } else {
      out.flops = declared.flops;
      out.roof.compute_by_pipe = declared.roof.compute_by_pipe;
      roof.compute = declared.roof.compute;
      roof.unrated_flops = declared.roof.unrated_flops;
    }
    roof.total = std::max(roof.compute, roof.memory);
    return out;
  }

  /// Tensor cores and the others work side by side.
  static void add_operations(const counted_work& c, double calls, const ceilings* device, amounts& to) {
    double tensor = 0;
    double cores = 0;
    double unrated = 0;
    const double any_core = device != nullptr ? device->peak(math_pipe::fp32) : 0;
    for (std::size_t k = 0; k < math_pipes; ++k) {
      const auto pipe = static_cast<math_pipe>(k);
      const double flops = std::max(c.operations[k], 0.0) * calls;
      to.flops += flops;
      const double peak = device != nullptr ? device->peak(pipe) : 0;
      if (peak > 0) {
        to.roof.compute_by_pipe[k] = flops / peak * ns_per_second;
        (is_tensor(pipe) ? tensor : cores) += to.roof.compute_by_pipe[k];
      } else if (!(any_core > 0 && flops / any_core * ns_per_second <= to.roof.memory)) {
        unrated += flops;
      }
    }
    to.roof.compute = std::max(tensor, cores);
    to.roof.unrated_flops = whole(unrated);
  }

  void rate_row(std::size_t i) {
    row& one = r_.layers[i];
    const ceilings* const device = device_of(one.device);
    const bool used = one.counted && one.counted->used;
    const amounts declared = declared_of(one.inclusive);
    amounts now = declared;
    if (used) {
      now =
          counted_of(*one.counted, one.inclusive, declared, static_cast<double>(one.inclusive.calls), device);
    } else {
      now.add(change_[i], 1);
    }
    if (amounts* const above = one.parent < i                           ? &change_[one.parent]
                               : phase_of_[i] < change_of_phase_.size() ? &change_of_phase_[phase_of_[i]]
                                                                        : nullptr) {
      above->add(now, 1);
      above->add(declared, -1);
    }
    const bool any = used || change_[i].counted > 0;
    if (any || one.rated) {
      now.tidy();
      facts f = facts_of(one.inclusive, now, attributed_[phase_of_[i]], device);
      f.starved = one.inclusive.starved;
      f.device_gap = one.inclusive.device_gap;
      settle(one, one.inclusive, now, f, any);
    }
  }

  void rate_phase(std::size_t k) {
    phase_row& p = r_.phases[k];
    const ceilings* const device = device_of(p.device);
    const bool used = p.counted && p.counted->used;
    const amounts declared = declared_of(p.total);
    amounts now = declared;
    if (used) {
      now = counted_of(*p.counted, p.total, declared, static_cast<double>(p.passes), device);
    } else {
      now.add(change_of_phase_[k], 1);
    }
    now.tidy();
    working_ += working_time(p.total);
    counted_ += now.counted;
    unknown_ += now.unknown;
    const bool any = used || change_of_phase_[k].counted > 0;
    if (any || p.rated) {
      facts f = facts_of(p.total, now, attributed_[k], device);
      f.wall = &p.partition;
      settle(p, p.total, now, f, any);
    }
  }

  template <class Row>
  static void settle(Row& one, const measures& m, const amounts& now, const facts& f, bool any) {
    verdict judged = judge(f);
    const verdict& before = one.verdict;
    if (before.by == bound::starved || before.by == bound::communication || before.by == bound::copy) {
      judged.by = before.by;  // whatever its work is
      judged.why = before.why;
    } else if (any && !judged.why.empty()) {
      judged.why += !(one.counted && one.counted->used)
                        ? "; counted for " + percent_of(share(now.counted, m), 1) + " of its GPU time"
                    : one.counted->all_operations ? "; DRAM bytes and operations as counted"
                                                  : "; DRAM bytes as counted, operations as declared";
    }
    one.verdict = std::move(judged);
    one.rated = any ? std::optional{rated_of(now, m)} : std::nullopt;
  }

  static double share(double time, const measures& m) noexcept {
    const double working = working_time(m);
    return working > 0 ? std::min(time / working, 1.0) : 0;
  }

  static rated_work rated_of(const amounts& a, const measures& m) {
    rated_work out;
    out.flops = a.flops;
    out.bytes = a.bytes;
    out.counted_share = share(a.counted, m);
    out.unknown_share = share(a.unknown, m);
    out.roof = a.roof;
    out.roof.half_weights = out.roof.quarter_weights = out.roof.half_kv = out.roof.double_batch = 0;
    return out;
  }

  static facts facts_of(const measures& m, const amounts& a, double attributed, const ceilings* device) {
    facts f;
    f.gpu_time = m.gpu_time;
    f.declared.flops = whole(a.flops);
    f.declared.activation_bytes = whole(a.bytes);
    f.roof = a.roof;
    f.pipe = main_pipe(a.roof);
    const auto pipes = std::count_if(a.roof.compute_by_pipe.begin(), a.roof.compute_by_pipe.end(),
                                     [](double time) { return time > 0; });
    f.declared.pipe = pipes == 1 ? f.pipe : math_pipe::mixed;
    f.device = device;
    f.time = static_cast<double>(m.activity_time);
    f.unknown_work = a.unknown;
    f.communication = static_cast<double>(m.collective_time);
    f.collective_bytes = static_cast<double>(m.collective_bytes);
    f.copy_bytes = static_cast<double>(m.copy_bytes);
    f.attributed = attributed;
    return f;
  }

  /// Shares of the time whose work each source tells: of the others what is left to them.
  void tell_sources() {
    constexpr auto counters = static_cast<std::size_t>(work_source::counters);
    for (std::size_t i = 0; i < r_.layers.size(); ++i) {
      const row& one = r_.layers[i];
      if (phase_of_[i] == r_.phases.size() && !(one.parent < i)) {
        working_ += working_time(one.inclusive);
        unknown_ += declared_of(one.inclusive).unknown;
      }
    }
    if (!(working_ > 0)) {
      return;
    }
    auto& known = r_.quality.work_known;
    known[counters] = counted_ / working_;
    const double others = std::accumulate(known.begin() + counters + 1, known.end(), 0.0);
    const double left = std::max(1 - (unknown_ + counted_) / working_, 0.0);
    for (std::size_t k = counters + 1; k < known.size() && others > 0; ++k) {
      known[k] *= left / others;
    }
  }

  report& r_;
  bool any_declared_ = false;
  std::vector<std::size_t> phase_of_;
  std::vector<double> attributed_;  // by phase
  std::vector<amounts> change_;     // by row: of what is inside
  std::vector<amounts> change_of_phase_;
  double working_ = 0;  // time, collectives left out
  double counted_ = 0;
  double unknown_ = 0;
};

}  // namespace

void rate_by_counts(report& r) { rater{r}.run(); }

}  // namespace analysis
}  // namespace v0
}  // namespace varve

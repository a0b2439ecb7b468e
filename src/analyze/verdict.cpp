// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/verdict.hpp"

#include "analyze/sentence.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// Shares of the GPU time, for one guess at the bytes.
struct shares {
  double roof = 0;
  double compute = 0;
  double memory = 0;
};

bound judge_shares(const shares& s) noexcept {
  if (s.compute >= bound_from || s.memory >= bound_from) {
    return s.compute >= s.memory ? bound::compute : bound::memory;
  }
  // Operators of both kinds, each near its own roof.
  return s.roof < bound_from ? bound::latency : s.compute >= s.memory ? bound::compute : bound::memory;
}

/// FLOPs whose pipe is not known, were they done by FP32 cores: what that could add to the roof.
bool pipes_are_known(const facts& f) noexcept {
  if (f.roof.unrated_flops <= 0) {
    return true;
  }
  constexpr double negligible = 0.05;
  const double peak = f.device->peak(math_pipe::fp32);
  const auto flops = static_cast<double>(f.roof.unrated_flops);
  return peak > 0 ? flops / peak * 1e9 <= negligible * f.roof.total
                  : flops <= negligible * static_cast<double>(f.declared.flops);
}

/// Without it neither side can be told.
bool lacks_bandwidth(const facts& f) noexcept { return !(f.device->bandwidth > 0) && f.declared.bytes() > 0; }

double bytes_of(const work& w) noexcept {
  return static_cast<double>(w.weight_bytes) + static_cast<double>(w.kv_bytes) +
         static_cast<double>(w.activation_bytes);
}

/// What the host did for most of it. Where it launches much, its own code prepares the next launch: graphs
/// and larger batches help against both.
const char* cause_of(const starved_time& s, double launches) noexcept {
  const bool many = launches >= many_launches;
  const std::array parts{many ? s.launching + s.other : 0,
                         s.launching,
                         s.other,
                         s.synchronising,
                         s.allocating,
                         s.graph_building};
  constexpr std::array names{"launch-bound",  "launching",  "the engine's own code",
                             "synchronising", "allocating", "building graphs"};
  return names[static_cast<std::size_t>(std::max_element(parts.begin(), parts.end()) - parts.begin())];
}

/// Peaks may be printed for a clock below the highest.
double most_of_compute(const ceilings& device) noexcept {
  return most_utilised * (device.clock > 0 ? std::max(1.0, device.top_clock / device.clock) : 1.0);
}

class judgement {
 public:
  explicit judgement(const facts& f) : f_{f} {}

  verdict run() {
    if (f_.gpu_time <= 0 && (f_.wall == nullptr || f_.wall->wall() <= 0)) {
      return {};
    }
    measure();
    if (is_unrecorded() || is_starved() || is_unattributed() || is_moved() || is_unknown()) {
      mention_beaten_roof();
    } else if (!beats_roof()) {
      weigh();
    }
    return out_;
  }

 private:
  void withhold(std::string why) { out_.why = std::move(why); }

  void decide(bound by, std::string why) {
    out_.by = by;
    out_.why = std::move(why);
  }

  /// Of the time that something computed.
  [[nodiscard]] double known() const noexcept {
    const double working = f_.time - f_.communication;
    return working > 0 ? 1 - f_.unknown_work / working : 1;
  }

  /// The shares, wherever they can be told. Where they are of some operators only, others decide the side.
  void measure() {
    const auto time = static_cast<double>(f_.gpu_time);
    if (f_.device == nullptr || f_.gpu_time <= 0 || !(f_.roof.total > 0) || !pipes_are_known(f_) ||
        lacks_bandwidth(f_)) {
      return;
    }
    if (known() >= known_from) {
      out_.side = f_.roof.compute >= f_.roof.memory ? bound::compute : bound::memory;
    }
    out_.pipe = f_.pipe;
    out_.roof_share = f_.roof.total / time;
    out_.compute_share = f_.roof.compute / time;
    out_.memory_share = f_.roof.memory / time;
  }

  bool is_unrecorded() {
    constexpr double noticeable = 0.05;
    const double wall = f_.wall != nullptr ? static_cast<double>(f_.wall->wall()) : 0;
    const double missing = f_.wall != nullptr ? static_cast<double>(f_.wall->unrecorded) : 0;
    if (missing <= noticeable * wall) {
      return false;
    }
    withhold("withheld: what the GPU did is not recorded for " + percent_of(missing, wall) + " of the wall");
    return true;
  }

  /// A phase by its wall, a row by its part of it.
  bool is_starved() {
    const starved_time& parts = f_.wall != nullptr ? f_.wall->starved : f_.starved;
    const auto starved = static_cast<double>(parts.total());
    const double whole =
        f_.wall != nullptr ? static_cast<double>(f_.wall->wall())
                           : starved + static_cast<double>(f_.device_gap) + static_cast<double>(f_.gpu_time);
    if (!(starved > whole / 2)) {
      return false;
    }
    std::string why = std::string{"starved ("} + cause_of(parts, f_.launches) +
                      "): nothing was submitted to the GPU for " + length_of(starved) + " of " +
                      length_of(whole) + " (" + percent_of(starved, whole) + ")";
    if (f_.wall != nullptr && f_.wall->busy() > 0) {
      why += ", overhead ratio " + number_of(whole / static_cast<double>(f_.wall->busy()));
    }
    decide(bound::starved, why);
    return true;
  }

  bool is_unattributed() {
    if (f_.attributed >= known_from || !f_.any_work) {
      return false;
    }
    withhold("withheld: only " + percent_of(f_.attributed, 1) +
             " of the phase's GPU time belongs to a layer, " + percent_of(known_from, 1) + " are needed");
    return true;
  }

  /// Collectives and transfers, against what carries them.
  bool is_moved() {
    const bool phase = f_.wall != nullptr;
    const double whole = phase ? static_cast<double>(f_.wall->busy()) : f_.time;
    const double communication =
        phase ? static_cast<double>(f_.wall->exposed_communication) : f_.communication;
    const double copying = phase ? static_cast<double>(f_.wall->exposed_copy) : f_.copying;
    if (!(std::max(communication, copying) > whole / 2)) {
      return false;
    }
    const bool collective = communication >= copying;
    std::string why = collective ? "communication-bound: collectives take " : "copy-bound: transfers take ";
    why += length_of(collective ? communication : copying) + " of " + length_of(whole) + " (" +
           percent_of(collective ? communication : copying, whole) + ")";
    const double moved = collective ? f_.collective_bytes : f_.copy_bytes;
    const double time = collective ? f_.communication : f_.copying;
    if (moved > 0 && time > 0) {
      why += ", at " + rate_of(moved / time * 1e9, "B/s");
      // A link's both directions together; of a transfer one.
      const double link = f_.device == nullptr ? 0
                          : collective         ? f_.device->link_bandwidth / 2
                                               : f_.device->host_bandwidth;
      if (link > 0) {
        why += std::string{collective ? "; a direction of the links carries "
                                      : "; a direction of the link to the host carries "} +
               rate_of(link, "B/s");
      }
    }
    decide(collective ? bound::communication : bound::copy, why);
    return true;
  }

  bool is_unknown() {
    if (f_.declared.empty()) {
      out_.why = f_.any_work ? "withheld: its work is not known" : "";
      return true;
    }
    if (f_.device == nullptr) {
      withhold("withheld: the ceilings of the GPU are not known; name it, as with --device");
      return true;
    }
    if (known() < known_from) {
      withhold("withheld: work is known for only " + percent_of(std::max(known(), 0.0), 1) +
               " of its GPU time" + (f_.communication > 0 ? " without collectives, " : ", ") +
               percent_of(known_from, 1) + " are needed");
      return true;
    }
    if (!pipes_are_known(f_)) {
      withhold(
          "withheld: of " +
          percent_of(static_cast<double>(f_.roof.unrated_flops), static_cast<double>(f_.declared.flops)) +
          " of its FLOPs the math pipe, or its peak on " + f_.device->name + ", is not known");
      return true;
    }
    if (lacks_bandwidth(f_)) {
      withhold("withheld: the bandwidth of " + f_.device->name + "'s memory is not known");
      return true;
    }
    if (!(f_.roof.total > 0)) {
      withhold("withheld: the ceilings of " + f_.device->name + " have no rate for its work");
      return true;
    }
    return false;
  }

  /// Of a phase whose verdict is another: its shares are printed beside it all the same.
  void mention_beaten_roof() {
    if (f_.wall != nullptr && f_.device != nullptr && analysis::beats_roof(out_, *f_.device)) {
      out_.why += "; its work would take " + percent_of(out_.roof_share, 1) +
                  " of its GPU time at the roof, so it is more than was done, or the GPU is another";
    }
  }

  /// Faster than anything can be, or out of the last cache.
  bool beats_roof() {
    if (!analysis::beats_roof(out_, *f_.device)) {
      return false;
    }
    const double bytes = bytes_of(f_.declared);
    const double call = f_.calls > 0 ? bytes / static_cast<double>(f_.calls) : 0;
    const bool fits =
        out_.compute_share <= most_of_compute(*f_.device) && call > 0 && call <= f_.device->l2_bytes;
    const double l2 = f_.device->l2_bandwidth;
    const double time = static_cast<double>(f_.gpu_time);
    const double share = l2 > 0 ? bytes / l2 * 1e9 / time : 0;
    const std::string cached =
        rate_of(call, "B") + " a call fit its cache of " + rate_of(f_.device->l2_bytes, "B");
    if (!fits) {
      withhold("withheld: beats the roof by " + percent_of(out_.roof_share - 1, 1) + beaten());
    } else if (!(l2 > 0) || share > most_utilised) {
      withhold("withheld: beats the roof of the GPU's memory: " + utilisation(bound::memory) + ": " + cached);
    } else if (share >= bound_from) {
      decide(bound::memory, "memory-bound by the cache: " + of_peak(bytes / time * 1e9, l2, "B/s") + " (" +
                                percent_of(share, 1) + "): " + cached);
    } else {
      decide(bound::latency, "latency-bound: out of the cache " + percent_of(share, 1) + " of " +
                                 rate_of(l2, "B/s") + ": " + cached + occupied());
    }
    return true;
  }

  /// What of the roof, and what may be wrong. No clock explains more than a quarter.
  [[nodiscard]] std::string beaten() const {
    constexpr double most_by_clock = 1.25;
    const bound side = out_.memory_share >= out_.compute_share ? bound::memory : bound::compute;
    const double share = std::max(out_.compute_share, out_.memory_share);
    std::string text = out_.roof_share - share > 0.01
                           ? ", by operators of both kinds: " + utilisation(bound::compute) + ", " +
                                 utilisation(bound::memory)
                           : ": " + utilisation(side);
    text += "; is it more work than was done, ";
    if (side == bound::memory) {
      return text + "or another GPU?";
    }
    const double clock = f_.device->clock;
    if (out_.compute_share > most_by_clock) {
      const bool named = f_.pipe > math_pipe::mixed;
      return text + "another GPU, or another precision" + (named ? " than " + name_of(f_.pipe) : "") + '?';
    }
    return text + (clock > 0 ? "another GPU, or did its clock pass the " + rate_of(clock, "Hz") +
                                   " that the peak is for?"
                             : "or another GPU?");
  }

  /// With other bytes of experts than expected, which in a prediction would take as much less or more.
  [[nodiscard]] bound bound_of(double total, double memory) const noexcept {
    const double time = static_cast<double>(f_.gpu_time) + (f_.predicted ? total - f_.roof.total : 0);
    return judge_shares({total / time, f_.roof.compute / time, memory / time});
  }

  void weigh() {
    const roof_times& r = f_.roof;
    const bound by = judge_shares({out_.roof_share, out_.compute_share, out_.memory_share});
    const bound low = bound_of(r.total - r.total_below, r.memory - r.memory_below);
    const bound high = bound_of(r.total + r.total_above, r.memory + r.memory_above);
    if (low != by || high != by) {
      withhold(std::string{"withheld: which experts were touched is not known: bound by "} + bound_name(low) +
               " if the fewest, " + bound_name(by) + " as expected, " + bound_name(high) + " if the most");
      return;
    }
    std::string why = bound_name(by) + std::string{"-bound: "};
    if (by == bound::latency) {
      why += utilisation(bound::memory) +
             (f_.declared.flops > 0 ? " and " + utilisation(bound::compute) : "") + occupied();
    } else if (std::max(out_.compute_share, out_.memory_share) >= bound_from) {
      why += utilisation(by) + balance();
      if (by == bound::compute && out_.compute_share > 1 && f_.device->top_clock > f_.device->clock) {
        why += "; that peak is for " + rate_of(f_.device->clock, "Hz") + ", the clock reaches " +
               rate_of(f_.device->top_clock, "Hz");
      }
    } else {
      why += percent_of(out_.roof_share, 1) +
             " of the roof, by operators of both kinds: " + utilisation(bound::compute) + ", " +
             utilisation(bound::memory);
    }
    decide(by, why);
  }

  /// "2.71 of 3.35 TB/s (81 %)".
  [[nodiscard]] std::string utilisation(bound side) const {
    const auto time = static_cast<double>(f_.gpu_time);
    if (side == bound::memory) {
      return of_peak(bytes_of(f_.declared) / time * 1e9, f_.device->bandwidth, "B/s") + " (" +
             percent_of(out_.memory_share, 1) + ')';
    }
    const auto flops = static_cast<double>(f_.declared.flops);
    if (f_.declared.pipe == f_.pipe && f_.device->peak(f_.pipe) > 0) {
      return of_peak(flops / time * 1e9, f_.device->peak(f_.pipe), "FLOP/s") + ' ' + name_of(f_.pipe) + " (" +
             percent_of(out_.compute_share, 1) + ')';
    }
    return rate_of(flops / time * 1e9, "FLOP/s") + " (" + percent_of(out_.compute_share, 1) +
           " of what its pipes can do" + (f_.pipe > math_pipe::mixed ? ", mostly " + name_of(f_.pipe) : "") +
           ')';
  }

  /// " over 1.1 FLOP/B, ridge 295".
  [[nodiscard]] std::string balance() const {
    const double bytes = bytes_of(f_.declared);
    std::string text;
    if (bytes > 0 && f_.declared.flops > 0) {
      text = " over " + number_of(static_cast<double>(f_.declared.flops) / bytes) + " FLOP/B";
      const double ridge = f_.device->ridge(f_.pipe);
      text += ridge > 0 ? ", ridge " + number_of(ridge) : "";
    }
    return text;
  }

  [[nodiscard]] std::string occupied() const {
    if (f_.occupied == nullptr) {
      return ": neither reaches " + percent_of(bound_from, 1);
    }
    return ": " + number_of(f_.occupied->waves) + " waves of blocks, " +
           percent_of(f_.occupied->theoretical, 1) + " of the warps that fit" +
           limit_text(f_.occupied->limited_by);
  }

  const facts& f_;
  verdict out_;
};

}  // namespace

verdict judge(const facts& f) { return judgement{f}.run(); }

bool is_prediction(const std::vector<collector_status>& collectors) noexcept {
  return std::any_of(collectors.begin(), collectors.end(),
                     [](const collector_status& c) { return c.name == "prediction"; });
}

bool beats_roof(const verdict& v, const ceilings& device) noexcept {
  const double most_compute = most_of_compute(device);
  return v.compute_share > most_compute || v.memory_share > most_utilised ||
         v.roof_share > (v.side == bound::compute ? most_compute : most_utilised);
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

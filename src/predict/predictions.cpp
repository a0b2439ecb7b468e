// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What would change if. docs/metrics.md states the model of each prediction.
#include "predict/peers.hpp"

#include "analyze/verdict.hpp"
#include "formats/table/blocks.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace varve {
inline namespace v0 {

namespace {

using change = prediction::change;
using table::duration;
using table::percent;

constexpr double worth_it = 0.05;        ///< of the time now
constexpr double at_the_roof = 0.6;      ///< from here on a row's time goes with its roof
constexpr double half_a_wave = 0.5;      ///< up to here twice the blocks of a kernel still run at once
constexpr double enough_known = 0.95;    ///< of the GPU time, to be of known work
constexpr double fewest_launches = 10;   ///< a pass, for a graph to be worth a thought
constexpr double light = 10;             ///< FLOPs a byte, below which an operator is for moving data
constexpr double fewest_bits = 6;        ///< of a weight, for a quarter of them to hold anything
constexpr std::int64_t few_kernels = 4;  ///< a call, of what a neighbour can do on the way

constexpr std::string_view waits_longer = ": the device only waits longer for the host";

/// Roof times under a change of the work.
struct scenario {
  change what;
  double roof_times::*roof;
  double work_parts;  ///< times the work of today
  const char* name;
};

constexpr scenario scenarios[] = {
    {change::half_weight_bytes, &roof_times::half_weights, 1, "weights in half the bytes"},
    {change::quarter_weight_bytes, &roof_times::quarter_weights, 1, "weights in a quarter of the bytes"},
    {change::half_kv_bytes, &roof_times::half_kv, 1, "a KV cache in half the bytes"},
    {change::double_batch, &roof_times::double_batch, 2, "twice the batch"}};

/// Sums over the rows of a phase, each without what is inside it.
struct phase_parts {
  double known = 0;    ///< GPU time of rows of known work
  double unknown = 0;  ///< and of others
  std::vector<const row*> rows;
};

class predictor {
 public:
  explicit predictor(const report& r) : r_{r}, phases_{predict::phases_of(r)}, parts_(r.phases.size()) {
    for (std::size_t i = 0; i < r.layers.size(); ++i) {
      if (phases_[i] != none) {
        add(parts_[phases_[i]], r.layers[i]);
      }
    }
  }

  std::vector<prediction> predict() {
    for (phase_ = 0; phase_ < r_.phases.size(); ++phase_) {
      if (of_interest()) {
        graphs();
        for (const scenario& s : scenarios) {
          roofs(s);
        }
      }
    }
    fusions();
    for (phase_ = 0; phase_ < r_.phases.size(); ++phase_) {
      if (of_interest()) {
        without_a_layer();
      }
    }
    return std::move(found_);
  }

 private:
  static void add(phase_parts& to, const row& layer) {
    const measures& m = layer.exclusive;
    if (m.gpu_time <= 0) {
      return;
    }
    const bool known = m.roof.total > 0 && m.roof.unrated_flops == 0 && m.unknown_work_time == 0;
    (known ? to.known : to.unknown) += static_cast<double>(m.gpu_time);
    if (known) {
      to.rows.push_back(&layer);
    }
  }

  [[nodiscard]] bool of_interest() const noexcept {
    return predict::is_of_interest(phase()) && phase().passes > 0 && phase().partition.busy() > 0;
  }
  [[nodiscard]] const phase_row& phase() const noexcept { return r_.phases[phase_]; }
  [[nodiscard]] double passes() const noexcept { return static_cast<double>(phase().passes); }
  [[nodiscard]] double a_pass(time_ns total) const noexcept { return static_cast<double>(total) / passes(); }
  [[nodiscard]] double wall() const noexcept { return a_pass(phase().partition.wall()); }
  /// Share of the wall in which the device decides how long it lasts.
  [[nodiscard]] double device_share() const noexcept {
    const wall_partition& w = phase().partition;
    return 1 - static_cast<double>(w.starved.total()) / static_cast<double>(w.wall());
  }
  /// Share of the wall that kernels shorten when they get shorter themselves. Where the device waits for the
  /// host for half of the time or more, as in what is called launch-bound, it then only waits longer; of a
  /// wall that starves for less, as much as it starves is taken to be of that kind too.
  [[nodiscard]] double shortened_share() const noexcept { return std::max(0.0, 2 * device_share() - 1); }

  void graphs();
  /// Whether a phase's declared work is more than its device could have done.
  [[nodiscard]] bool beats_roof() const {
    const auto device = std::find_if(r_.devices.begin(), r_.devices.end(),
                                     [&](const device_row& d) { return d.device.id == phase().device; });
    return analysis::beats_roof(
        phase().verdict, device != r_.devices.end() && device->ceilings ? *device->ceilings : ceilings{});
  }

  [[nodiscard]] double bits_of_weights() const;
  void roofs(const scenario& s);
  [[nodiscard]] bool leaves_room(const row& layer) const;
  void fusions();
  void without_a_layer();
  void tell(change what, std::uint32_t layer, double now, double best, double expected, double worst,
            const std::string& what_if, std::string model, std::string_view remark = {});

  const report& r_;
  std::vector<std::uint32_t> phases_;
  std::vector<phase_parts> parts_;
  std::uint32_t phase_ = none;
  std::vector<prediction> found_;
};

void predictor::tell(change what, std::uint32_t layer, double now, double best, double expected, double worst,
                     const std::string& what_if, std::string model, std::string_view remark) {
  prediction& p = found_.emplace_back();
  p.what = what;
  p.phase = phase_;
  p.layer = layer;
  p.now = now;
  p.at_best = best;
  p.expected = std::max(expected, best);
  p.at_worst = std::max(worst, p.expected);
  p.helps = p.expected <= (1 - worth_it) * now;
  p.text = phase().phase + " with " + what_if + (p.helps ? ": " : " gains little: ") + duration(now) +
           " to " + duration(p.expected) + " (" + duration(p.at_best) + " to " + duration(p.at_worst) + ")";
  p.text += remark;
  p.model = std::move(model);
}

void predictor::graphs() {
  const wall_partition& w = phase().partition;
  const measures& m = phase().total;
  const double launches = a_pass(m.launches - m.graph_launches);
  if (launches < fewest_launches) {
    return;
  }
  const double one = static_cast<double>(m.launch_time) / static_cast<double>(m.launches);
  const double stays = a_pass(w.starved.synchronising) + one;
  const double gone = a_pass(w.starved.total()) - stays;
  tell(change::graphs, none, wall(), a_pass(w.busy() + w.unrecorded) + stays, std::min(wall(), wall() - gone),
       wall() - std::max(0.0, a_pass(w.starved.launching) - one),
       "one CUDA graph in place of " +
           table::counted(static_cast<std::int64_t>(launches), "launch", "launches"),
       "the device starves only where the host synchronises and for one launch; at best no gaps stay, at "
       "worst "
       "only what it starved while the host launched goes");
}

/// Of rows in which products with the cache count for little: a pass reads each weight once and does two
/// FLOPs with it for each token. More than they have where some tokens leave weights out, as experts. 0:
/// unknown.
double predictor::bits_of_weights() const {
  double bytes = 0;
  double flops = 0;
  for (const row* const layer : parts_[phase_].rows) {
    const work& w = layer->exclusive.declared;
    if (w.flops > 0 && static_cast<double>(w.kv_bytes) <= 0.05 * static_cast<double>(w.weight_bytes)) {
      bytes += static_cast<double>(w.weight_bytes);
      flops += static_cast<double>(w.flops);
    }
  }
  return flops > 0 ? 8 * bytes * 2 * (static_cast<double>(phase().tokens()) / passes()) / flops : 0;
}

/// Whether the kernel that a row spends most of its time in would run twice its blocks at once.
bool predictor::leaves_room(const row& layer) const {
  const auto same = [&](const row& kernel) {
    return std::tie(kernel.path, kernel.phase, kernel.model, kernel.device, kernel.batch) ==
           std::tie(layer.main_kernel, layer.phase, layer.model, layer.device, layer.batch);
  };
  const auto kernel =
      layer.main_kernel.empty() ? r_.kernels.end() : std::find_if(r_.kernels.begin(), r_.kernels.end(), same);
  return kernel != r_.kernels.end() && kernel->occupied && kernel->occupied->waves > 0 &&
         kernel->occupied->waves <= half_a_wave;
}

void predictor::roofs(const scenario& s) {
  const phase_parts& parts = parts_[phase_];
  const measures& total = phase().total;
  const double gpu_time = std::max(parts.known + parts.unknown, static_cast<double>(total.gpu_time));
  const double now = s.work_parts * wall();
  if (s.what == change::half_kv_bytes && total.declared.kv_bytes == 0) {
    return;
  }
  if (const double bits = bits_of_weights();
      s.what == change::quarter_weight_bytes && bits > 0 && bits < fewest_bits) {
    return;
  }
  if (parts.known < enough_known * gpu_time || beats_roof()) {
    // Where the host decides, even what is not known can be bounded.
    if (!(shortened_share() > 0) && s.what == change::quarter_weight_bytes) {
      const double most = a_pass(phase().partition.busy()) * 3 / 4;
      tell(s.what, none, now, now - most, now, now, s.name,
           "the device starves for " + percent(1 - device_share(), 1) +
               " % of the wall: kernels that take less time leave it waiting longer; at best as if all GPU "
               "time were spent on reading weights and the host kept up",
           waits_longer);
    }
    return;
  }
  double proportional = 0;
  double likely = 0;
  for (const row* const layer : parts.rows) {
    const measures& m = layer->exclusive;
    const auto time = static_cast<double>(m.gpu_time) / passes();
    const double roof = m.roof.total / passes();
    const double then = m.roof.*s.roof / passes();
    const double relative = time * (then / roof - 1);
    proportional += relative;
    // A filled device is no faster with more to do; what is saved needn't have been what took long.
    const bool goes_with_it =
        roof >= at_the_roof * time || (s.what == change::double_batch && !leaves_room(*layer));
    likely += goes_with_it ? relative : then - roof;
  }
  if (s.what == change::double_batch) {
    tell(s.what, none, now, wall(), wall() + device_share() * likely, now, s.name,
         "for the tokens of two passes; rows take longer as their roof does, those under 60 % of it whose "
         "kernels fill at most half of the device by what is added to it; at best the host and the device "
         "hide all of it");
  } else {
    const double share = shortened_share();
    tell(s.what, none, now, wall() + proportional, wall() + share * likely, now, s.name,
         "rows at 60 % of their roof or more go with it, others lose what the roof loses, where the device "
         "doesn't wait for the host anyway (" +
             percent(share, 1) + " % of the wall); at best all go with it and the host keeps up",
         share > 0 ? "" : waits_longer);
  }
}

/// All that ran is known, and is kernels that a neighbour's could take in: few, or those of a normalisation,
/// whose steps one kernel can do.
bool could_fuse(const measures& m, std::string_view label) noexcept {
  const work& w = m.declared;
  const auto bytes = static_cast<double>(w.bytes());
  return m.gpu_time > 0 && w.activation_bytes > 0 && static_cast<double>(w.flops) <= light * bytes &&
         static_cast<double>(w.activation_bytes) >= 0.9 * bytes &&
         static_cast<double>(m.unknown_work_time) <= (1 - enough_known) * static_cast<double>(m.gpu_time) &&
         m.copies == 0 && m.sets == 0 && m.collective_bytes == 0 &&
         (m.kernels <= few_kernels * m.calls || kernel_category(label) == "normalisation");
}

// An operator that moves more than it computes costs nothing more when a neighbour does it on the way.
void predictor::fusions() {
  const auto key = [](const row& one) {
    return std::tuple<std::string_view, std::string_view, std::string_view, std::uint32_t>{
        one.label, one.phase, one.model, one.device};
  };
  std::set<decltype(key(r_.layers[0]))> containers;  // what they do themselves has no neighbours of its own
  for (const row& layer : r_.layers) {
    if (layer.parent < r_.layers.size() && layer.inclusive.gpu_time > 0) {
      containers.insert(key(r_.layers[layer.parent]));
    }
  }
  for (const row& label : r_.labels) {
    const measures& m = label.exclusive;
    phase_ = predict::phase_of(r_, label);
    if (phase_ == none || phase().passes == 0 || !predict::is_of_interest(phase()) ||
        !could_fuse(m, label.label) || containers.count(key(label)) > 0 ||
        label.verdict.by == bound::communication) {
      continue;
    }
    const double time = a_pass(m.gpu_time);
    const auto first = std::find_if(r_.layers.begin(), r_.layers.end(), [&](const row& layer) {
      return layer.label == label.label && layer.phase == label.phase && layer.device == label.device;
    });
    tell(change::fused,
         first == r_.layers.end() ? none : static_cast<std::uint32_t>(first - r_.layers.begin()), wall(),
         wall() - time - a_pass(m.starved.total()), wall() - device_share() * time, wall(),
         label.label + " fused with its neighbours",
         "what it reads and writes stays on the chip: its " + duration(time) +
             " a pass go as far as the device decides; at best what it starved goes too");
  }
}

// Of the blocks that the phase's model repeats, those of the label with the most time. What a graph replays
// is the same layer in each graph.
void predictor::without_a_layer() {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    if (phases_[i] == phase_) {
      members.push_back(i);
    }
  }
  struct block {
    std::uint32_t first = none;  ///< of its rows
    double gpu_time = 0;
    double starved = 0;
  };
  using place = std::pair<std::uint32_t, std::int32_t>;  // parent, none where those are graphs, and index
  struct kind {
    double gpu_time = 0;
    std::map<place, block> blocks;
  };
  std::map<std::string_view, kind> kinds;
  for (const std::size_t i : table::find_blocks(r_.layers, members).rows) {
    const row& layer = r_.layers[i];
    const bool replayed = layer.parent < i && predict::is_graph(r_.layers[layer.parent].label);
    kind& k = kinds[layer.label];
    block& b = k.blocks[{replayed ? none : layer.parent, layer.index}];
    b.first = b.first == none ? static_cast<std::uint32_t>(i) : b.first;
    b.gpu_time += a_pass(layer.inclusive.gpu_time);
    b.starved += a_pass(layer.inclusive.starved.total());
    k.gpu_time += a_pass(layer.inclusive.gpu_time);
  }
  const auto most = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.second.gpu_time < b.second.gpu_time;
  });
  if (most == kinds.end()) {
    return;
  }
  std::vector<block> alike;
  for (const auto& [where, b] : most->second.blocks) {
    alike.push_back(b);
  }
  const auto middle = alike.begin() + static_cast<std::ptrdiff_t>(alike.size() / 2);
  std::nth_element(alike.begin(), middle, alike.end(), [](const block& a, const block& b) {
    return std::tuple{a.gpu_time, a.first} < std::tuple{b.gpu_time, b.first};
  });
  const double gone = middle->gpu_time + middle->starved;
  tell(change::left_out, middle->first, wall(), wall() - gone, wall() - gone,
       wall() - device_share() * middle->gpu_time,
       "one " + std::string{most->first} + " of " + std::to_string(alike.size()) + " left out",
       "the median one's GPU time and what the device starves before its work go");
}

}  // namespace

std::vector<prediction> predictions_of(const report& r) { return predictor{r}.predict(); }

}  // namespace v0
}  // namespace varve

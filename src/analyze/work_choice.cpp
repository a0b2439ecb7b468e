// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/work_choice.hpp"

#include "analyze/numbers.hpp"
#include "analyze/operators.hpp"
#include "analyze/product_kernels.hpp"
#include "trace/launching_ranges.hpp"

#include <algorithm>
#include <array>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

using by_source = std::array<double, work_sources>;
constexpr auto shapes = static_cast<std::uint8_t>(work_source::shapes);
constexpr auto description = static_cast<std::uint8_t>(work_source::description);

/// Shapes whose operators launched less than this share of a range's time tell a part of its work.
constexpr double complete = 0.95;

/// The sums of each range by source, and the choice between them.
class chooser {
 public:
  chooser(const trace& t, const std::vector<range_place>& ranges, work_choice& to)
      : t_{t}, ranges_{ranges}, to_{to}, flops_(ranges.size()), amounts_(ranges.size()) {
    for (const range_work& w : t.works) {
      const auto from = static_cast<std::size_t>(w.source);
      if (w.range >= ranges.size() || ranges[w.range].owner == none || from >= work_sources) {
        continue;
      }
      const auto flops = static_cast<double>(w.declared.flops);
      flops_[ranges[w.range].owner][from] += flops;
      amounts_[ranges[w.range].owner][from] += flops + static_cast<double>(w.declared.weight_bytes) +
                                               static_cast<double>(w.declared.kv_bytes) +
                                               static_cast<double>(w.declared.activation_bytes);
    }
  }

  void run() {
    heed_what_shapes_miss();
    note_differences();
    heed_what_is_around();
    heed_what_is_inside();
  }

 private:
  /// The call of a row around that of range `r`, or none.
  [[nodiscard]] std::uint32_t around(std::uint32_t r) const noexcept {
    const std::uint32_t up = t_.ranges[r].parent;
    const std::uint32_t owner = up < r ? ranges_[up].owner : none;
    const bool is_layer = owner != none && t_.ranges[owner].kind != range_kind::phase;
    return is_layer && t_.ranges[r].kind != range_kind::phase ? owner : none;
  }

  /// Time on the devices of what operators launched in each range, and of those of known work.
  struct launched {
    double all = 0;
    double known = 0;
  };

  [[nodiscard]] std::vector<launched> times_of_operators() const {
    std::vector<launched> out(ranges_.size());
    const std::vector<bool> known = operators_of_known_work(t_);
    for (std::size_t i = 0; i < t_.operator_of_activity.size() && i < t_.activities.size(); ++i) {
      const std::uint32_t op = t_.operator_of_activity[i];
      const std::uint32_t range =
          op < known.size() && op < t_.operators.range.size() ? t_.operators.range[op] : none;
      const bool replayed = t_.activities.node[i] < t_.graph_nodes.size();
      if (range < ranges_.size() && ranges_[range].owner != none && !replayed) {
        const double time = length_of(i);
        out[ranges_[range].owner].all += time;
        out[ranges_[range].owner].known += known[op] ? time : 0;
      }
    }
    return out;
  }

  /// The same of what was launched in each range, and of the products among that.
  [[nodiscard]] std::vector<launched> times_of_calls() const {
    std::vector<launched> out(ranges_.size());
    const launching_ranges launched_in{t_};
    product_kernels products{t_};
    for (std::uint32_t i = 0; i < t_.activities.size(); ++i) {
      const std::uint32_t range = launched_in.of(i);
      const std::uint32_t owner = range < ranges_.size() ? ranges_[range].owner : none;
      if (owner != none && t_.activities.node[i] >= t_.graph_nodes.size()) {
        const double time = length_of(i);
        out[owner].all += time;
        out[owner].known += products.holds(i) ? time : 0;
      }
    }
    return out;
  }

  [[nodiscard]] double length_of(std::size_t activity) const noexcept {
    return static_cast<double>(std::max<time_ns>(
        0, clamp_time(t_.activities.end[activity]) - clamp_time(t_.activities.begin[activity])));
  }

  /// A side operator whose shapes tell its bytes must not stand for experts whose work is in no shape; nor
  /// calls of cuBLAS for the attention beside them.
  void heed_what_shapes_miss() {
    const std::vector<launched> times = has_shapes_of_calls(t_) ? times_of_calls() : times_of_operators();
    for (std::uint32_t r = 0; r < ranges_.size(); ++r) {
      if (to_.source[r] == shapes && times[r].known < complete * times[r].all &&
          amounts_[r][description] > amounts_[r][shapes]) {
        to_.source[r] = description;
      }
    }
  }

  void note_differences() {
    for (std::uint32_t r = 0; r < ranges_.size(); ++r) {
      for (std::size_t other = to_.source[r] + std::size_t{1}; other < work_sources; ++other) {
        const bool is_part =
            other == shapes && has_shapes_of_calls(t_) && flops_[r][other] < flops_[r][to_.source[r]];
        if (amounts_[r][other] > 0 && !is_part) {
          to_.differences.push_back({r, static_cast<work_source>(to_.source[r]),
                                     static_cast<work_source>(other), flops_[r][to_.source[r]],
                                     flops_[r][other]});
        }
      }
    }
  }

  /// Shapes are those of operators directly in their range: they leave what is inside to others.
  void heed_what_is_around() {
    std::vector<std::uint8_t> best(ranges_.size(), work_choice::nobody);  // of a range and those around
    for (std::uint32_t r = 0; r < ranges_.size(); ++r) {
      const std::uint32_t up = ranges_[r].owner == r ? around(r) : none;
      const std::uint8_t above = up != none ? best[up] : work_choice::nobody;
      if (above < to_.source[r]) {
        to_.source[r] = work_choice::nobody;
      }
      best[r] = to_.source[r] == shapes ? above : std::min(above, to_.source[r]);
    }
  }

  void heed_what_is_inside() {
    std::vector<by_source> inside(ranges_.size());
    for (auto r = static_cast<std::uint32_t>(ranges_.size()); r-- > 0;) {
      std::uint8_t& chosen = to_.source[r];
      if (chosen != work_choice::nobody) {
        double trusted = 0;
        for (std::size_t better = 0; better < chosen; ++better) {
          trusted += inside[r][better];
        }
        if (trusted > 0 && 2 * trusted >= amounts_[r][chosen]) {
          chosen = work_choice::nobody;
        }
      }
      const std::uint32_t up = ranges_[r].owner == r ? around(r) : none;
      for (std::size_t k = 0; up != none && k < work_sources; ++k) {
        inside[up][k] += inside[r][k] + (k == chosen ? amounts_[r][k] : 0.0);
      }
    }
  }

  const trace& t_;
  const std::vector<range_place>& ranges_;
  work_choice& to_;
  std::vector<by_source> flops_;
  std::vector<by_source> amounts_;
};

}  // namespace

work_choice choose_works(const trace& t, const std::vector<range_place>& ranges) {
  work_choice out;
  out.source.assign(t.works.empty() ? 0 : ranges.size(), work_choice::nobody);
  bool several = false;
  for (const range_work& w : t.works) {
    const std::uint32_t owner = w.range < ranges.size() ? ranges[w.range].owner : none;
    if (owner != none && declares_work(w.declared)) {
      const auto from = static_cast<std::uint8_t>(w.source);
      several = several || w.source != t.works.front().source;
      out.source[owner] = std::min(out.source[owner], from);
    }
  }
  if (several) {
    chooser{t, ranges, out}.run();
  }
  return out;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

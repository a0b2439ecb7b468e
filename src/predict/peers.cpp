// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "predict/peers.hpp"

#include <varve/varve.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace predict {

bool is_graph(std::string_view label) noexcept {
  const auto ends_with = [&](std::string_view end) {
    return label.size() > end.size() && label.substr(label.size() - end.size()) == end;
  };
  return label.substr(0, 6) == "graph " && (ends_with(" nodes)") || ends_with(" node)"));
}

namespace {

constexpr std::size_t fewest_peers = 5;

/// Whether a row's index is its place among the kernels of a graph or of a block of it: kernels of one name
/// at other places work on other tensors.
bool is_node(const report& r, const row& layer) noexcept {
  if (layer.kind != range_kind::op || layer.index == no_index || !(layer.parent < r.layers.size())) {
    return false;
  }
  const row& around = r.layers[layer.parent];
  return is_graph(around.label) || (around.label == "inferred layer" && around.parent < r.layers.size() &&
                                    is_graph(r.layers[around.parent].label));
}

/// A path without its innermost index, and that index. A node's place in a graph is none.
struct place {
  std::uint32_t pattern = none;  ///< number of the path without it
  std::int32_t index = no_index;
};

/// Numbers paths in their order, so that equal ones are told without comparing texts.
class places {
 public:
  explicit places(const report& r) {
    of_row_.reserve(r.layers.size());
    for (const row& layer : r.layers) {
      of_row_.push_back(find(layer, is_node(r, layer),
                             layer.parent < of_row_.size() ? &of_row_[layer.parent] : nullptr,
                             layer.parent < whole_.size() ? whole_[layer.parent] : none));
    }
  }
  [[nodiscard]] const place& operator[](std::size_t row) const noexcept { return of_row_[row]; }

 private:
  place find(const row& layer, bool node, const place* parent, std::uint32_t above) {
    whole_.push_back(number(paths_, {above, layer.index, layer.label}));
    if (layer.index != no_index && !node) {
      return {number(patterns_, {above, no_index, layer.label}), layer.index};
    }
    place p = parent != nullptr ? *parent : place{};
    p.pattern = number(patterns_,
                       {p.pattern, 0, node ? layer.label + ' ' + std::to_string(layer.index) : layer.label});
    return p;
  }

  using step = std::tuple<std::uint32_t, std::int32_t, std::string>;
  static std::uint32_t number(std::map<step, std::uint32_t>& known, step s) {
    return known.try_emplace(std::move(s), static_cast<std::uint32_t>(known.size())).first->second;
  }

  std::map<step, std::uint32_t> paths_;
  std::map<step, std::uint32_t> patterns_;
  std::vector<std::uint32_t> whole_;
  std::vector<place> of_row_;
};

}  // namespace

bool is_layer(const report& r, const row& one) noexcept { return !is_node(r, one); }

bool is_of_interest(const phase_row& phase) noexcept {
  return phase.phase != VARVE_LOAD && phase.phase != VARVE_CAPTURE && phase.phase != VARVE_WARM_UP;
}

std::uint32_t phase_of(const report& r, const row& layer) noexcept {
  for (std::size_t p = 0; p < r.phases.size(); ++p) {
    const phase_row& phase = r.phases[p];
    if (std::tie(phase.phase, phase.model, phase.device, phase.batch) ==
        std::tie(layer.phase, layer.model, layer.device, layer.batch)) {
      return static_cast<std::uint32_t>(p);
    }
  }
  return none;
}

std::vector<std::uint32_t> phases_of(const report& r) {
  // Rows of one phase stand together.
  std::vector<std::uint32_t> out;
  out.reserve(r.layers.size());
  const auto key = [](const row& layer) {
    return std::tie(layer.phase, layer.model, layer.device, layer.batch);
  };
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    out.push_back(i > 0 && key(r.layers[i]) == key(r.layers[i - 1]) ? out.back() : phase_of(r, r.layers[i]));
  }
  return out;
}

std::vector<double> peers::times(const report& r) const {
  std::vector<double> out;
  out.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    const measures& m = r.layers[row].inclusive;
    out.push_back(static_cast<double>(m.gpu_time) / static_cast<double>(m.calls));
  }
  return out;
}

std::vector<peers> find_peers(const report& r) {
  const places where{r};
  const auto kind = [&](std::uint32_t i) {
    const row& layer = r.layers[i];
    const measures& m = layer.inclusive;
    return std::tuple{std::tie(layer.phase, layer.model, layer.batch),
                      layer.device,
                      where[i].pattern,
                      m.calls,
                      m.kernels,
                      m.declared.flops,
                      m.declared.bytes()};
  };
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < r.layers.size(); ++i) {
    const measures& m = r.layers[i].inclusive;
    if (where[i].index != no_index && m.calls > 0 && m.gpu_time > 0) {
      rows.push_back(i);
    }
  }
  std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple{kind(a), where[a].index, a} < std::tuple{kind(b), where[b].index, b};
  });
  std::vector<peers> out;
  for (std::size_t first = 0, last = 0; first < rows.size(); first = last) {
    while (last < rows.size() && kind(rows[last]) == kind(rows[first])) {
      ++last;
    }
    if (last - first >= fewest_peers) {
      peers& group = out.emplace_back();
      for (std::size_t i = first; i < last; ++i) {
        group.rows.push_back(rows[i]);
        group.index.push_back(where[rows[i]].index);
      }
    }
  }
  return out;
}

}  // namespace predict
}  // namespace v0
}  // namespace varve

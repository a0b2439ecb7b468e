// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/parts.hpp"
#include "formats/table/sums.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace varve::table {

namespace {

struct part {
  std::string_view glyph;
  std::string_view name;
  std::string_view colour;
  double time;
};

std::array<part, 7> parts_of(const wall_partition& p) noexcept {
  return {{{"█", "compute", "32", static_cast<double>(p.compute)},
           {"▓", "exposed communication", "35", static_cast<double>(p.exposed_communication)},
           {"▒", "exposed copy", "36", static_cast<double>(p.exposed_copy)},
           {"░", "starved", "31", starved_sum(p.starved)},
           {"╌", "device gap", "33", static_cast<double>(p.device_gap)},
           {"?", "unrecorded", "1;31", static_cast<double>(p.unrecorded)},
           {" ", "no pass open", "2", static_cast<double>(p.no_pass)}}};
}

/// Cells for each part by the largest remainder, so that they add up to `width`.
std::array<std::size_t, 7> cells_of(const std::array<part, 7>& parts, double wall, std::size_t width) {
  std::array<std::size_t, 7> cells{};
  std::array<std::size_t, 7> order{};
  std::array<double, 7> remainders{};
  std::size_t used = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double exact = std::clamp(parts[i].time / wall, 0.0, 1.0) * static_cast<double>(width);
    cells[i] = static_cast<std::size_t>(exact);
    remainders[i] = exact - std::floor(exact);
    used += cells[i];
  }
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (const std::size_t i : order) {
    if (used < width && remainders[i] > 0) {
      ++cells[i];
      ++used;
    }
  }
  return cells;
}

std::vector<std::string> starved_pieces(const wall_partition& p, double wall) {
  const std::array<std::pair<const char*, time_ns>, 5> causes{{{"launched", p.starved.launching},
                                                               {"built graphs", p.starved.graph_building},
                                                               {"synchronised", p.starved.synchronising},
                                                               {"allocated", p.starved.allocating},
                                                               {"ran its own code", p.starved.other}}};
  std::vector<std::string> pieces;
  for (const auto& [what, time] : causes) {
    if (time != 0) {
      pieces.push_back((pieces.empty() ? "while the host " : "") + std::string{what} + ' ' +
                       percent(static_cast<double>(time), wall) + " %");
    }
  }
  return pieces;
}

}  // namespace

std::string labelled(std::string_view label, const std::vector<std::string>& pieces, const style& s) {
  return std::string(indent, ' ') + s.dim(left(label, label_width)) +
         flow(pieces, " · ", text_column, s.text_width()) + '\n';
}

std::string partition(const wall_partition& p, const style& s) {
  constexpr std::size_t longest = 72;
  const auto parts = parts_of(p);
  const double wall = std::accumulate(parts.begin(), parts.end(), 0.0,
                                      [](double sum, const part& x) { return sum + x.time; });
  if (!(wall > 0)) {
    return {};
  }
  const auto cells = cells_of(parts, wall, std::min(s.text_width() - text_column, longest));
  std::string bar;
  std::vector<std::string> legend;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string run;
    for (std::size_t n = 0; n < cells[i]; ++n) {
      run += parts[i].glyph;
    }
    bar += s.paint(parts[i].colour, run);
    if (parts[i].time != 0) {
      legend.push_back(s.paint(parts[i].colour, parts[i].glyph) + ' ' + std::string{parts[i].name} + ' ' +
                       percent(parts[i].time, wall) + " %");
    }
  }
  std::string out = std::string(text_column, ' ') + bar + '\n' + std::string(text_column, ' ') +
                    flow(legend, "  ", text_column, s.text_width()) + '\n';
  if (const auto pieces = starved_pieces(p, wall); !pieces.empty()) {
    out += labelled("starved", pieces, s);
  }
  return out;
}

}  // namespace varve::table

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/sentence.hpp"

#include "trace/pipe_names.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

struct scale {
  double unit = 1;
  const char* prefix = "";
};

scale scale_of(double value) noexcept {
  constexpr std::array<scale, 6> scales{{{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {}}};
  for (const scale& s : scales) {
    if (std::fabs(value) >= s.unit * 0.9995) {  // what rounds to the unit
      return s;
    }
  }
  return scales.back();
}

template <class Enum, std::size_t N>
std::string name_in(const std::array<const char*, N>& names, Enum value) {
  const auto k = static_cast<std::size_t>(value);
  return names[k < N ? k : 0];
}

}  // namespace

std::string number_of(double value) {
  char text[64];
  const double size = std::fabs(value);
  std::snprintf(text, sizeof text, size >= 99.95 ? "%.0f" : "%.3g", value);
  return text;
}

std::string percent_of(double part, double whole) {
  const double percent = whole > 0 ? part / whole * 100 : 0;
  char text[64];
  std::snprintf(text, sizeof text, percent != 0 && percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
  return text;
}

std::string length_of(double ns) {
  return ns >= 999.5e6   ? number_of(ns / 1e9) + " s"
         : ns >= 999.5e3 ? number_of(ns / 1e6) + " ms"
         : ns >= 999.5   ? number_of(ns / 1e3) + " µs"
                         : number_of(ns) + " ns";
}

std::string rate_of(double value, const char* unit) {
  const scale s = scale_of(value);
  return number_of(value / s.unit) + ' ' + s.prefix + unit;
}

std::string of_peak(double value, double peak, const char* unit) {
  const scale s = scale_of(peak);
  const bool same = std::fabs(value) >= s.unit / 100;
  return (same ? number_of(value / s.unit) : rate_of(value, unit)) + " of " + rate_of(peak, unit);
}

std::string name_of(math_pipe pipe) { return name_in(pipe_names, pipe); }

std::string name_of(work_source source) {
  return name_in(std::array{"counters", "the engine", "operators' shapes", "the model's description"},
                 source);
}

std::string limit_text(occupancy::limit limit) {
  return name_in(std::array{"", ", as many as there can be", ", limited by the number of blocks",
                            ", limited by registers", ", limited by shared memory", ", limited by the grid"},
                 limit);
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

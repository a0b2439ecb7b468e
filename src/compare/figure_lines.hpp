// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Lines of the table of figures, and what several of them share.
#ifndef VARVE_COMPARE_FIGURE_LINES_HPP
#define VARVE_COMPARE_FIGURE_LINES_HPP

#include "compare/figures.hpp"

#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace budgets {

[[nodiscard]] std::vector<definition> row_lines();
[[nodiscard]] std::vector<definition> phase_lines();
[[nodiscard]] std::vector<definition> collective_lines();
[[nodiscard]] std::vector<definition> report_lines();
/// What rows and phases both have, by their measures; `per` is "call" or "pass".
[[nodiscard]] std::vector<definition> measured_lines(std::string_view per);

/// Percentiles by the nearest rank, as everywhere in a report.
[[nodiscard]] distribution distribution_of(std::vector<time_ns> values);

[[nodiscard]] inline figure_value known(double value) { return {value, {}}; }
[[nodiscard]] inline figure_value unknown(const char* why) { return {std::nullopt, why}; }

/// A measure as a number.
template <auto Member>
[[nodiscard]] double of(const measures& m) {
  return static_cast<double>(m.*Member);
}

[[nodiscard]] inline definition sum_line(std::string_view name, figure_unit in, rests_on on,
                                         double (*sum)(const measures&), std::string_view what) {
  definition d;
  d.info = {name, in, figure_shape::sum, {}, what};
  d.on = on;
  d.sum = sum;
  return d;
}
[[nodiscard]] inline definition part_line(std::string_view name, double (*sum)(const subject&),
                                          std::string_view what) {
  definition d;
  d.info = {name, figure_unit::time, figure_shape::sum, "pass", what};
  d.on = rests_on::device;
  d.sum_of = sum;
  return d;
}
[[nodiscard]] inline definition spread_line(std::string_view name, std::string_view per, rests_on on,
                                            const distribution* (*spread)(const subject&),
                                            std::string_view what) {
  definition d;
  d.info = {name, figure_unit::time, figure_shape::spread, per, what};
  d.on = on;
  d.spread = spread;
  return d;
}
[[nodiscard]] inline definition value_line(std::string_view name, figure_unit in, rests_on on,
                                           figure_value (*value)(const subject&), std::string_view what) {
  definition d;
  d.info = {name, in, figure_shape::value, "run", what};
  d.on = on;
  d.value = value;
  return d;
}

[[nodiscard]] inline definition gpu_time_line(std::string_view per, std::string_view what) {
  definition d = sum_line("gpu_time", figure_unit::time, rests_on::device, of<&measures::gpu_time>, what);
  d.info.shape = figure_shape::time;
  d.info.per = per;
  return d;
}

}  // namespace budgets
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_FIGURE_LINES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What rows are chosen, called and sorted by.
#include "formats/table/pattern.hpp"
#include "formats/table/select.hpp"
#include "formats/table/sums.hpp"

#include <algorithm>
#include <cmath>

namespace varve::table {

bool chosen_by_name(const table_options& options) noexcept {
  return !options.layers.empty() && (options.by == view::layer || options.by == view::label);
}

row_test wanted_rows(const table_options& options) {
  const row_test named = chosen_by_name(options) ? rows_named(options.layers) : row_test{};
  return [&options, named](const row& r) {
    return (options.filter.empty() || holds(r.path, options.filter)) && (!named || named(r));
  };
}

bool chosen(const table_options& options) noexcept {
  return !options.filter.empty() || chosen_by_name(options);
}

std::string step_name(const row& r) {
  std::string text = r.label;
  if (r.index != no_index) {
    text += ' ' + std::to_string(r.index);
  }
  return text;
}

bool holds(std::string_view text, std::string_view part) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [&](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

double sort_value(const row& r, sort_key key) noexcept {
  const measures& m = r.inclusive;
  switch (key) {
    case sort_key::gpu_time:
      return static_cast<double>(m.gpu_time);
    case sort_key::calls:
      return static_cast<double>(m.calls);
    case sort_key::average:
      return std::isnan(r.per_call.mean) ? 0 : r.per_call.mean;
    case sort_key::maximum:
      return static_cast<double>(r.per_call.max);
    case sort_key::launches:
      return static_cast<double>(m.launches);
    case sort_key::launch_time:
      return static_cast<double>(m.launch_time);
    case sort_key::starved:
      return starved_sum(m.starved);
    case sort_key::self_gpu_time:
      return static_cast<double>(r.exclusive.gpu_time);
    case sort_key::cpu_time:
      return static_cast<double>(r.inclusive.host_time);
    case sort_key::self_cpu_time:
      return static_cast<double>(r.exclusive.host_time);
    case sort_key::order:
      break;
  }
  return 0;
}

}  // namespace varve::table

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/comparison_sections.hpp"
#include "formats/table/comparison_words.hpp"
#include "formats/table/kernel_name.hpp"

#include <cmath>

namespace varve::table {

namespace {

std::string name_of(const comparison& c, const contribution& one) {
  switch (one.what) {
    case contribution::kind::layer:
      return c.rows[one.row].path;
    case contribution::kind::other_work:
      return "other work on the device";
    case contribution::kind::starved:
      return "starved";
    case contribution::kind::device_gap:
      return "device gap";
    case contribution::kind::unrecorded:
      return "unrecorded";
    case contribution::kind::outside_layer:
      return "outside any layer";
  }
  return {};
}

std::string shape(const launch_shape& s) {
  const auto three = [](const std::uint32_t* n) {
    return std::to_string(n[0]) + "×" + std::to_string(n[1]) + "×" + std::to_string(n[2]);
  };
  return three(s.grid) + " of " + three(s.block);
}

}  // namespace

comparison_section makers_of(const comparison& c, const phase_parts& phase, std::size_t top) {
  const phase_change& p = *phase.of;
  const double total = p.fresh_wall - p.base_wall;
  comparison_section out{"What made " + signed_duration(total) + " a pass",
                         {"of the wall of " + phase.name, "base", "new", "change", "of base"},
                         {},
                         {}};
  constexpr double small = 0.001;
  double rest = 0;
  std::size_t left = 0;
  for (const contribution& one : p.contributions) {
    if (std::fabs(one.change()) < small * p.base_wall || (top != 0 && out.rows.size() == top)) {
      rest += one.change();
      left += one.change() != 0 ? 1U : 0U;
      continue;
    }
    out.rows.push_back({name_of(c, one), time(one.base), time(one.fresh), signed_duration(one.change()),
                        signed_percent(one.change() / p.base_wall)});
  }
  if (!out.rows.empty() && left > 0) {
    out.notes.push_back("… " + counted(static_cast<std::int64_t>(left), "smaller part") + ": " +
                        signed_duration(rest) + " together");
  }
  return out;
}

comparison_section kernels_of(const phase_parts& phase, std::size_t top) {
  comparison_section out{"Kernels that changed", {"a pass", "base", "new", "count", "what"}, {}, {}};
  for (const kernel_change* const one : phase.kernels) {
    const kernel_change& k = *one;
    using kind = kernel_change::kind;
    const std::string base = shape(k.base_shape);
    const std::string fresh = shape(k.fresh_shape);
    const std::string shapes = base == fresh ? "" : base + " → " + fresh;
    const std::string what = k.what == kind::added     ? "added"
                             : k.what == kind::removed ? "removed"
                             : k.what == kind::count   ? (shapes.empty() ? "count" : "count; " + shapes)
                                                       : shapes;
    out.rows.push_back({kernel_name(k.name), time(k.base_time), time(k.fresh_time),
                        k.base_count == k.fresh_count ? times(k.base_count)
                                                      : times(k.base_count) + " → " + times(k.fresh_count),
                        what});
  }
  cut(out.rows, top, "kernel", out.notes);
  return out;
}

}  // namespace varve::table

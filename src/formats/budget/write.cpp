// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/budget/fields.hpp"

#include <varve/io.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <ostream>

namespace varve {
inline namespace v0 {

namespace budget_file {
namespace {

using object = nlohmann::ordered_json;

/// Numbers stay numbers where they need no unit.
object value_of(double value, figure_unit unit) {
  if (unit == figure_unit::count && std::floor(value) == value && std::fabs(value) < 9e15) {
    return static_cast<std::int64_t>(value);
  }
  return exact_text(value, unit);
}

object entry_of(const budget_entry& e) {
  object out = object::object();
  const auto add = [&](const char* field, const std::string& text) {
    if (!text.empty()) {
      out[field] = text;
    }
  };
  add("name", e.name);
  if (const auto kind = static_cast<std::size_t>(e.where.of); kind < kinds.size()) {
    out[std::string{kinds[kind]}] = e.where.pattern;
  }
  add("phase", e.where.phase);
  add("model", e.where.model);
  if (e.where.device) {
    out["device"] = *e.where.device;
  }
  out["figure"] = e.figure;
  const figure_unit unit = unit_of(e.where.of, e.figure).value_or(figure_unit::count);
  if (e.at_most) {
    out["at_most"] = value_of(*e.at_most, unit);
  }
  if (e.at_least) {
    out["at_least"] = value_of(*e.at_least, unit);
  }
  if (e.max_change) {
    out["max_change"] =
        (std::signbit(*e.max_change) ? "-" : "+") + exact_text(std::fabs(*e.max_change), figure_unit::share);
  }
  if (e.least_passes != 0) {
    out["least_passes"] = e.least_passes;
  }
  return out;
}

}  // namespace
}  // namespace budget_file

void write_json(std::ostream& out, const budget& b) { out << to_json(b); }

std::string to_json(const budget& b) {
  budget_file::object out;
  out[budget_file::version_field] = budget_file::version;
  if (!b.source.empty()) {
    out["source"] = b.source;
  }
  out["least_attributed"] = exact_text(b.least_attributed, figure_unit::share);
  out["entries"] = budget_file::object::array();
  for (const budget_entry& e : b.entries) {
    out["entries"].push_back(budget_file::entry_of(e));
  }
  constexpr int indent = 2;
  return out.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace v0
}  // namespace varve

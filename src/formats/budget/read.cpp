// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A budget file. Every error names the field by its place ("entries[3].at_most").
#include "compare/nearest.hpp"
#include "formats/budget/fields.hpp"
#include "formats/input/input.hpp"
#include "formats/input/json_damage.hpp"
#include "formats/input/json_text.hpp"

#include <varve/io.hpp>

#include <simdjson.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {

namespace budget_file {
namespace {

constexpr std::uint64_t largest = std::uint64_t{1} << 20U;
constexpr std::size_t deepest = 8;
constexpr std::size_t most_entries = 4096;
constexpr std::size_t longest_text = 512;

using simdjson::dom::element;
using simdjson::dom::key_value_pair;

class reader {
 public:
  explicit reader(const std::string& path) : path_{path} {}

  budget read() {
    const element root = parse();
    bool versioned = false;
    each_field(root, "", [&](std::string_view name, const element& value) {
      if (name == version_field) {
        std::int64_t given = 0;
        if (value.get(given) != simdjson::SUCCESS || given != version) {
          fail(name, "this varve reads version " + std::to_string(version));
        }
        versioned = true;
      } else if (name == "source") {
        out_.source = text(name, value);
      } else if (name == "least_attributed") {
        out_.least_attributed = quantity(name, value, figure_unit::share);
        if (out_.least_attributed > 1) {
          fail(name, "is more than 100 %");
        }
      } else if (name == "entries") {
        read_entries(value);
      } else {
        unknown(name, name, "varve_budget, source, least_attributed and entries");
      }
    });
    if (!versioned) {
      fail(version_field, "is missing; a budget begins with \"varve_budget\": 1");
    }
    if (out_.entries.empty()) {
      fail("entries", "is missing or empty: there is nothing to check; varve budget FILE writes a first one");
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(std::string_view place, const std::string& cause) const {
    input::fail(path_, std::string{place} + ": " + cause);
  }

  [[noreturn]] void unknown(std::string_view place, std::string_view name, const char* fields) const {
    const std::string_view shown = input::cut(name, longest_name);
    input::fail(path_, std::string{place.substr(0, place.size() - name.size())} + std::string{shown} +
                           (shown.size() < name.size() ? "…" : "") + ": there is no such field; there are " +
                           fields);
  }

  element parse() {
    read_options options;
    options.max_unpacked = largest;
    const input::content file = input::read(path_, options);
    simdjson::error_code code = parser_.allocate(file.bytes.size(), deepest);
    element root;
    if (code == simdjson::SUCCESS) {
      code = parser_.parse(file.bytes.view().data(), file.bytes.size(), true).get(root);
    }
    if (code != simdjson::SUCCESS) {
      if (const auto found = input::find_damage(file.bytes.view())) {
        input::fail(file, found->byte, found->cause);
      }
      input::fail(path_, std::string{"is no budget: "} + simdjson::error_message(code));
    }
    if (!root.is_object()) {
      input::fail(path_, "is JSON but no budget: it must be an object (docs/budgets.md)");
    }
    return root;
  }

  /// Calls `with(name, value)` for the fields of an object, each of which may be there once.
  template <class With>
  void each_field(const element& object, const std::string& place, const With& with) const {
    simdjson::dom::object all;
    if (object.get(all) != simdjson::SUCCESS) {
      fail(place.substr(0, place.size() - 1), "must be an object");
    }
    std::vector<std::string_view> seen;
    for (const key_value_pair field : all) {
      if (std::find(seen.begin(), seen.end(), field.key) != seen.end()) {
        fail(place + std::string{input::cut(field.key, longest_name)}, "is there twice");
      }
      with(field.key, field.value);  // refuses what it does not know, so that few are seen
      seen.push_back(field.key);
    }
  }

  void read_entries(const element& value) {
    simdjson::dom::array all;
    if (value.get(all) != simdjson::SUCCESS || all.size() > most_entries) {
      fail("entries", "must be a list of at most " + std::to_string(most_entries) + " entries");
    }
    for (const element entry : all) {
      read_entry(entry, "entries[" + std::to_string(out_.entries.size()) + "].");
    }
  }

  void read_entry(const element& object, const std::string& place) {
    budget_entry e;
    bool chosen = false;
    std::vector<std::pair<std::string_view, element>> limits;  // whose unit the figure tells
    each_field(object, place, [&](std::string_view name, const element& value) {
      const std::string at = place + std::string{name};
      if (const auto of = kind_named(name)) {
        if (chosen) {
          fail(at, "an entry is of one kind of row: layer, label, kernel, category or collective");
        }
        chosen = true;
        e.where.of = *of;
        e.where.pattern = pattern(at, value);
      } else if (name == "name") {
        e.name = text(at, value);
      } else if (name == "phase") {
        e.where.phase = pattern(at, value);
      } else if (name == "model") {
        e.where.model = pattern(at, value);
      } else if (name == "device") {
        e.where.device = static_cast<std::uint32_t>(whole(at, value, 65535));
      } else if (name == "figure") {
        e.figure = text(at, value);
      } else if (name == "least_passes") {
        e.least_passes = whole(at, value, 1'000'000'000);
      } else if (name == "at_most" || name == "at_least" || name == "max_change") {
        limits.emplace_back(name, value);
      } else {
        unknown(at, name,
                "name, layer, label, kernel, category, collective, phase, model, device, figure, at_most, "
                "at_least, max_change and least_passes");
      }
    });
    if (e.figure.empty()) {
      fail(place + "figure", "is missing: say what is limited, such as \"gpu_time.p95\"");
    }
    const figure_unit unit = settle(e, chosen, place);
    if (limits.empty()) {
      fail(place.substr(0, place.size() - 1), "has no limit: give at_most, at_least or max_change");
    }
    for (const auto& [name, value] : limits) {
      const std::string at = place + std::string{name};
      if (name == "max_change") {
        e.max_change = change(at, value);
      } else {
        (name == "at_most" ? e.at_most : e.at_least) = quantity(at, value, unit);
      }
    }
    out_.entries.push_back(std::move(e));
  }

  /// The figure's unit; chooses the kind of row where the entry does not.
  figure_unit settle(budget_entry& e, bool chosen, const std::string& place) const {
    if (!chosen) {
      e.where.of = unit_of(budget_of::phase, e.figure) ? budget_of::phase : budget_of::report;
    }
    const auto unit = unit_of(e.where.of, e.figure);
    if (!unit) {
      fail(place + "figure", "there is no figure \"" + e.figure + "\" of " +
                                 (chosen ? "such rows" : "phases or the whole run") +
                                 nearest_figures(e, chosen) + "; docs/budgets.md lists all");
    }
    if (e.where.of == budget_of::report &&
        (!e.where.phase.empty() || !e.where.model.empty() || e.where.device)) {
      fail(place + "figure", "\"" + e.figure + "\" is of the whole run: leave out phase, model and device");
    }
    return *unit;
  }

  /// A statistic at its end is left out, which names of figures in the list do not have.
  [[nodiscard]] static std::string nearest_figures(const budget_entry& e, bool chosen) {
    std::vector<std::string_view> names;
    for (const budget_of of : {e.where.of, chosen ? e.where.of : budget_of::phase}) {
      for (const figure_info& f : figures(of)) {
        names.push_back(f.name);
      }
    }
    return comparing::nearest(std::string_view{e.figure}.substr(0, e.figure.find('.')), names);
  }

  [[nodiscard]] std::string text(std::string_view place, const element& value) const {
    std::string_view out;
    if (value.get(out) != simdjson::SUCCESS || out.size() > longest_text) {
      fail(place, "must be a text of at most " + std::to_string(longest_text) + " bytes");
    }
    return std::string{out};
  }

  [[nodiscard]] std::string pattern(std::string_view place, const element& value) const {
    std::string out = text(place, value);
    if (out.empty()) {
      fail(place, "is empty; leave it out, or give a name in which * is any text");
    }
    return out;
  }

  [[nodiscard]] std::int64_t whole(std::string_view place, const element& value, std::int64_t most) const {
    std::int64_t out = 0;
    if (value.get(out) != simdjson::SUCCESS || out < 0 || out > most) {
      fail(place, "must be an integer from 0 to " + std::to_string(most));
    }
    return out;
  }

  [[nodiscard]] double quantity(std::string_view place, const element& value, figure_unit unit) const {
    std::string_view given;
    std::string digits;
    if (double number = 0; value.get(number) == simdjson::SUCCESS) {
      digits = exact_text(number, figure_unit::count);
      given = digits;
    } else if (value.get(given) != simdjson::SUCCESS) {
      fail(place, "must be a text such as \"200us\", or a number");
    }
    try {
      return parse_quantity(given, unit);
    } catch (const std::invalid_argument& e) {
      fail(place, e.what());
    }
  }

  [[nodiscard]] double change(std::string_view place, const element& value) const {
    std::string_view given;
    if (value.get(given) != simdjson::SUCCESS) {
      fail(place, "must be a text such as \"+5 %\"");
    }
    try {
      return parse_change(given);
    } catch (const std::invalid_argument& e) {
      fail(place, e.what());
    }
  }

  const std::string& path_;
  simdjson::dom::parser parser_;
  budget out_;
};

}  // namespace
}  // namespace budget_file

budget read_budget(const std::string& path) { return budget_file::reader{path}.read(); }

}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/budget.hpp"

#include "cli/output.hpp"
#include "cli/report.hpp"
#include "compare/nearest.hpp"

#include <varve/budget.hpp>
#include <varve/io.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace varve::cli {

namespace {

/// Names that come near: of layers where a name was asked for, else their paths.
std::string nearest_layers(const std::string& asked, const report& r) {
  const bool is_pattern = asked.find_first_of("*/\\") != std::string::npos;
  std::vector<std::string_view> names;
  for (const row& one : r.layers) {
    if (!one.path.empty()) {
      names.push_back(is_pattern ? one.path : one.label);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names.empty() ? "; it has no layers"
         : is_pattern  ? comparing::nearest_paths(asked, names)
                       : comparing::nearest(asked, names);
}

}  // namespace

int run(const budget_arguments& asked) {
  const report r = read(asked.file, asked.report);
  const budget b = draft_budget(r, asked.draft);
  const bool has_layers = std::any_of(b.entries.begin(), b.entries.end(),
                                      [](const budget_entry& e) { return e.where.of == budget_of::layer; });
  if (!asked.draft.layers.empty() && !has_layers) {
    complain(asked.file + ": no layer fits \"" + asked.draft.layers + "\", or it has none of the figures" +
             nearest_layers(asked.draft.layers, r));
    return usage;
  }
  if (b.entries.empty()) {
    complain(asked.file + ": there is nothing to limit in it: it has no passes, or none of the figures");
    return unreadable;
  }
  if (!has_layers && r.quality.attributed < b.least_attributed && r.quality.activities > 0) {
    complain(asked.file + ": no layers are limited: only " +
             short_text(r.quality.attributed, figure_unit::share) +
             " of the GPU time belongs to a layer. --layers names such as are worth it");
  }
  const std::string text = to_json(b);
  if (asked.report.output.empty()) {
    write_standard_output(text);
  } else {
    write_file(asked.report.output, text);
  }
  return success;
}

}  // namespace varve::cli

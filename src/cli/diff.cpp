// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/diff.hpp"

#include "cli/baselines.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"

#include <varve/io.hpp>

#include <unistd.h>

#include <new>
#include <string>
#include <vector>

namespace varve::cli {

namespace {

std::vector<report> read_side(const std::string& path, const report_arguments& how) {
  std::vector<report> out;
  for (const std::string& file : runs_in(path)) {
    out.push_back(read(file, how));
    out.back().source = out.back().source.empty() ? file : out.back().source;
  }
  return out;
}

std::string text_of(const comparison& c, const diff_arguments& asked) {
  switch (asked.format) {
    case diff_format::json:
      return to_json(c) + '\n';
    case diff_format::markdown:
      return to_markdown(c, asked.top);
    case diff_format::table:
      break;
  }
  const table_options look = table_of(asked.report, STDOUT_FILENO);
  return to_table(c, {asked.top, look.width, look.colour});
}

}  // namespace

int run(const diff_arguments& asked) {
  comparison c;
  try {
    const std::string base = asked.baseline.empty()
                                 ? asked.base
                                 : baseline_named(asked.baseline, baselines_folder(asked.baselines));
    c = compare(read_side(base, asked.report), read_side(asked.fresh, asked.report), asked.compare);
  } catch (const error& e) {
    complain(e.what());
    return unreadable;
  } catch (const std::bad_alloc&) {
    complain("needs more memory than there is");
    return unreadable;
  }
  if (!c.comparable() && !asked.force) {
    for (const comparability_reason& r : c.reasons) {
      if (r.refuses) {
        complain("not comparable: " + r.text);
      }
    }
    complain("--force compares them all the same");
    return refused;
  }
  const std::string text = text_of(c, asked);
  if (asked.report.output.empty()) {
    write_standard_output(text);
  } else {
    write_file(asked.report.output, text);
  }
  return success;
}

}  // namespace varve::cli

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/check.hpp"

#include "cli/baselines.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "formats/table/text.hpp"

#include <varve/budget.hpp>
#include <varve/io.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <new>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace varve::cli {

namespace {

// Of varve check alone: 1 is the budget's.
constexpr int exceeded_code = 1;
constexpr int unchecked_code = 2;

constexpr std::size_t columns = 5;
using cells = std::array<std::string, columns>;

const char* word_of(budget_status status) noexcept {
  switch (status) {
    case budget_status::ok:
      return "ok";
    case budget_status::exceeded:
      return "exceeded";
    case budget_status::not_measurable:
      return "unknown";
    case budget_status::error:
      break;
  }
  return "error";
}

/// How bad it is, the worst first.
int rank_of(budget_status status) noexcept {
  return status == budget_status::exceeded ? 0
         : status == budget_status::error  ? 1
         : status == budget_status::ok     ? 3
                                           : 2;
}

std::vector<budget_outcome> worst_first(std::vector<budget_outcome> all) {
  std::stable_sort(all.begin(), all.end(), [](const budget_outcome& a, const budget_outcome& b) {
    const int left = rank_of(a.status);
    const int right = rank_of(b.status);
    return left != right ? left < right : a.used > b.used;
  });
  return all;
}

cells cells_of(const budget_outcome& e, const std::string& figure) {
  const bool judged = e.status == budget_status::ok || e.status == budget_status::exceeded;
  std::string used = "–";
  if (judged && std::isfinite(e.used)) {
    constexpr double most = 1e4;  // of no use in digits beyond, and no number may be too large for them
    used = e.used > most ? ">1,000,000 %" : std::to_string(std::llround(e.used * 100)) + " %";
  }
  return {word_of(e.status), used, judged ? short_text(*e.actual, e.unit) : "–",
          judged ? (e.least ? "≥ " : "≤ ") + short_text(*e.limit, e.unit) : "–", figure};
}

std::string summary(const check_arguments& asked, const budget_result& result) {
  std::string out = table::printable(asked.file) + " against " + table::printable(asked.budget) + ": ";
  const std::array<std::pair<budget_status, const char*>, 4> parts{
      {{budget_status::exceeded, " exceeded"},
       {budget_status::error, " wrong"},
       {budget_status::not_measurable, " not measurable"},
       {budget_status::ok, " within the budget"}}};
  bool first = true;
  for (const auto& [status, words] : parts) {
    if (const std::size_t n = result.count(status); n > 0) {
      out += (first ? "" : ", ") + std::to_string(n) + words;
      first = false;
    }
  }
  return out + '\n';
}

/// A line each, then what is wrong in words.
std::string to_text(const budget& b, const budget_result& result, const table_options& how) {
  const std::vector<budget_outcome> sorted = worst_first(result.entries);
  std::vector<cells> lines{{"", "used", "actual", "limit", "figure"}};
  std::array<std::size_t, columns> widths{};
  for (const budget_outcome& e : sorted) {
    lines.push_back(cells_of(e, b.entries[e.entry].figure));
  }
  for (const cells& line : lines) {
    for (std::size_t c = 0; c < columns; ++c) {
      widths[c] = std::max(widths[c], table::columns(line[c]));
    }
  }
  std::string out;
  std::string causes;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const cells& line = lines[i];
    std::string text = table::left(line[0], widths[0]);
    if (how.colour && i > 0) {
      const bool good = sorted[i - 1].status == budget_status::ok;
      text = (good ? "\033[32m" : "\033[31m") + text + "\033[0m";
    }
    for (std::size_t c = 1; c + 1 < columns; ++c) {
      text += "  " + table::right(line[c], widths[c]);
    }
    text += "  " + table::left(table::printable(line[columns - 1]), widths[columns - 1]) + "  ";
    std::string where = "of";
    if (i > 0) {
      const budget_outcome& e = sorted[i - 1];
      const std::string& given = b.entries[e.entry].name;
      where = table::printable(e.where.empty() ? e.name : given.empty() ? e.where : given + ": " + e.where);
      if (e.status != budget_status::ok) {
        causes += "! " + table::printable(e.message) + '\n';
      }
    }
    const std::size_t taken = table::columns(text);
    const auto width = static_cast<std::size_t>(std::max(0, how.width));
    constexpr std::size_t least = 16;
    out += text +
           (width > 0 ? table::shortened(where, std::max(least, width - std::min(width, taken))) : where) +
           '\n';
  }
  return out + (causes.empty() ? "" : '\n' + causes);
}

/// The runs of a file or folder, else of the baseline of this name.
std::vector<report> read_baseline(const check_arguments& asked) {
  std::vector<report> out;
  if (asked.baseline.empty()) {
    return out;
  }
  std::error_code wrong;
  const bool named = is_baseline_name(asked.baseline) && !std::filesystem::exists(asked.baseline, wrong);
  for (const std::string& file :
       runs_in(named ? baseline_named(asked.baseline, baselines_folder(asked.baselines)) : asked.baseline)) {
    out.push_back(read(file, asked.report));
  }
  return out;
}

int check_file(const check_arguments& asked) {
  const budget b = read_budget(asked.budget);  // first: it is read in no time
  const report r = read(asked.file, asked.report);
  const budget_result result = check(r, b, read_baseline(asked), asked.check);
  if (!asked.junit.empty()) {
    std::ostringstream xml;
    write_junit(xml, result, asked.budget);
    write_file(asked.junit, xml.str());
  }
  const std::string text =
      summary(asked, result) + '\n' + to_text(b, result, table_of(asked.report, STDOUT_FILENO));
  if (asked.report.output.empty()) {
    write_standard_output(text);
  } else {
    write_file(asked.report.output, text);
  }
  return result.count(budget_status::exceeded) > 0 ? exceeded_code : result.ok() ? success : unchecked_code;
}

}  // namespace

int run(const check_arguments& asked) {
  try {
    return check_file(asked);
  } catch (const output_error&) {
    throw;
  } catch (const std::bad_alloc&) {
    complain(asked.file + ": needs more memory than there is");
  } catch (const std::exception& e) {
    complain(e.what());
  }
  return unchecked_code;
}

}  // namespace varve::cli

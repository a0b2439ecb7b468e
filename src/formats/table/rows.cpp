// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/grid.hpp"
#include "formats/table/parts.hpp"
#include "formats/table/select.hpp"
#include "formats/table/sums.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace varve::table {

namespace {

/// Names in a table as wide as it needs are still not wider than this.
constexpr std::size_t longest_row = 100;

std::string some(std::int64_t n) { return n != 0 ? count(n) : ""; }

std::string dimensions(const std::uint32_t (&d)[3]) {
  std::string text = std::to_string(d[0]);
  if (d[1] > 1 || d[2] > 1) {
    text += "×" + std::to_string(d[1]);
  }
  if (d[2] > 1) {
    text += "×" + std::to_string(d[2]);
  }
  return text;
}

std::string shape(const row& r) {
  if (r.shape.grid[0] == 0) {
    return {};
  }
  return dimensions(r.shape.grid) + " · " + dimensions(r.shape.block) +
         (r.shapes > 1 ? " (+" + std::to_string(r.shapes - 1) + ')' : "");
}

/// Shapes tell the work of some operators only. Collectives have none.
bool partly_known(const row& r) {
  const measures& m = r.inclusive;
  return r.rated ? r.rated->unknown_share > 0.01
                 : m.unknown_work_time - m.unknown_collective_time > m.gpu_time / 100;
}

double flops_of(const row& r) {
  return r.rated ? r.rated->flops : static_cast<double>(r.inclusive.declared.flops);
}
double bytes_of(const row& r) { return r.rated ? r.rated->bytes : byte_sum(r.inclusive.declared); }

/// `amount` per second of GPU time, in units of 1e12 or 1e9; "≥" where the work of some calls, or of more
/// than a hundredth of the time, is not known.
std::string rate(const row& r, double amount, double per_nanosecond) {
  const measures& m = r.inclusive;
  if (amount <= 0 || m.gpu_time <= 0) {
    return {};
  }
  const std::string text = number(amount / static_cast<double>(m.gpu_time) / per_nanosecond);
  const bool partly = (!r.rated && m.calls_with_work < m.calls) || partly_known(r);
  return !partly ? text : text.front() == '<' ? "" : "≥" + text;  // at least less than 0.001 says nothing
}

/// Unknown where it would be that of some operators only.
std::string intensity(const row& r) {
  const double flops = flops_of(r);
  const double bytes = bytes_of(r);
  return !partly_known(r) && flops > 0 && bytes > 0 ? number(flops / bytes) : "";
}

/// What binds; in brackets the side of the ridge alone where no verdict is given.
std::string bound_of(const verdict& v) {
  return v.by != bound::unknown     ? bound_name(v.by)
         : v.side != bound::unknown ? std::string{"("} + bound_name(v.side) + ')'
                                    : "";
}

/// Whether work and ceilings are known of any row.
bool has_roof(const std::vector<section>& all) {
  return std::any_of(all.begin(), all.end(), [](const section& s) {
    return std::any_of(s.lines.begin(), s.lines.end(),
                       [](const line& l) { return l.source->verdict.roof_share > 0; });
  });
}

/// A column and its cells. The importances put in order what a narrow terminal keeps longest.
struct column_of_rows {
  column head;
  std::string (*cell)(const line&);
};

/// Of rows that ran kernels: without, the difference is known to be copies.
bool kernel_time_differs(const row& r) {
  const auto kernel = static_cast<double>(r.inclusive.kernel_time);
  const auto gpu = static_cast<double>(r.inclusive.gpu_time);
  return kernel > 0 && std::fabs(kernel - gpu) > 0.01 * std::max(kernel, gpu);
}

/// Whether calls differ from their sum in any row.
bool called_again(const std::vector<section>& all) {
  return std::any_of(all.begin(), all.end(), [](const section& s) {
    return std::any_of(s.lines.begin(), s.lines.end(), [](const line& l) {
      return l.source->inclusive.calls > 1 || l.source->per_call.count > 1;
    });
  });
}

/// Labels hold one another: the sum of their shares means nothing.
bool adds_up(const table_options& options) { return options.by != view::label; }

std::vector<column_of_rows> host_columns(const table_options& options, const std::vector<section>& all) {
  return {
      {{"calls", 75, true}, [](const line& l) { return some(l.source->inclusive.calls); }},
      {{"host time", 100, true}, [](const line& l) { return duration(l.source->inclusive.gpu_time); }},
      {{"%", 95, true}, [](const line& l) { return percent(l.share, 1); }},
      {{"cum %", 40, adds_up(options)},
       [](const line& l) { return l.running != 0 ? percent(l.running, 1) : ""; }},
      {{"avg", 80, called_again(all)},
       [](const line& l) {
         const measures& m = l.source->inclusive;
         return m.calls > 0 ? duration(static_cast<double>(m.gpu_time) / static_cast<double>(m.calls)) : "";
       }},
  };
}

std::vector<column_of_rows> columns_of(const table_options& options, const std::vector<section>& all) {
  const bool ranges = options.by == view::layer || options.by == view::label;
  const bool differs = std::any_of(all.begin(), all.end(), [](const section& s) {
    return std::any_of(s.lines.begin(), s.lines.end(),
                       [](const line& l) { return kernel_time_differs(*l.source); });
  });
  const bool again = called_again(all);
  const int starved = options.sort == sort_key::starved ? 90 : ranges ? 55 : 20;
  return {
      {{"calls", 75, true}, [](const line& l) { return some(l.source->inclusive.calls); }},
      {{"GPU time", 100, true}, [](const line& l) { return duration(l.source->inclusive.gpu_time); }},
      {{"%", 95, true}, [](const line& l) { return percent(l.share, 1); }},
      {{"cum %", 40, adds_up(options)},
       [](const line& l) { return l.running != 0 ? percent(l.running, 1) : ""; }},
      {{"kernel time", 30, differs},
       [](const line& l) { return some_time(l.source->inclusive.kernel_time); }},
      {{"avg", 80, again},
       [](const line& l) { return l.source->per_call.count != 0 ? duration(l.source->per_call.mean) : ""; }},
      {{"med", 50, again},
       [](const line& l) { return l.source->per_call.count != 0 ? duration(l.source->per_call.p50) : ""; }},
      {{"max", 60, again},
       [](const line& l) { return l.source->per_call.count != 0 ? duration(l.source->per_call.max) : ""; }},
      {{"launches", 45, ranges}, [](const line& l) { return some(l.source->inclusive.launches); }},
      {{"launch (CPU)", 70, ranges},
       [](const line& l) { return some_time(l.source->inclusive.launch_time); }},
      {{"starved", starved, true},
       [](const line& l) {
         const double time = starved_sum(l.source->inclusive.starved);
         return time > 0 ? duration(time) : "";
       }},
      {{"TFLOP/s", 65, true}, [](const line& l) { return rate(*l.source, flops_of(*l.source), 1e3); }},
      {{"GB/s", 66, true}, [](const line& l) { return rate(*l.source, bytes_of(*l.source), 1); }},
      {{"FLOP/B", 35, true}, [](const line& l) { return intensity(*l.source); }},
      {{"bound", 68, has_roof(all)}, [](const line& l) { return bound_of(l.source->verdict); }},
      {{"% roof", 67, true},
       [](const line& l) {
         const double share = l.source->verdict.roof_share;
         return share > 0 ? (partly_known(*l.source) ? "≥" : "") + percent(share, 1) : "";
       }},
      {{"copied", 43, !ranges},
       [](const line& l) {
         const auto copied = static_cast<double>(l.source->inclusive.copy_bytes);
         return copied > 0 ? bytes(copied) : "";
       }},
      {{"grid · block", 42, options.by == view::kernel}, [](const line& l) { return shape(*l.source); }},
  };
}

const char* name_of(view by) {
  switch (by) {
    case view::label:
      return "label";
    case view::kernel:
      return "kernel";
    case view::category:
      return "category";
    case view::layer:
    case view::phase:
    case view::operators:
      break;
  }
  return "layer";
}

grid_row cells_of(const line& l, const std::vector<column_of_rows>& columns) {
  grid_row out{l.branch, l.name, {}, false};
  for (const column_of_rows& c : columns) {
    out.cells.push_back(c.cell(l));
  }
  return out;
}

/// "1" for 0.01, "0.5" for 0.005.
std::string threshold(double share) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", share * 100);
  return buffer;
}

std::string left_out(const section& s, const table_options& options) {
  const std::size_t n = s.cut != 0 ? s.cut : s.folded;
  if (n == 0) {
    return {};
  }
  constexpr double printed = 0.0005;
  const std::string where = s.in_shown < printed ? ""
                            : s.left_out - s.in_shown < printed
                                ? " (in the rows above)"
                                : ", of which " + percent(s.in_shown, 1) + " % in the rows above";
  return "… " + counted(static_cast<std::int64_t>(n), s.cut != 0 ? "more row" : "row") +
         (s.cut != 0 ? "" : " under " + threshold(options.fold_below) + " %") + ": " +
         percent(s.left_out, 1) + " %" + where;
}

/// Parts of blocks that are shown without them.
std::string parts_left_out(const section& s, std::size_t width) {
  if (s.cut != 0 || s.bare == 0) {
    return {};
  }
  const std::string others =
      s.bare_blocks == 1 ? "block" : counted(static_cast<std::int64_t>(s.bare_blocks), "block");
  return flow({"… " + counted(static_cast<std::int64_t>(s.bare), "row") + " of the other " + others +
                   " (in the rows above)",
               "--fold 0 shows all"},
              ": ", indent, width);
}

/// Rows below the levels shown, and how to see them.
std::string deeper_rows(const section& s, std::size_t width) {
  if (s.deeper == 0) {
    return {};
  }
  const std::string levels = "--depth " + std::to_string(s.levels + 1);
  return flow({"… " +
                   counted(static_cast<std::int64_t>(s.deeper), "row lies deeper and counts",
                           "rows lie deeper and count") +
                   " for those above",
               levels + (s.deepest == s.levels + 1 ? " shows them" : " shows a level more, --depth 0 all")},
              ": ", indent, width);
}

bool overlaps(const section& s) {
  return std::any_of(s.lines.begin(), s.lines.end(),
                     [](const line& l) { return l.branch.empty() && l.running > 1.005; });
}

bool ran_nothing(const line& l) {
  return l.source->inclusive.gpu_time == 0 && l.source->inclusive.launches == 0;
}

bool says_nothing(const line& l) { return ran_nothing(l) && l.source->inclusive.calls == 0; }

/// The phase itself as the last row.
row total_of(const phase_row& p) {
  row r;
  r.inclusive = p.total;
  r.inclusive.calls = 0;            // passes are no calls of a layer
  r.inclusive.calls_with_work = 0;  // nor is it known for how many of them all work was declared
  r.inclusive.starved = p.partition.starved;
  r.verdict = p.verdict;
  r.rated = p.rated;
  return r;
}

}  // namespace

std::string sections(const report& r, const table_options& options, const style& s) {
  std::vector<section> all = select(r, options);
  all.erase(
      std::remove_if(all.begin(), all.end(),
                     [&](const section& one) { return one.phase != nullptr && is_ramp(r, *one.phase); }),
      all.end());
  const auto columns = s.host_only ? host_columns(options, all) : columns_of(options, all);
  std::vector<column> heads;
  heads.reserve(columns.size());
  for (const column_of_rows& c : columns) {
    heads.push_back(c.head);
  }
  grid g{options.by == view::kernel && is_prediction(r) ? "operator" : name_of(options.by), heads};
  std::vector<std::vector<grid_row>> rows;
  for (const section& one : all) {
    std::vector<grid_row> cells;
    for (const line& l : one.lines) {
      cells.push_back(cells_of(l, columns));
    }
    if (one.phase != nullptr && !cells.empty()) {
      const row total = total_of(*one.phase);
      cells.push_back(cells_of({&total, "total", "", 1, 0}, columns));
      cells.back().strong = true;
    }
    g.measure(cells);
    rows.push_back(std::move(cells));
  }
  g.fit(s.width, longest_row, options.by == view::kernel ? 45 : 35);

  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const section& one = all[i];
    if (one.phase != nullptr && options.header) {
      out += phase_head(r, *one.phase, s) + '\n';
    } else if (one.phase != nullptr) {
      const phase_row& p = *one.phase;
      out += heading(key_name(r, p.phase, p.model, p.device, p.batch), s) + '\n';
    } else if (std::all_of(one.lines.begin(), one.lines.end(), says_nothing)) {
      continue;
    } else {
      const row& any = *one.first;
      out += flow({heading(key_name(r, any.phase, any.model, any.device, any.batch), s),
                   "launched while no pass was open, or it is not known when"},
                  " · ", indent, s.text_width()) +
             '\n';
    }
    if (one.lines.empty()) {
      out += !chosen(options)         ? "  (no rows)\n\n"
             : options.filter.empty() ? "  (no layer has such a name)\n\n"
                                      : "  (no row matches the filter)\n\n";
      continue;
    }
    if (options.fold_below > 0 && !chosen(options) &&
        std::all_of(one.lines.begin(), one.lines.end(), ran_nothing)) {
      out += "  (nothing was launched and nothing ran in its " +
             counted(static_cast<std::int64_t>(one.lines.size()), "row") + ")\n\n";
      continue;
    }
    out += g.head(s) + '\n' + g.rule(s) + '\n';
    for (std::size_t n = 0; n < one.lines.size(); ++n) {
      out += g.print(rows[i][n], s) + '\n';
    }
    if (const std::string rest = left_out(one, options); !rest.empty()) {
      out += s.dim(rest) + '\n';
    }
    if (const std::string rest = parts_left_out(one, s.text_width()); !rest.empty()) {
      out += s.dim(rest) + '\n';
    }
    if (const std::string rest = deeper_rows(one, s.text_width()); !rest.empty()) {
      out += s.dim(rest) + '\n';
    }
    if (one.phase != nullptr) {
      out += g.print(rows[i].back(), s) + '\n';
    }
    if (overlaps(one)) {
      out += s.dim(flow({options.by == view::label ? "Rows overlap in time or hold one another:"
                                                   : "Rows overlap in time:",
                         "together they are more than 100 %."},
                        " ", 0, s.text_width())) +
             '\n';
    }
    out += '\n';
  }
  return out + ramps(r, s);
}

}  // namespace varve::table

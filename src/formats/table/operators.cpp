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

namespace varve::table {

namespace {

constexpr std::size_t longest_operator = 100;
constexpr std::size_t longest_shapes = 160;

/// What shares are of: each instant of a thread, and each kernel that an operator launched, counts once.
struct totals {
  double cpu = 0;
  double gpu = 0;
};

struct operator_line {
  const operator_row* source = nullptr;
  totals all;
};

double average(std::int64_t total, std::int64_t calls) {
  return calls > 0 ? static_cast<double>(total) / static_cast<double>(calls) : 0;
}

std::string some_bytes(std::int64_t n) {
  const std::string size = n != 0 ? bytes(std::fabs(static_cast<double>(n))) : "";
  return (n < 0 ? "−" : "") + size;
}

/// `amount` per second of GPU time, in units of 1e12 or 1e9.
std::string rate(const operator_row& r, double amount, double per_nanosecond) {
  return amount > 0 && r.gpu_total > 0 && r.calls_with_work == r.calls
             ? number(amount / static_cast<double>(r.gpu_total) / per_nanosecond)
             : "";
}

struct operator_column {
  column head;
  std::string (*cell)(const operator_line&);
};

std::vector<operator_column> columns_of_operators() {
  return {
      {{"calls", 75, true}, [](const operator_line& l) { return count(l.source->calls); }},
      {{"GPU total", 100, true}, [](const operator_line& l) { return some_time(l.source->gpu_total); }},
      {{"Self GPU", 95, true}, [](const operator_line& l) { return some_time(l.source->gpu_self); }},
      {{"Self GPU %", 94, true},
       [](const operator_line& l) {
         const auto self = static_cast<double>(l.source->gpu_self);
         return self != 0 ? percent(self, l.all.gpu) : "";
       }},
      {{"GPU avg", 55, true},
       [](const operator_line& l) { return some_time(average(l.source->gpu_total, l.source->calls)); }},
      {{"CPU total", 90, true}, [](const operator_line& l) { return duration(l.source->cpu_total); }},
      {{"Self CPU", 85, true}, [](const operator_line& l) { return duration(l.source->cpu_self); }},
      {{"Self CPU %", 84, true},
       [](const operator_line& l) { return percent(static_cast<double>(l.source->cpu_self), l.all.cpu); }},
      {{"CPU avg", 50, true},
       [](const operator_line& l) { return duration(average(l.source->cpu_total, l.source->calls)); }},
      {{"GPU mem", 35, true}, [](const operator_line& l) { return some_bytes(l.source->gpu_memory); }},
      {{"Self GPU mem", 34, true},
       [](const operator_line& l) { return some_bytes(l.source->gpu_memory_self); }},
      {{"CPU mem", 25, true}, [](const operator_line& l) { return some_bytes(l.source->cpu_memory); }},
      {{"Self CPU mem", 24, true},
       [](const operator_line& l) { return some_bytes(l.source->cpu_memory_self); }},
      {{"TFLOP/s", 65, true},
       [](const operator_line& l) {
         return rate(*l.source, static_cast<double>(l.source->declared.flops), 1e3);
       }},
      {{"GB/s", 66, true},
       [](const operator_line& l) { return rate(*l.source, byte_sum(l.source->declared), 1); }},
      {{"FLOP/B", 45, true},
       [](const operator_line& l) {
         const work& w = l.source->declared;
         return w.flops > 0 && byte_sum(w) > 0 ? number(static_cast<double>(w.flops) / byte_sum(w)) : "";
       }},
      {{"% roof", 67, true},
       [](const operator_line& l) {
         const double share = l.source->calls_with_work == l.source->calls ? l.source->verdict.roof_share : 0;
         return share > 0 ? percent(share, 1) : "";
       }},
  };
}

double value_of(const operator_row& r, sort_key key) noexcept {
  switch (key) {
    case sort_key::calls:
      return static_cast<double>(r.calls);
    case sort_key::average:
      return average(r.gpu_total, r.calls);
    case sort_key::self_gpu_time:
      return static_cast<double>(r.gpu_self);
    case sort_key::cpu_time:
      return static_cast<double>(r.cpu_total);
    case sort_key::self_cpu_time:
      return static_cast<double>(r.cpu_self);
    case sort_key::gpu_time:
    case sort_key::maximum:
    case sort_key::launches:
    case sort_key::launch_time:
    case sort_key::starved:
    case sort_key::order:
      break;
  }
  return static_cast<double>(r.gpu_total);
}

std::string name_of(const operator_row& r) {
  return printable(r.shapes.empty() ? r.name : r.name + ' ' + r.shapes);
}

/// Rows of the host that the filter lets through, in order.
std::vector<operator_line> lines_of(const std::vector<operator_row>& rows, const table_options& options,
                                    totals& all) {
  std::vector<operator_line> lines;
  for (const operator_row& r : rows) {
    if (!r.on_device) {
      all.cpu += static_cast<double>(r.cpu_self);
      all.gpu += static_cast<double>(r.gpu_self);
      if (options.filter.empty() || holds(r.name, options.filter)) {
        lines.push_back({&r, {}});
      }
    }
  }
  std::stable_sort(lines.begin(), lines.end(), [&](const operator_line& a, const operator_line& b) {
    return value_of(*a.source, options.sort) > value_of(*b.source, options.sort);
  });
  for (operator_line& l : lines) {
    l.all = all;
  }
  return lines;
}

bool is_small(const operator_line& l, double share) noexcept {
  const operator_row& r = *l.source;
  return static_cast<double>(r.gpu_total) < share * l.all.gpu &&
         std::fabs(static_cast<double>(r.cpu_self)) < share * l.all.cpu;
}

std::string totals_of(const report& r, const totals& all, const style& s) {
  double launched_elsewhere = 0;
  for (const operator_row& row : r.operators.by_name) {
    launched_elsewhere += row.on_device && !row.annotation ? static_cast<double>(row.gpu_self) : 0;
  }
  std::vector<std::string> pieces{"Self CPU " + duration(all.cpu) + " in all",
                                  "Self GPU " + duration(all.gpu)};
  if (launched_elsewhere > all.gpu) {
    pieces.push_back(duration(launched_elsewhere - all.gpu) + " more on the GPU was launched by no operator");
  }
  return flow(pieces, " · ", indent, s.text_width()) + '\n';
}

}  // namespace

std::string operators(const report& r, const table_options& options, const style& s) {
  totals all;
  std::vector<operator_line> lines =
      lines_of(options.by_shape ? r.operators.by_shape : r.operators.by_name, options, all);
  if (lines.empty()) {
    return r.operators.by_name.empty() ? "  (the trace has no operators)\n\n"
                                       : "  (no row matches the filter)\n\n";
  }
  const std::size_t before = lines.size();
  if (options.filter.empty()) {
    lines.erase(std::remove_if(lines.begin(), lines.end(),
                               [&](const operator_line& l) { return is_small(l, options.fold_below); }),
                lines.end());
  }
  if (options.top != 0 && lines.size() > options.top) {
    lines.resize(options.top);
  }

  const std::vector<operator_column> columns = columns_of_operators();
  std::vector<column> heads;
  for (const operator_column& c : columns) {
    heads.push_back(c.head);
  }
  grid g{"operator", heads};
  std::vector<grid_row> rows;
  for (const operator_line& l : lines) {
    rows.push_back({"", name_of(*l.source), {}, false});
    for (const operator_column& c : columns) {
      rows.back().cells.push_back(c.cell(l));
    }
  }
  std::string out =
      g.table(rows, s, options.by_shape ? longest_shapes : longest_operator, options.by_shape ? 45 : 35);
  if (lines.size() < before) {
    out += s.dim("… " + counted(static_cast<std::int64_t>(before - lines.size()), "more row")) + '\n';
  }
  return out + (options.header ? totals_of(r, all, s) : "") + '\n';
}

}  // namespace varve::table

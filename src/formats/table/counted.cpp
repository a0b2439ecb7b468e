// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What devices counted, beside what was declared.
#include "formats/table/grid.hpp"
#include "formats/table/parts.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace varve::table {

namespace {

constexpr std::size_t most_counted = 12;
constexpr std::size_t longest_counted = 50;

/// "7.20 k"; nothing where it is not known.
std::string operations(double n) {
  if (n < 0) {
    return {};
  }
  constexpr const char* prefixes[] = {"", " k", " M", " G", " T", " P"};
  std::size_t prefix = 0;
  for (; n >= 999.5 && prefix + 1 < std::size(prefixes); n /= 1000) {
    ++prefix;
  }
  return (prefix == 0 ? count(n) : number(n)) + prefixes[prefix];
}

std::string moved(double n) { return n < 0 ? std::string{} : bytes(n); }

struct counted_entry {
  std::string name;
  const counted_work* counted;
  double declared_bytes;  ///< of a call
  double declared_flops;
  double weight;
};

counted_entry entry_of(std::string name, const counted_work& c, const measures& m,
                       std::int64_t calls_with_work, std::int64_t calls) {
  const auto of = static_cast<double>(calls_with_work);
  const work& w = m.declared;
  const double bytes = static_cast<double>(w.weight_bytes) + static_cast<double>(w.kv_bytes) +
                       static_cast<double>(w.activation_bytes);
  return {std::move(name), &c, of > 0 ? bytes / of : 0, of > 0 ? static_cast<double>(w.flops) / of : 0,
          (std::max(c.dram_read, 0.0) + std::max(c.dram_written, 0.0)) * static_cast<double>(calls)};
}

grid_row row_of(const counted_entry& e) {
  const counted_work& c = *e.counted;
  return {"",
          e.name,
          {count(c.calls), moved(c.dram_read), moved(c.dram_written),
           e.declared_bytes > 0 ? bytes(e.declared_bytes) : "", operations(c.tensor_ops),
           operations(c.core_flops), e.declared_bytes > 0 ? number(e.declared_flops / e.declared_bytes) : "",
           c.intensity > 0 ? number(c.intensity) : ""},
          false};
}

}  // namespace

std::string counted_work_of(const report& r, const style& s) {
  std::vector<counted_entry> all;
  const auto named = [&](std::string_view path, const auto& key) {
    return printable(path) + (r.phases.size() > 1
                                  ? " · " + key_name(r, key.phase, key.model, key.device, key.batch)
                                  : std::string{});
  };
  for (const phase_row& p : r.phases) {
    if (p.counted) {
      all.push_back(entry_of(named("whole pass", p), *p.counted, p.total,
                             p.total.declared.empty() ? 0 : p.passes, p.passes));
    }
  }
  for (const row& one : r.layers) {
    if (one.counted) {
      all.push_back(entry_of(named(one.path.empty() ? "(outside layers)" : one.path, one), *one.counted,
                             one.inclusive, one.inclusive.calls_with_work, one.inclusive.calls));
    }
  }
  if (all.empty()) {
    return {};
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const counted_entry& a, const counted_entry& b) { return a.weight > b.weight; });
  const std::size_t count = all.size();
  all.resize(std::min(count, most_counted));
  grid g{"counted, a call",
         {{"counted", 60},
          {"DRAM read", 100},
          {"written", 95},
          {"declared", 90},
          {"tensor ops", 75},
          {"core FLOP", 70},
          {"FLOP/B", 80},
          {"counted", 85}}};
  std::vector<grid_row> rows;
  rows.reserve(all.size());
  for (const counted_entry& e : all) {
    rows.push_back(row_of(e));
  }
  std::string out = g.table(rows, s, longest_counted);
  if (all.size() < count) {
    out += s.dim("… " + counted(static_cast<std::int64_t>(count - all.size()), "more row") +
                 ", by bytes: --json has all") +
           '\n';
  }
  return out + '\n';
}

}  // namespace varve::table

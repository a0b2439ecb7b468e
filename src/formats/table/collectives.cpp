// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/grid.hpp"
#include "formats/table/parts.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>

namespace varve::table {

namespace {

constexpr std::size_t most_rows = 12;
constexpr std::size_t longest_name = 50;

/// "18.3 GB/s", where the size of a message is known.
std::string rate(double bytes_a_second) {
  return bytes_a_second > 0 ? bytes(bytes_a_second) + "/s" : std::string{};
}

grid_row row_of(const report& r, const collective_row& c) {
  std::string name = printable(c.name);
  if (r.phases.size() > 1 || c.phase.empty()) {
    name += " · " + key_name(r, c.phase, c.model, c.device, c.batch);
  }
  const bool sized = c.sized_calls > 0;
  // Of some calls the size is not known: then bytes are those of the others.
  const char* const least = c.sized_calls < c.calls ? "≥ " : "";
  return {"",
          name,
          {c.ranks > 0 ? count(c.ranks) : "", count(c.calls),
           sized ? least + bytes(static_cast<double>(c.bytes)) : "",
           sized ? bytes(static_cast<double>(c.bytes) / static_cast<double>(c.sized_calls)) : "",
           duration(c.gpu_time), c.gpu_time > 0 ? duration(c.exposed_time) : "",
           c.calls > 0 ? duration(static_cast<double>(c.gpu_time) / static_cast<double>(c.calls)) : "",
           rate(c.algorithm_bandwidth), rate(c.bus_bandwidth)},
          false};
}

}  // namespace

std::string collectives(const report& r, const style& s) {
  if (r.collectives.empty()) {
    return {};
  }
  std::vector<const collective_row*> order;
  for (const collective_row& c : r.collectives) {
    order.push_back(&c);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->gpu_time > b->gpu_time; });
  const std::size_t all = order.size();
  order.resize(std::min(all, most_rows));
  grid g{"collective",
         {{"ranks", 60},
          {"calls", 90},
          {"bytes", 70},
          {"a call", 75},
          {"GPU time", 100},
          {"exposed", 95},
          {"avg", 65},
          {"algbw", 80},
          {"busbw", 85}}};
  std::vector<grid_row> rows;
  rows.reserve(order.size());
  for (const collective_row* c : order) {
    rows.push_back(row_of(r, *c));
  }
  std::string out = g.table(rows, s, longest_name);
  if (order.size() < all) {
    out += s.dim("… " + counted(static_cast<std::int64_t>(all - order.size()), "more collective")) + '\n';
  }
  return out + '\n';
}

}  // namespace varve::table

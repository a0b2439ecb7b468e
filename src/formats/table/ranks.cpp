// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Several ranks of one run side by side. Their clocks differ: only lengths are compared.
#include "formats/table/grid.hpp"
#include "formats/table/parts.hpp"
#include "formats/table/select.hpp"
#include "formats/table/sums.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

namespace varve {
inline namespace v0 {

namespace {

using namespace table;

constexpr std::size_t most_columns = 8;  // of ranks; more are summed up
constexpr std::size_t most_rows = 12;    // of labels or kernels
constexpr std::size_t longest_name = 60;

/// One time of each rank, where it has it.
struct times {
  std::string name;
  bool waits = false;  ///< of work in which a rank waits for others, or idles: the longest is no slow rank's
  std::vector<std::optional<double>> of_rank;
};

std::string rank_name(const report& r) { return "rank " + std::to_string(r.rank); }

std::string devices(const std::vector<const report*>& ranks, const style& s) {
  grid g{"rank",
         {{"wall", 90},
          {"GPU busy", 95},
          {"compute", 85},
          {"exposed comm", 100},
          {"exposed copy", 60},
          {"starved", 92},
          {"device gap", 70},
          {"unrecorded", 65},
          {"no pass", 50},
          {"wall ÷ busy", 80}}};
  std::vector<grid_row> rows;
  for (const report* r : ranks) {
    for (const device_row& d : r->devices) {
      const wall_partition& p = d.partition;
      const double starved = starved_sum(p.starved);
      const double busy = busy_sum(p);
      const double wall = busy + starved + static_cast<double>(p.device_gap) +
                          static_cast<double>(p.unrecorded) + static_cast<double>(p.no_pass);
      const auto time = [](auto t) { return t != 0 ? duration(t) : std::string{}; };
      rows.push_back({"",
                      rank_name(*r) + " · device " + std::to_string(d.device.id) +
                          (d.device.name.empty() ? "" : ", " + printable(d.device.name)),
                      {duration(wall), duration(busy), duration(p.compute), time(p.exposed_communication),
                       time(p.exposed_copy), time(starved), time(p.device_gap), time(p.unrecorded),
                       time(p.no_pass), busy > 0 ? number(wall / busy) : ""},
                      false});
    }
  }
  std::string out = g.table(rows, s, longest_name);
  return out + '\n';
}

/// Times by name, in order of appearance.
class times_table {
 public:
  explicit times_table(std::size_t ranks) : ranks_{ranks} {}

  void add(const std::string& name, std::size_t rank, double time, bool waits = false) {
    const auto [known, added] = places_.try_emplace(name, all_.size());
    if (added) {
      all_.push_back({name, waits, std::vector<std::optional<double>>(ranks_)});
    }
    std::optional<double>& to = all_[known->second].of_rank[rank];
    to = to.value_or(0) + time;  // of several devices
  }
  std::vector<times> take() { return std::move(all_); }

 private:
  std::size_t ranks_;
  std::vector<times> all_;
  std::map<std::string, std::size_t> places_;
};

double longest(const times& t) {
  double most = 0;
  for (const auto& one : t.of_rank) {
    most = std::max(most, one.value_or(0));
  }
  return most;
}

std::vector<times> phase_times(const std::vector<const report*>& ranks, const table_options& options) {
  times_table all{ranks.size()};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const phase_row& p : ranks[i]->phases) {
      if (!options.filter.empty() && !holds(p.phase, options.filter)) {
        continue;
      }
      const std::string name = printable(p.phase + (p.model.empty() ? "" : " of " + p.model) +
                                         (p.batch.empty() ? "" : ", " + p.batch));
      // The step is the same seen from each of a rank's devices.
      const bool first = p.device == ranks[i]->phases.front().device;
      if (first) {
        all.add(name + ": step, mean", i, std::isnan(p.step.mean) ? 0 : p.step.mean);
      }
      all.add(name + ": GPU time", i, static_cast<double>(p.total.gpu_time));
      all.add(name + ": exposed communication", i, static_cast<double>(p.partition.exposed_communication),
              true);
      all.add(name + ": starved", i, starved_sum(p.partition.starved), true);
    }
  }
  return all.take();
}

const std::vector<row>& rows_of(const report& r, view by) {
  return by == view::kernel ? r.kernels : by == view::category ? r.categories : r.labels;
}

std::vector<times> row_times(const std::vector<const report*>& ranks, const table_options& options) {
  times_table all{ranks.size()};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const row& r : rows_of(*ranks[i], options.by)) {
      if (!r.path.empty() && (options.filter.empty() || holds(r.path, options.filter))) {
        all.add(printable(r.path), i, static_cast<double>(r.inclusive.gpu_time),
                kernel_category(r.path) == "collective");
      }
    }
  }
  std::vector<times> out = all.take();
  out.erase(std::remove_if(out.begin(), out.end(), [](const times& t) { return longest(t) <= 0; }),
            out.end());
  std::stable_sort(out.begin(), out.end(),
                   [](const times& a, const times& b) { return longest(a) > longest(b); });
  return out;
}

/// Each rank's time, or of many ranks the least, the median and the most; then the spread.
std::vector<std::string> cells_of(const times& t, const std::vector<const report*>& ranks) {
  std::vector<std::pair<double, std::size_t>> known;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (t.of_rank[i]) {
      known.emplace_back(*t.of_rank[i], i);
    }
  }
  std::stable_sort(known.begin(), known.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> cells;
  if (ranks.size() <= most_columns) {
    for (const auto& time : t.of_rank) {
      cells.push_back(time ? duration(*time) : "–");
    }
  } else {
    cells = {duration(known.front().first), duration(known[(known.size() - 1) / 2].first),
             duration(known.back().first),
             known.size() < ranks.size() ? count(static_cast<std::int64_t>(known.size())) : ""};
  }
  const bool spread = known.size() > 1 && known.front().first > 0;
  cells.push_back(spread ? number(known.back().first / known.front().first) : "");
  cells.push_back(!t.waits && known.size() > 1 && known.back().first > known.front().first
                      ? rank_name(*ranks[known.back().second])
                      : "");
  return cells;
}

/// Collectives end on all ranks together, so the rank that spends the least time in them came last and the
/// others waited for it. Empty unless all ranks made the same calls, among all of them, in clearly different
/// times.
std::string waited_for(const std::vector<const report*>& ranks, const style& s) {
  struct sum {
    std::int64_t calls = 0;
    double time = 0;
  };
  constexpr double clearly = 1.1;
  std::vector<sum> sums;
  for (const report* r : ranks) {
    sum one;
    for (const collective_row& c : r->collectives) {
      if (c.ranks != 0 && c.ranks != std::ssize(ranks)) {
        return {};  // others wait too, or not all of these
      }
      one.calls += c.calls;
      one.time += static_cast<double>(c.gpu_time);
    }
    sums.push_back(one);
  }
  std::vector<sum> order = sums;
  std::sort(order.begin(), order.end(), [](const sum& a, const sum& b) { return a.time < b.time; });
  const bool same_calls =
      std::all_of(sums.begin(), sums.end(), [&](const sum& one) { return one.calls == order[0].calls; });
  if (order[0].calls <= 0 || !same_calls || order[0].time <= 0 || order[1].time < clearly * order[0].time) {
    return {};
  }
  const auto last = static_cast<std::size_t>(
      std::find_if(sums.begin(), sums.end(), [&](const sum& one) { return one.time == order[0].time; }) -
      sums.begin());
  return flow({"In collectives ranks wait for one another: " + rank_name(*ranks[last]) +
               " spends the least time there, " + duration(order[0].time) + " against up to " +
               duration(order.back().time) + ", so it comes last and the others wait for it."},
              " ", 0, s.text_width()) +
         "\n\n";
}

std::string side_by_side(const std::vector<const report*>& ranks, const table_options& options,
                         const style& s) {
  std::vector<column> columns;
  if (ranks.size() <= most_columns) {
    for (const report* r : ranks) {
      columns.push_back({rank_name(*r), 50});
    }
  } else {
    columns = {{"least", 60}, {"median", 50}, {"most", 70}, {"ranks", 40}};
  }
  columns.push_back({"max ÷ min", 90});
  columns.push_back({"longest", 80});
  const auto as_rows = [&](const std::vector<times>& all, std::size_t most) {
    std::vector<grid_row> rows;
    for (const times& t : all) {
      if (rows.size() == most) {
        break;
      }
      rows.push_back({"", t.name, cells_of(t, ranks), false});
    }
    return rows;
  };
  const std::vector<times> phases = phase_times(ranks, options);
  const std::vector<times> others =
      options.by == view::phase ? std::vector<times>{} : row_times(ranks, options);
  const std::vector<grid_row> first = as_rows(phases, phases.size());
  const std::vector<grid_row> second = as_rows(others, options.top != 0 ? options.top : most_rows);
  const auto section = [&](std::string_view title, const std::vector<grid_row>& rows, std::size_t all) {
    if (rows.empty()) {
      return std::string{};
    }
    grid g{std::string{title}, columns};
    std::string out = g.table(rows, s, longest_name);
    if (rows.size() < all) {
      out += s.dim("… " + counted(static_cast<std::int64_t>(all - rows.size()), "more row")) + '\n';
    }
    return out + '\n';
  };
  return section("phase", first, phases.size()) + waited_for(ranks, s) +
         section(options.by == view::kernel     ? "GPU time of kernels"
                 : options.by == view::category ? "GPU time of categories"
                                                : "GPU time of layers",
                 second, others.size());
}

}  // namespace

std::string to_ranks_table(const std::vector<report>& reports, const table_options& options) {
  std::vector<const report*> ranks;
  for (const report& r : reports) {
    if (r.rank >= 0) {
      ranks.push_back(&r);
    }
  }
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const report* a, const report* b) { return a->rank < b->rank; });
  if (ranks.size() < 2 || ranks.front()->rank == ranks.back()->rank) {
    return {};
  }
  const style s{options.colour, options.width > 0 ? static_cast<std::size_t>(options.width) : 0};
  std::vector<std::string> head{heading("Ranks side by side", s)};
  head.push_back(
      count(static_cast<std::int64_t>(ranks.size())) +
      (ranks.front()->world_size > 0 ? " of " + count(std::int64_t{ranks.front()->world_size}) : ""));
  const bool one_run = std::all_of(ranks.begin(), ranks.end(), [&](const report* r) {
    return r->world_size == ranks.front()->world_size && r->backend == ranks.front()->backend;
  });
  if (!ranks.front()->backend.empty() && one_run) {
    head.push_back("backend " + printable(ranks.front()->backend));
  }
  head.emplace_back("lengths of time on each rank's own clock");
  std::string out = flow(head, " · ", indent, s.text_width()) + '\n';
  if (!one_run) {
    out += s.warning("! ") + "Their numbers of ranks or their backends differ: they are not of one run.\n";
  }
  if (ranks.size() < reports.size()) {
    out += s.warning("! ") + count(static_cast<std::int64_t>(reports.size() - ranks.size())) +
           " without a rank left out.\n";
  }
  return out + '\n' + devices(ranks, s) + side_by_side(ranks, options, s);
}

}  // namespace v0
}  // namespace varve

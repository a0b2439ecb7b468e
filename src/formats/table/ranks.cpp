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
constexpr std::size_t most_ranked = 12;  // of labels or kernels
constexpr std::size_t longest_rank = 60;

/// One time of each rank, where it has it.
struct times {
  std::string name;
  bool waits = false;  ///< of work in which a rank waits for others, or idles: the longest is no slow rank's
  std::vector<std::optional<double>> of_rank;
};

struct member {
  const report* of = nullptr;
  std::string name;  ///< "rank 1", with its file where another report is of the same rank
};

using members = std::vector<member>;

/// The file's own name; a source goes on with " (rank 1 of 2, backend nccl)".
std::string file_of(const report& r) {
  const std::string path = r.source.substr(0, r.source.rfind(" (rank "));
  return printable(path.substr(path.find_last_of('/') + 1));
}

/// Reports of ranks by rank.
members members_of(const std::vector<report>& reports) {
  members out;
  std::map<std::int32_t, int> of_rank;
  std::map<std::pair<std::int32_t, std::string>, int> of_file;
  for (const report& r : reports) {
    if (r.rank >= 0) {
      out.push_back({&r, "rank " + std::to_string(r.rank)});
      ++of_rank[r.rank];
      ++of_file[{r.rank, file_of(r)}];
    }
  }
  std::map<std::pair<std::int32_t, std::string>, int> seen;
  for (member& m : out) {
    if (of_rank[m.of->rank] > 1) {
      const std::pair file{m.of->rank, file_of(*m.of)};
      const std::string number = of_file[file] > 1 ? " no. " + std::to_string(++seen[file]) : "";
      m.name += number + " (" + file.second + ')';
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const member& a, const member& b) { return a.of->rank < b.of->rank; });
  return out;
}

bool same_rank(const member& a, const member& b) { return a.of->rank == b.of->rank; }

std::string devices(const members& ranks, const style& s) {
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
  for (const auto& [r, name] : ranks) {
    for (const device_row& d : r->devices) {
      const wall_partition& p = d.partition;
      const double starved = starved_sum(p.starved);
      const double busy = busy_sum(p);
      const double wall = busy + starved + static_cast<double>(p.device_gap) +
                          static_cast<double>(p.unrecorded) + static_cast<double>(p.no_pass);
      const auto time = [](auto t) { return t != 0 ? duration(t) : std::string{}; };
      rows.push_back({"",
                      name + " · device " + std::to_string(d.device.id) +
                          (d.device.name.empty() ? "" : ", " + printable(d.device.name)),
                      {duration(wall), duration(busy), duration(p.compute), time(p.exposed_communication),
                       time(p.exposed_copy), time(starved), time(p.device_gap), time(p.unrecorded),
                       time(p.no_pass), busy > 0 ? number(wall / busy) : ""},
                      false});
    }
  }
  std::string out = g.table(rows, s, longest_rank);
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

double longest_time(const times& t) {
  double most = 0;
  for (const auto& one : t.of_rank) {
    most = std::max(most, one.value_or(0));
  }
  return most;
}

std::vector<times> phase_times(const members& ranks, const table_options& options) {
  times_table all{ranks.size()};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const phase_row& p : ranks[i].of->phases) {
      if (!options.filter.empty() && !holds(p.phase, options.filter)) {
        continue;
      }
      const std::string name = printable(p.phase + (p.model.empty() ? "" : " of " + p.model) +
                                         (p.batch.empty() ? "" : ", " + p.batch));
      if (is_ramp(*ranks[i].of, p)) {
        continue;
      }
      // The step is the same seen from each of a rank's devices.
      const bool first = p.device == ranks[i].of->phases.front().device;
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

std::vector<times> row_times(const members& ranks, const table_options& options) {
  times_table all{ranks.size()};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const row& r : rows_of(*ranks[i].of, options.by)) {
      if (!r.path.empty() && (options.filter.empty() || holds(r.path, options.filter))) {
        all.add(printable(r.path), i, static_cast<double>(r.inclusive.gpu_time),
                kernel_category(r.path) == "collective");
      }
    }
  }
  std::vector<times> out = all.take();
  out.erase(std::remove_if(out.begin(), out.end(), [](const times& t) { return longest_time(t) <= 0; }),
            out.end());
  std::stable_sort(out.begin(), out.end(),
                   [](const times& a, const times& b) { return longest_time(a) > longest_time(b); });
  return out;
}

/// Each rank's time, or of many ranks the least, the median and the most; then the spread.
std::vector<std::string> cells_of(const times& t, const members& ranks) {
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
                      ? ranks[known.back().second].name
                      : "");
  return cells;
}

/// Collectives end on all ranks together, so the rank that spends the least time in them came last and the
/// others waited for it. Empty unless each rank is there once, and all made the same calls, among all of
/// them, in clearly different times.
std::string waited_for(const members& ranks, const style& s) {
  struct sum {
    std::int64_t calls = 0;
    double time = 0;
  };
  constexpr double clearly = 1.1;
  if (std::adjacent_find(ranks.begin(), ranks.end(), same_rank) != ranks.end()) {
    return {};
  }
  std::vector<sum> sums;
  for (const member& m : ranks) {
    sum one;
    for (const collective_row& c : m.of->collectives) {
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
  return flow({"In collectives ranks wait for one another: " + ranks[last].name +
               " spends the least time there, " + duration(order[0].time) + " against up to " +
               duration(order.back().time) + ", so it comes last and the others wait for it."},
              " ", 0, s.text_width()) +
         "\n\n";
}

std::string side_by_side(const members& ranks, const table_options& options, const style& s) {
  std::vector<column> columns;
  if (ranks.size() <= most_columns) {
    for (const member& m : ranks) {
      columns.push_back({m.name, 50});
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
  const std::vector<grid_row> second = as_rows(others, options.top != 0 ? options.top : most_ranked);
  const auto section = [&](std::string_view title, const std::vector<grid_row>& rows, std::size_t all) {
    if (rows.empty()) {
      return std::string{};
    }
    grid g{std::string{title}, columns};
    std::string out = g.table(rows, s, longest_rank);
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
  const members ranks = members_of(reports);
  if (ranks.size() < 2 || ranks.front().of->rank == ranks.back().of->rank) {
    return {};
  }
  const report& first = *ranks.front().of;
  const style s{options.colour, options.width > 0 ? static_cast<std::size_t>(options.width) : 0};
  std::vector<std::string> head{heading("Ranks side by side", s)};
  members one_each = ranks;
  one_each.erase(std::unique(one_each.begin(), one_each.end(), same_rank), one_each.end());
  head.push_back(count(std::ssize(one_each)) +
                 (first.world_size > 0 ? " of " + count(std::int64_t{first.world_size}) : ""));
  const bool one_run = std::all_of(ranks.begin(), ranks.end(), [&](const member& m) {
    return m.of->world_size == first.world_size && m.of->backend == first.backend;
  });
  if (!first.backend.empty() && one_run) {
    head.push_back("backend " + printable(first.backend));
  }
  head.emplace_back("lengths of time on each rank's own clock");
  std::string out = flow(head, " · ", indent, s.text_width()) + '\n';
  if (!one_run) {
    out += s.warning("! ") + "Their numbers of ranks or their backends differ: they are not of one run.\n";
  }
  if (one_each.size() < ranks.size()) {
    out += s.warning("! ") + "Some files are of the same rank.\n";
  }
  if (ranks.size() < reports.size()) {
    out += s.warning("! ") + count(static_cast<std::int64_t>(reports.size() - ranks.size())) +
           " without a rank left out.\n";
  }
  return out + '\n' + devices(ranks, s) + side_by_side(ranks, options, s);
}

}  // namespace v0
}  // namespace varve

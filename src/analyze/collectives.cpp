// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/collectives.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

struct known_name {
  std::string_view text;  ///< letters alone, in lower case
  std::string_view name;
};

// The first that fits decides: "reducescatter" holds "reduce".
constexpr known_name known_names[] = {
    {"reducescatter", "reduce-scatter"},
    {"allreduce", "all-reduce"},
    {"crossdevicereduce", "all-reduce"},
    {"allgather", "all-gather"},
    {"alltoall", "all-to-all"},
    {"deepep", "all-to-all"},
    {"sendrecv", "send/recv"},
    {"broadcast", "broadcast"},
    {"barrier", "barrier"},
    {"gather", "gather"},
    {"scatter", "scatter"},
    {"reduce", "reduce"},
    {"send", "send"},
    {"recv", "recv"},
};

/// How many times its size a message goes over each link, among `ranks`: the factors of
/// https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md.
double bus_factor(std::string_view name, double ranks) noexcept {
  const double others = (ranks - 1) / ranks;
  if (name == "all-reduce") {
    return 2 * others;
  }
  if (name == "all-gather" || name == "reduce-scatter" || name == "all-to-all" || name == "gather" ||
      name == "scatter") {
    return others;
  }
  return name == "broadcast" || name == "reduce" || name == "send/recv" || name == "send" || name == "recv"
             ? 1
             : 0;
}

/// Of the whole message, as NCCL counts it; −1 when unknown.
std::int64_t message_bytes(std::string_view name, const collective& c) noexcept {
  const auto of_all = [&](std::int64_t part) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    return part < 0 || c.ranks == 0 || part > most / c.ranks ? -1 : part * c.ranks;
  };
  if (name == "all-gather") {
    return c.bytes_out >= 0 ? c.bytes_out : of_all(c.bytes_in);
  }
  if (name == "reduce-scatter") {
    return c.bytes_in >= 0 ? c.bytes_in : of_all(c.bytes_out);
  }
  return std::max(c.bytes_in, c.bytes_out);
}

/// The instants in which a device runs kernels that are no collectives.
class compute_time {
 public:
  /// In order of begin.
  void add(time_ns begin, time_ns end) {
    if (ends_.empty() || begin > ends_.back()) {
      before_.push_back(ends_.empty() ? 0 : before_.back() + (ends_.back() - begins_.back()));
      begins_.push_back(begin);
      ends_.push_back(end);
    } else {
      ends_.back() = std::max(ends_.back(), end);
    }
  }
  /// How much of [begin, end) it is.
  [[nodiscard]] time_ns in(time_ns begin, time_ns end) const { return until(end) - until(begin); }

 private:
  [[nodiscard]] time_ns until(time_ns at) const {
    const auto next =
        static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), at) - begins_.begin());
    return next == 0 ? 0 : before_[next - 1] + std::min(at, ends_[next - 1]) - begins_[next - 1];
  }

  std::vector<time_ns> begins_;
  std::vector<time_ns> ends_;
  std::vector<time_ns> before_;  // length of all earlier ones
};

class collective_counter {
 public:
  collective_counter(const trace& t, const structure& s, const activity_table& activities,
                     const sweep_result& sweep, row_table& rows)
      : trace_{t}, structure_{s}, activities_{activities}, sweep_{sweep}, rows_{rows} {}

  std::vector<collective_row> run() {
    if (!trace_.collectives.empty()) {
      record_.assign(trace_.activities.size(), none);
      for (std::uint32_t c = 0; c < trace_.collectives.size(); ++c) {
        if (trace_.collectives[c].activity < record_.size()) {
          record_[trace_.collectives[c].activity] = c;
        }
      }
    }
    const bool any = !record_.empty() || std::any_of(rows_.kernels.begin(), rows_.kernels.end(),
                                                     [](const kernel_row& k) { return k.is_collective; });
    if (any) {
      for (const device_activities& d : activities_.devices) {
        count_device(d);
      }
    }
    return finish();
  }

 private:
  struct sums {
    collective_row row;
    std::uint32_t group = none;
    time_ns covered = -far;
  };
  /// A collective that ran, by its effective interval.
  struct span {
    std::uint32_t row = none;
    time_ns begin = 0;
    time_ns end = 0;
  };

  void count_device(const device_activities& d);
  std::uint32_t count(std::size_t pos, const kernel_row& kernel);
  std::uint32_t name_of(std::uint32_t recorded, bool is_kernel);
  std::uint32_t row_of(std::uint32_t name, std::uint32_t ranks, std::uint32_t group);
  std::vector<collective_row> finish();

  const trace& trace_;
  const structure& structure_;
  const activity_table& activities_;
  const sweep_result& sweep_;
  row_table& rows_;
  std::vector<std::uint32_t> record_;  // by activity: in trace::collectives
  std::vector<sums> sums_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> ids_;
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::uint32_t> name_ids_;
  std::unordered_map<std::uint32_t, std::uint32_t> name_of_string_;
};

// Positions are in order of effective begin, so that each row's are too.
void collective_counter::count_device(const device_activities& d) {
  const activity_columns& a = trace_.activities;
  std::vector<time_ns> stream_end(activities_.streams.size(), -far);
  compute_time compute;
  std::vector<span> spans;
  for (std::size_t pos = d.first; pos < d.last; ++pos) {
    const std::uint32_t i = activities_.record_at(pos);
    time_ns begin = a.begin[i];
    if (a.stream[i] < trace_.streams.size()) {
      time_ns& before = stream_end[a.stream[i]];
      begin = std::max(begin, before);
      before = std::max(before, a.end[i]);
    }
    const time_ns end = std::max(begin, a.end[i]);
    const kernel_row& kernel = rows_.kernels[sweep_.kernel[pos]];
    const bool moves = a.kind[i] == activity_kind::copy || a.kind[i] == activity_kind::set;
    if (!moves && !kernel.is_collective) {
      compute.add(begin, end);
    }
    if ((kernel.is_collective && !moves) || (!record_.empty() && record_[i] != none)) {
      spans.push_back({count(pos, kernel), begin, end});
    }
  }
  for (const span& s : spans) {
    sums& to = sums_[s.row];
    const time_ns begin = std::max(s.begin, to.covered);
    if (s.end > begin) {
      to.row.gpu_time += s.end - begin;
      to.row.exposed_time += s.end - begin - compute.in(begin, s.end);
      to.covered = s.end;
    }
  }
}

std::uint32_t collective_counter::count(std::size_t pos, const kernel_row& kernel) {
  const std::uint32_t i = activities_.record_at(pos);
  const collective unknown;
  const collective& c = record_.empty() || record_[i] == none ? unknown : trace_.collectives[record_[i]];
  const bool recorded = !trace_.strings[c.name].empty();
  const std::uint32_t name = name_of(recorded ? c.name : kernel.name, !recorded);
  const std::uint32_t layer = rows_.slots[activities_.slot[pos]].row;
  const std::uint32_t id = row_of(name, c.ranks, rows_.rows[layer].group);
  collective_row& row = sums_[id].row;
  ++row.calls;
  if (const std::int64_t bytes = message_bytes(names_[name], c); bytes >= 0) {
    ++row.sized_calls;
    add_to(row.bytes, bytes);
    add_to(row.sized_time, trace_.activities.end[i] - trace_.activities.begin[i]);
    add_to(rows_.rows[layer].own.collective_bytes, bytes);
    add_to(rows_.kernels[sweep_.kernel[pos]].own.collective_bytes, bytes);
  }
  return id;
}

/// The name of what is recorded, or of a kernel. Both may be long, and come often.
std::uint32_t collective_counter::name_of(std::uint32_t recorded, bool is_kernel) {
  const auto [known, added] = name_of_string_.try_emplace(recorded, none);
  if (added) {
    const std::string_view text = trace_.strings[recorded];
    std::string_view name = collective_name(text);
    if (name.empty()) {
      name = is_kernel ? "other" : text;
    }
    const auto next = static_cast<std::uint32_t>(names_.size());
    known->second = name_ids_.try_emplace(name, next).first->second;
    if (known->second == next) {
      names_.push_back(name);
    }
  }
  return known->second;
}

std::uint32_t collective_counter::row_of(std::uint32_t name, std::uint32_t ranks, std::uint32_t group) {
  const auto [known, added] =
      ids_.try_emplace({name, ranks, group}, static_cast<std::uint32_t>(sums_.size()));
  if (added) {
    sums& to = sums_.emplace_back();
    to.group = group;
    const phase_key& key = structure_.keys[rows_.groups[group].key];
    to.row.name = names_[name];
    to.row.ranks = ranks;
    to.row.phase = key.phase;
    to.row.model = trace_.strings[key.model];
    to.row.batch = key.batch;
    to.row.device = activities_.devices[rows_.groups[group].device].id;
  }
  return known->second;
}

std::vector<collective_row> collective_counter::finish() {
  // As the phases are: what is in no pass comes last, key 0 turning into the greatest.
  std::sort(sums_.begin(), sums_.end(), [&](const sums& a, const sums& b) {
    const auto key = [&](const sums& s) {
      const row_group& g = rows_.groups[s.group];
      return std::tuple{g.key - 1, g.device, -s.row.gpu_time, std::string_view{s.row.name}, s.row.ranks};
    };
    return key(a) < key(b);
  });
  std::vector<collective_row> out;
  out.reserve(sums_.size());
  for (sums& s : sums_) {
    set_bandwidth(s.row);
    out.push_back(std::move(s.row));
  }
  return out;
}

}  // namespace

void set_bandwidth(collective_row& row) noexcept {
  if (row.sized_time > 0) {
    row.algorithm_bandwidth = static_cast<double>(row.bytes) / static_cast<double>(row.sized_time) * 1e9;
    if (row.ranks > 0) {
      row.bus_bandwidth = row.algorithm_bandwidth * bus_factor(row.name, static_cast<double>(row.ranks));
    }
  }
}

std::string_view collective_name(std::string_view recorded) {
  std::string letters;
  letters.reserve(recorded.size());
  for (const char c : recorded) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower >= 'a' && lower <= 'z') {
      letters += lower;
    }
  }
  const auto* const found =
      std::find_if(std::begin(known_names), std::end(known_names),
                   [&](const known_name& k) { return letters.find(k.text) != std::string::npos; });
  return found != std::end(known_names) ? found->name : std::string_view{};
}

std::vector<collective_row> count_collectives(const trace& t, const structure& s,
                                              const activity_table& activities, const sweep_result& sweep,
                                              row_table& rows) {
  return collective_counter{t, s, activities, sweep, rows}.run();
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

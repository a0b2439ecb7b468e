// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/counted.hpp"

#include "analyze/assemble.hpp"
#include "analyze/sentence.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// Counts up to this share off the declared work are taken as the same.
constexpr double tolerated = 0.2;

/// What is counted as one: the parts of a count add up.
using quantity = std::tuple<count_kind, math_pipe, std::uint8_t>;

quantity quantity_of(const range_count& c) noexcept { return {c.what, c.pipe, c.part}; }

bool is_tensor(math_pipe pipe) noexcept {
  switch (pipe) {
    case math_pipe::fp64_tensor:
    case math_pipe::tf32_tensor:
    case math_pipe::fp16_tensor:
    case math_pipe::fp16_tensor_fp16:
    case math_pipe::bf16_tensor:
    case math_pipe::fp8_tensor:
    case math_pipe::fp4_tensor:
    case math_pipe::int8_tensor:
      return true;
    default:
      return false;
  }
}

struct tally {
  double sum = 0;
  std::int64_t calls = 0;

  [[nodiscard]] double mean() const noexcept { return sum / static_cast<double>(calls); }
};

/// Of the calls of a row.
using counts_of_row = std::map<quantity, tally>;

/// Sum of the means of all those of `all` that `belongs` names; −1 where one was not counted here, or none
/// is.
template <class Belongs>
double sum_of(const counts_of_row& here, const std::set<quantity>& all, const Belongs& belongs) {
  double sum = 0;
  bool any = false;
  for (const quantity& q : all) {
    if (belongs(std::get<0>(q), std::get<1>(q))) {
      const auto found = here.find(q);
      if (found == here.end()) {
        return -1;
      }
      any = true;
      sum += found->second.mean();
    }
  }
  return any ? sum : -1;
}

double bytes_in(const counted_work& c) noexcept {
  return c.dram_read >= 0 && c.dram_written >= 0 ? c.dram_read + c.dram_written : -1;
}

double operations_in(const counted_work& c) noexcept {
  return c.tensor_ops < 0 ? c.core_flops : c.tensor_ops + std::max(c.core_flops, 0.0);
}

/// Operations of one kind of core alone are no intensity, unless there is no other kind.
void set_intensity(counted_work& c, bool whole) noexcept {
  const double bytes = bytes_in(c);
  c.intensity = whole && bytes > 0 ? std::max(operations_in(c), 0.0) / bytes : 0;
}

counted_work work_of(const counts_of_row& here, const std::set<quantity>& all) {
  counted_work out;
  for (const auto& [q, t] : here) {
    out.calls = std::max(out.calls, t.calls);
  }
  const auto dram = [&](count_kind what) {
    return sum_of(here, all, [&](count_kind k, math_pipe) { return k == what; });
  };
  const auto operations = [&](bool tensor) {
    return sum_of(here, all, [&](count_kind k, math_pipe p) {
      return k == count_kind::operations && is_tensor(p) == tensor;
    });
  };
  out.dram_read = dram(count_kind::dram_read);
  out.dram_written = dram(count_kind::dram_written);
  out.tensor_ops = operations(true);
  out.core_flops = operations(false);
  const bool whole = std::all_of(all.begin(), all.end(), [&](const quantity& q) {
    return std::get<0>(q) != count_kind::operations || here.count(q) != 0;
  });
  set_intensity(out, whole && operations_in(out) >= 0);
  return out;
}

/// "2.4 times", "0.31 of".
std::string times_text(double ratio) {
  return ratio > 1 ? number_of(ratio) + " times" : number_of(ratio) + " of";
}

bool differs(double ratio) noexcept { return ratio > 1 + tolerated || ratio < 1 - tolerated; }

/// What a call is declared to move and do. Where calls without declared work are among them, of those with
/// it.
struct declared_work {
  double bytes = 0;
  double flops = 0;
};

declared_work declared_in(const measures& m) noexcept {
  const auto calls = static_cast<double>(m.calls_with_work);
  if (m.calls_with_work <= 0) {
    return {};
  }
  const work& w = m.declared;
  return {(static_cast<double>(w.weight_bytes) + static_cast<double>(w.kv_bytes) +
           static_cast<double>(w.activation_bytes)) /
              calls,
          static_cast<double>(w.flops) / calls};
}

/// One sentence.
std::string explain(const counted_work& c, const declared_work& d) {
  std::string out;
  const double bytes = bytes_in(c);
  if (d.bytes > 0 && bytes >= 0) {
    const double ratio = bytes / d.bytes;
    out = "DRAM moved " +
          (differs(ratio)
               ? times_text(ratio) + " the declared bytes (" + rate_of(bytes, "B") + " against " +
                     rate_of(d.bytes, "B") + " a call): " +
                     (ratio > 1 ? "data is read again, or what does not fit in registers and caches is "
                                  "written out and read back"
                                : "the rest came from caches, or is not touched")
               : "the declared " + rate_of(d.bytes, "B") + " a call within " + percent_of(tolerated, 1));
  }
  const double operations = operations_in(c);
  if (d.flops > 0 && operations >= 0 && c.intensity > 0 && differs(operations / d.flops)) {
    const double ratio = operations / d.flops;
    out += (out.empty() ? "" : "; ") + std::string{"operations are "} + times_text(ratio) +
           " the declared ones: " +
           (ratio > 1 ? "tiles are padded, work is done again, or some is not declared"
                      : "some are skipped, or run where no counter looks");
  }
  return out;
}

bool same_phase(const row& r, const phase_row& p) {
  return std::tie(r.phase, r.model, r.batch, r.device) == std::tie(p.phase, p.model, p.batch, p.device);
}

void explain_all(report& r) {
  for (row& one : r.layers) {
    if (one.counted) {
      one.counted->why = explain(*one.counted, declared_in(one.inclusive));
    }
  }
  for (phase_row& p : r.phases) {
    if (p.counted) {
      measures whole = p.total;
      whole.calls_with_work = whole.declared.empty() ? 0 : p.passes;
      p.counted->why = explain(*p.counted, declared_in(whole));
    }
  }
}

/// One for each kind of pass: about the layer in which most bytes are off.
void find_differences(report& r) {
  for (std::uint32_t p = 0; p < r.phases.size(); ++p) {
    std::int64_t rows = 0;
    std::int64_t differ = 0;
    std::uint32_t worst = none;
    double most = 0;
    for (std::uint32_t i = 0; i < r.layers.size(); ++i) {
      const row& one = r.layers[i];
      const double declared = declared_in(one.inclusive).bytes;
      if (!one.counted || declared <= 0 || bytes_in(*one.counted) < 0 || !same_phase(one, r.phases[p])) {
        continue;
      }
      ++rows;
      const double bytes = bytes_in(*one.counted);
      differ += differs(bytes / declared) ? 1 : 0;
      const double off = std::fabs(bytes - declared) * static_cast<double>(one.inclusive.calls);
      if (differs(bytes / declared) && (worst == none || off > most)) {
        worst = i;
        most = off;
      }
    }
    if (worst == none) {
      continue;
    }
    const row& one = r.layers[worst];
    finding& f = r.findings.emplace_back();
    f.what = finding::kind::counted_difference;
    f.phase = p;
    f.layer = worst;
    f.value = std::fabs(bytes_in(*one.counted) / declared_in(one.inclusive).bytes - 1);
    f.threshold = tolerated;
    f.text = "counted and declared bytes differ by more than " + percent_of(tolerated, 1) + " in " +
             std::to_string(differ) + " of " + std::to_string(rows) + " rows of " + r.phases[p].phase +
             ", most in " + (one.path.empty() ? "what is in no layer" : one.path) + ": " + one.counted->why;
  }
}

/// The mean of calls of both.
counted_work mean_of(const counted_work& a, const counted_work& b) {
  counted_work out;
  out.calls = a.calls + b.calls;
  const auto mean = [&](double counted_work::*of) {
    const double x = a.*of;
    const double y = b.*of;
    const auto calls = static_cast<double>(out.calls);
    return x < 0 || y < 0 || out.calls <= 0
               ? -1
               : (x * static_cast<double>(a.calls) + y * static_cast<double>(b.calls)) / calls;
  };
  out.dram_read = mean(&counted_work::dram_read);
  out.dram_written = mean(&counted_work::dram_written);
  out.tensor_ops = mean(&counted_work::tensor_ops);
  out.core_flops = mean(&counted_work::core_flops);
  set_intensity(out, a.intensity > 0 && b.intensity > 0);
  return out;
}

}  // namespace

void add_counts(const results& from, const tree_order& order, report& to) {
  const trace& t = from.source;
  if (t.counts.empty()) {
    return;
  }
  std::set<quantity> all;
  std::map<std::uint32_t, counts_of_row> by_row;
  std::uint64_t homeless = 0;
  for (const range_count& c : t.counts) {
    const auto& devices = from.activities.devices;
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&](const device_activities& d) { return d.id == c.device; });
    const std::uint32_t owner = c.range < t.ranges.size() ? from.marks.ranges[c.range].owner : none;
    const bool known = owner != none && owner == c.range && device != devices.end() && c.value >= 0 &&
                       static_cast<std::size_t>(c.what) < count_kinds;
    const std::uint32_t row = known
                                  ? from.rows.known_row(from.marks.path_of(t, owner),
                                                        from.marks.key_of(from.marks.ranges[owner].pass),
                                                        static_cast<std::uint32_t>(device - devices.begin()))
                                  : none;
    if (row == none) {
      ++homeless;
      continue;
    }
    all.insert(quantity_of(c));
    tally& sum = by_row[row][quantity_of(c)];
    sum.sum += static_cast<double>(c.value);
    ++sum.calls;
  }
  if (homeless != 0) {
    to.quality.losses.push_back({"counts of ranges or devices that are not there", "analysis", homeless});
  }
  // tidy() drops what is in no pass from the phases, which comes first.
  std::uint32_t layer = 0;
  for (const std::uint32_t r : order.row) {
    const layer_row& source = from.rows.rows[r];
    const auto found = by_row.find(r);
    if (source.path != whole_pass) {
      if (found != by_row.end()) {
        to.layers[layer].counted = work_of(found->second, all);
      }
      ++layer;
    } else if (found != by_row.end()) {
      row names;
      name_group(from, source.group, names);
      const auto phase = std::find_if(to.phases.begin(), to.phases.end(),
                                      [&](const phase_row& p) { return same_phase(names, p); });
      if (phase != to.phases.end()) {
        phase->counted = work_of(found->second, all);
      }
    }
  }
  explain_all(to);
  find_differences(to);
}

}  // namespace analysis

void add_counted(report& r, const report& counted) {
  using namespace analysis;
  using key = std::tuple<std::string, std::string, std::uint32_t, std::string>;
  std::map<key, std::vector<std::pair<std::string, counted_work>>> known;  // with their batches
  for (const row& one : counted.layers) {
    if (one.counted) {
      known[{one.phase, one.model, one.device, "layer " + one.path}].emplace_back(one.batch, *one.counted);
    }
  }
  const std::string whole = "pass";
  for (const phase_row& p : counted.phases) {
    if (p.counted) {
      known[{p.phase, p.model, p.device, whole}].emplace_back(p.batch, *p.counted);
    }
  }
  const auto look_up = [&](const auto& row, const std::string& path) {
    std::optional<counted_work> out;
    const auto found = known.find({row.phase, row.model, row.device, path});
    if (found != known.end()) {
      for (const auto& [batch, work] : found->second) {
        if (batch == row.batch || batch.empty() || row.batch.empty()) {
          out = out ? mean_of(*out, work) : work;
        }
      }
    }
    return out;
  };
  for (row& one : r.layers) {
    one.counted = look_up(one, "layer " + one.path);
  }
  for (phase_row& p : r.phases) {
    p.counted = look_up(p, whole);
  }
  for (const collector_status& c : counted.quality.collectors) {
    if (c.name == "counters") {
      r.quality.collectors.push_back(c);
    }
  }
  for (const loss& l : counted.quality.losses) {
    if (l.where == "counters") {
      r.quality.losses.push_back(l);
    }
  }
  r.findings.erase(
      std::remove_if(r.findings.begin(), r.findings.end(),
                     [](const finding& f) { return f.what == finding::kind::counted_difference; }),
      r.findings.end());
  explain_all(r);
  find_differences(r);
}

}  // namespace v0
}  // namespace varve

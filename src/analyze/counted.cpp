// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/counted.hpp"

#include "analyze/assemble.hpp"
#include "analyze/rated.hpp"
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

double operations_in(const counted_work& c) noexcept {
  return c.tensor_ops < 0 ? c.core_flops : c.tensor_ops + std::max(c.core_flops, 0.0);
}

void set_intensity(counted_work& c) noexcept {
  const double bytes = bytes_in(c);
  c.intensity = c.all_operations && bytes > 0 ? std::max(operations_in(c), 0.0) / bytes : 0;
}

void add_calls(counted_work& to, const counted_work& other) {
  const auto here = static_cast<double>(to.calls);
  const auto there = static_cast<double>(other.calls);
  if (!(here + there > 0)) {
    return;
  }
  const auto mean = [&](double a, double b) { return (a * here + b * there) / (here + there); };
  const auto known_mean = [&](double a, double b) { return a < 0 || b < 0 ? -1 : mean(a, b); };
  to.dram_read = known_mean(to.dram_read, other.dram_read);
  to.dram_written = known_mean(to.dram_written, other.dram_written);
  to.tensor_ops = known_mean(to.tensor_ops, other.tensor_ops);
  to.core_flops = known_mean(to.core_flops, other.core_flops);
  to.all_operations = to.all_operations && other.all_operations;
  for (std::size_t k = 0; k < math_pipes; ++k) {
    to.operations[k] = to.all_operations ? mean(to.operations[k], other.operations[k]) : 0;
  }
  add_to(to.calls, other.calls);
  set_intensity(to);
}

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

declared_work declared_in(const phase_row& p) noexcept {
  measures whole = p.total;
  whole.calls_with_work = whole.declared.empty() ? 0 : p.passes;
  return declared_in(whole);
}

namespace {

/// Counts up to this share off the declared work are taken as the same.
constexpr double tolerated = 0.2;

/// What is counted as one: the parts of a count add up.
using quantity = std::tuple<count_kind, math_pipe, std::uint8_t>;

quantity quantity_of(const range_count& c) noexcept { return {c.what, c.pipe, c.part}; }

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
  out.all_operations = whole && operations_in(out) >= 0;
  for (const auto& [q, t] : here) {
    if (out.all_operations && std::get<0>(q) == count_kind::operations &&
        static_cast<std::size_t>(std::get<1>(q)) < math_pipes) {
      out.operations[static_cast<std::size_t>(std::get<1>(q))] += t.mean();
    }
  }
  set_intensity(out);
  return out;
}

/// "2.4 times", "0.31 of".
std::string times_text(double ratio) {
  return ratio > 1 ? number_of(ratio) + " times" : number_of(ratio) + " of";
}

bool differs(double ratio) noexcept { return ratio > 1 + tolerated || ratio < 1 - tolerated; }

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

/// Why rates and the verdict cannot rest on the counts of a row, or nothing.
std::string reason_against(const counted_work& c, const measures& m) {
  if (bytes_in(c) < 0) {
    return "its DRAM bytes were not counted";
  }
  if (!c.all_operations && !declares_all(m)) {
    return "its operations were neither all counted nor all declared: count in more passes of its kind";
  }
  return {};
}

/// `against`: what else there is against the counts.
void explain_one(counted_work& c, const measures& m, const declared_work& d, std::string against) {
  c.used = false;
  if (against.empty()) {
    c.why = explain(c, d);
    against = m.gpu_time > 0 ? reason_against(c, m) : std::string{};
    c.used = m.gpu_time > 0 && against.empty();
  } else {
    c.why.clear();  // it differs from other work than this
  }
  if (!against.empty()) {
    c.why += (c.why.empty() ? "" : "; ") + ("not used for rates and verdict: " + against);
  }
}

/// Tells for each layer whether its counts are of other work.
std::vector<bool> explain_all(report& r, const count_check& check) {
  std::vector<bool> other_work(r.layers.size());
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    row& one = r.layers[i];
    if (one.counted) {
      const std::string against = check.row ? check.row(one) : std::string{};
      other_work[i] = !against.empty();
      explain_one(*one.counted, one.inclusive, declared_in(one.inclusive), against);
    }
  }
  for (phase_row& p : r.phases) {
    if (p.counted) {
      measures whole = p.total;
      whole.calls_with_work = whole.calls;  // layers declare, not passes
      explain_one(*p.counted, whole, declared_in(p), check.phase ? check.phase(p) : std::string{});
    }
  }
  return other_work;
}

bool same_phase(const row& r, const phase_row& p) {
  return std::tie(r.phase, r.model, r.batch, r.device) == std::tie(p.phase, p.model, p.batch, p.device);
}

/// One for each kind of pass: about the layer in which most bytes are off, those that `other_work` says left
/// out.
void find_differences(report& r, const std::vector<bool>& other_work) {
  for (std::uint32_t p = 0; p < r.phases.size(); ++p) {
    std::int64_t rows = 0;
    std::int64_t differ = 0;
    std::uint32_t worst = none;
    double most = 0;
    for (std::uint32_t i = 0; i < r.layers.size(); ++i) {
      const row& one = r.layers[i];
      const double declared = declared_in(one.inclusive).bytes;
      if (!one.counted || declared <= 0 || bytes_in(*one.counted) < 0 || other_work[i] ||
          !same_phase(one, r.phases[p])) {
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
  settle_counts(to, {});
}

void settle_counts(report& r, const count_check& check) {
  const std::vector<bool> other_work = explain_all(r, check);
  rate_by_counts(r);
  find_differences(r, other_work);
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

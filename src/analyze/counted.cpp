// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/counted.hpp"

#include "analyze/assemble.hpp"
#include "analyze/counted_sums.hpp"
#include "analyze/rated.hpp"
#include "analyze/sentence.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

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
      other_work[i] = one.counted->other_work = !against.empty();
      explain_one(*one.counted, one.inclusive, declared_in(one.inclusive), against);
    }
  }
  for (phase_row& p : r.phases) {
    if (p.counted) {
      measures whole = p.total;
      whole.calls_with_work = whole.calls;  // layers declare, not passes
      const std::string against = check.phase ? check.phase(p) : std::string{};
      p.counted->other_work = !against.empty();
      explain_one(*p.counted, whole, declared_in(p), against);
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
  std::map<std::uint32_t, counted_work> by_row;
  std::uint64_t homeless = 0;
  for (const range_count& c : t.counts) {
    const auto& devices = from.activities.devices;
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&](const device_activities& d) { return d.id == c.device; });
    const std::uint32_t owner = c.range < t.ranges.size() ? from.marks.ranges[c.range].owner : none;
    const bool known = owner != none && owner == c.range && device != devices.end() && c.value >= 0 &&
                       static_cast<std::size_t>(c.what) < count_kinds &&
                       static_cast<std::size_t>(c.pipe) < math_pipes;
    const std::uint32_t row = known
                                  ? from.rows.known_row(from.marks.path_of(t, owner),
                                                        from.marks.key_of(from.marks.ranges[owner].pass),
                                                        static_cast<std::uint32_t>(device - devices.begin()))
                                  : none;
    if (row == none) {
      ++homeless;
      continue;
    }
    add_sum(by_row[row].sums, {c.what, c.pipe, c.part, 1, static_cast<double>(c.value)});
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
        to.layers[layer].counted = std::move(found->second);
      }
      ++layer;
    } else if (found != by_row.end()) {
      row names;
      name_group(from, source.group, names);
      const auto phase = std::find_if(to.phases.begin(), to.phases.end(),
                                      [&](const phase_row& p) { return same_phase(names, p); });
      if (phase != to.phases.end()) {
        phase->counted = std::move(found->second);
      }
    }
  }
  set_means(to);
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

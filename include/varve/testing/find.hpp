// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// layer_of() and phase_of(): rows of a report that know their report, for messages that say more. Part of
// testing.hpp.
#ifndef VARVE_TESTING_FIND_HPP
#define VARVE_TESTING_FIND_HPP

#include <varve/report.hpp>
#include <varve/testing/text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace varve {
inline namespace v0 {

/// A row of a report, or the names that come near where there is none. Points into the report.
template <class Row>
class found_row {
 public:
  found_row(const varve::report& in, const Row* found, std::string missing)
      : in_{&in}, found_{found}, missing_{std::move(missing)} {}

  [[nodiscard]] explicit operator bool() const noexcept { return found_ != nullptr; }
  /// nullptr when there is none.
  [[nodiscard]] const Row* get() const noexcept { return found_; }
  [[nodiscard]] const Row& operator*() const noexcept { return *found_; }
  [[nodiscard]] const Row* operator->() const noexcept { return found_; }
  [[nodiscard]] const varve::report& in() const noexcept { return *in_; }
  /// What was asked for, and what there is; empty when it was found.
  [[nodiscard]] const std::string& missing() const noexcept { return missing_; }

 private:
  const varve::report* in_;
  const Row* found_;
  std::string missing_;
};

using found_layer = found_row<row>;
using found_phase = found_row<phase_row>;

namespace testing_detail {

/// Insertions, deletions and substitutions between two names, of which the first 64 letters count.
inline std::size_t distance(std::string_view a, std::string_view b) {
  a = a.substr(0, 64);
  b = b.substr(0, 64);
  std::array<std::size_t, 65> row{};
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

inline std::string asked_text(const row_query& q) {
  std::string out;
  const auto add = [&out](std::string_view what, std::string_view value) {
    if (!value.empty()) {
      out += (out.empty() ? "" : ", ") + std::string{what} + " \"" + name_text(value) + '"';
    }
  };
  const auto add_number = [&out](std::string_view what, std::int64_t value) {
    out += (out.empty() ? "" : ", ") + std::string{what} + ' ' + std::to_string(value);
  };
  add("label", q.label);
  if (q.index) {
    add_number("index", *q.index);
  }
  add("path", q.path);
  add("phase", q.phase);
  add("model", q.model);
  if (q.device) {
    add_number("device", *q.device);
  }
  return out;
}

/// "; nearest: a, b, c" of what comes first when sorted.
template <class Ranked>
std::string nearest_text(std::vector<Ranked>& ranked, std::string_view none_at_all) {
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.first < b.first; });
  std::string out;
  for (std::size_t i = 0, named = 0; i < ranked.size() && named < 3; ++i) {
    if (i == 0 || ranked[i].second != ranked[i - 1].second) {
      out += (named++ == 0 ? "; nearest: " : ", ") + ranked[i].second;
    }
  }
  return out.empty() ? "; " + std::string{none_at_all} : out;
}

inline std::string missing_layer(const report& in, const row_query& q) {
  using rank = std::tuple<std::size_t, bool, std::int64_t>;
  std::vector<std::pair<rank, std::string>> ranked;
  for (const row& r : in.layers) {
    const std::size_t off =
        (q.label.empty() ? 0 : distance(q.label, r.label)) + (q.path.empty() ? 0 : distance(q.path, r.path));
    const std::int64_t apart = q.index ? std::int64_t{*q.index} - r.index : 0;
    ranked.emplace_back(rank{off, !q.phase.empty() && q.phase != r.phase, apart < 0 ? -apart : apart},
                        layer_text(r));
  }
  return "the report has no layer with " + asked_text(q) + nearest_text(ranked, "it has no layers at all");
}

inline std::string missing_phase(const report& in, std::string_view kind, std::string_view model) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const phase_row& p : in.phases) {
    ranked.emplace_back(distance(kind, p.phase) + distance(model, p.model), phase_text(p.phase, p.model));
  }
  return "the report has no passes of " + phase_text(kind, model) +
         nearest_text(ranked, "it has no passes at all");
}

}  // namespace testing_detail

/// The row that `in.find(query)` gives, with its report. `in` must outlive it, and so must not be a
/// temporary.
[[nodiscard]] inline found_layer layer_of(const report& in, const row_query& query) {
  const row* found = in.find(query);
  return {in, found, found != nullptr ? "" : testing_detail::missing_layer(in, query)};
}
found_layer layer_of(report&& in, const row_query& query) = delete;

/// The passes of a kind (and model, where it is given) with the most GPU time, with their report, likewise.
[[nodiscard]] inline found_phase phase_of(const report& in, std::string_view kind,
                                          std::string_view model = {}) {
  const phase_row* found = nullptr;
  for (const phase_row& p : in.phases) {
    if (p.phase == kind && (model.empty() || p.model == model) &&
        (found == nullptr || p.total.gpu_time > found->total.gpu_time)) {
      found = &p;
    }
  }
  return {in, found, found != nullptr ? "" : testing_detail::missing_phase(in, kind, model)};
}
found_phase phase_of(report&& in, std::string_view kind, std::string_view model = {}) = delete;

// How GoogleTest prints what was found, in place of bytes or a whole table.

inline void PrintTo(const row& r, std::ostream* out) { *out << testing_detail::layer_text(r); }
inline void PrintTo(const row* r, std::ostream* out) {
  *out << (r != nullptr ? testing_detail::layer_text(*r) : "no such layer");
}
inline void PrintTo(const phase_row& p, std::ostream* out) {
  *out << testing_detail::phase_text(p.phase, p.model) << ": "
       << testing_detail::count_text(p.passes, "pass", "passes");
}
inline void PrintTo(const phase_row* p, std::ostream* out) {
  p != nullptr ? PrintTo(*p, out) : static_cast<void>(*out << "no such passes");
}
template <class Row>
void PrintTo(const found_row<Row>& found, std::ostream* out) {
  PrintTo(found.get(), out);
}
inline void PrintTo(const report& r, std::ostream* out) {
  *out << "report of " << (r.source.empty() ? "nothing" : testing_detail::name_text(r.source)) << ": "
       << testing_detail::count_text(static_cast<std::int64_t>(r.phases.size()), "phase", "phases") << ", "
       << testing_detail::count_text(static_cast<std::int64_t>(r.layers.size()), "layer", "layers");
}

}  // namespace v0
}  // namespace varve

#endif  // VARVE_TESTING_FIND_HPP

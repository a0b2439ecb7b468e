// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The sections of a compared phase.
#ifndef VARVE_FORMATS_TABLE_COMPARISON_SECTIONS_HPP
#define VARVE_FORMATS_TABLE_COMPARISON_SECTIONS_HPP

#include "formats/table/comparison.hpp"
#include "formats/table/units.hpp"

#include <varve/compare.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace varve::table {

/// A phase with all that belongs to it.
struct phase_parts {
  const phase_change* of = nullptr;
  std::string name;
  std::vector<const row_change*> rows;
  std::vector<const label_change*> labels;
  std::vector<const kernel_change*> kernels;
};

/// Layers by what became of them: each counts once.
class tally {
 public:
  void add(const row_change& r) {
    if (r.what == row_change::kind::added || r.what == row_change::kind::removed) {
      ++one_sided_;
    } else {
      ++by_verdict_[static_cast<std::size_t>(r.gpu_time.verdict)];
    }
  }
  /// "4 layers worse, 0 better, 2 the same, 1 inconclusive"
  [[nodiscard]] std::string text() const {
    std::string out = counted(of(outcome::worse), "layer") + " worse, " + count(of(outcome::better)) +
                      " better, " + count(of(outcome::same)) + " the same";
    const std::int64_t open = of(outcome::inconclusive);
    out += open > 0 ? ", " + count(open) + " inconclusive" : "";
    return out + (one_sided_ > 0 ? ", " + count(one_sided_) + " added or removed" : "");
  }

 private:
  [[nodiscard]] std::int64_t of(outcome o) const { return by_verdict_[static_cast<std::size_t>(o)]; }

  std::array<std::int64_t, 4> by_verdict_{};
  std::int64_t one_sided_ = 0;
};

/// Leaves `top`, 0 all, and notes how many more there are.
template <class T>
void cut(std::vector<T>& all, std::size_t top, const char* what, std::vector<std::string>& notes) {
  if (top != 0 && all.size() > top) {
    notes.push_back(
        "… " + counted(static_cast<std::int64_t>(all.size() - top), (std::string{"more "} + what).c_str()));
    all.resize(top);
  }
}

/// What its step, its labels and its layers took.
[[nodiscard]] comparison_section times_of(const phase_parts& phase, std::size_t top);
/// What made the change of its wall; without rows where nothing did.
[[nodiscard]] comparison_section makers_of(const comparison& c, const phase_parts& phase, std::size_t top);
[[nodiscard]] comparison_section kernels_of(const phase_parts& phase, std::size_t top);

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_COMPARISON_SECTIONS_HPP

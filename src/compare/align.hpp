// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which layer of one report is which of another. docs/compare.md has the rules.
#ifndef VARVE_COMPARE_ALIGN_HPP
#define VARVE_COMPARE_ALIGN_HPP

#include "compare/sides.hpp"

#include <varve/compare.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace comparing {

/// Phases of two reports, each once; none where the other side has it alone.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> align_phases(const run& base,
                                                                                const run& fresh);

/// A row of the comparison, and whose own time counts for it.
struct aligned {
  row_change::kind what = row_change::kind::matched;
  std::uint32_t base = none;  ///< in report::layers
  std::uint32_t fresh = none;
  std::uint32_t parent = none;             ///< in the alignment
  std::vector<std::uint32_t> base_owned;   ///< layers without a row of their own are in that above them
  std::vector<std::uint32_t> fresh_owned;  ///< both with the row's own layer, first
};

/// Layers of a phase of each side, either of which may be none. Parents before children.
[[nodiscard]] std::vector<aligned> align_layers(const run& base, std::uint32_t base_phase, const run& fresh,
                                                std::uint32_t fresh_phase);

}  // namespace comparing
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_ALIGN_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The parts of a comparison that compare() puts together.
#ifndef VARVE_COMPARE_PARTS_HPP
#define VARVE_COMPARE_PARTS_HPP

#include "compare/align.hpp"
#include "compare/change.hpp"
#include "compare/sides.hpp"

#include <varve/compare.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace comparing {

/// A phase on both sides; either is none where the other has it alone.
struct phase_pair {
  std::uint32_t base = none;
  std::uint32_t fresh = none;
};

/// Per-run phases and what both have in common.
struct sides {
  side base;
  side fresh;
};

[[nodiscard]] pass_work work_of(const measures& m, double passes);
/// By a thousandth at least.
[[nodiscard]] bool differs(const pass_work& a, const pass_work& b);

/// What made a phase's time change: one for each of its rows, then what is in no row. Not sorted.
[[nodiscard]] std::vector<contribution> contributions_of(const sides& s, phase_pair phase,
                                                         const std::vector<aligned>& rows,
                                                         std::uint32_t first_row);

/// Kernels of a phase that came, went, or run in another number or shape; by time.
void find_kernel_changes(const sides& s, phase_pair phase, std::uint32_t index, comparison& to);

/// How comparable the sides are.
void find_reasons(const sides& s, const std::vector<phase_pair>& phases, comparison& to);

/// Which predictions came true, and what was bound by bytes that were halved. Needs phases and labels.
void check_predictions(const sides& s, const std::vector<phase_pair>& phases, comparison& to);
void check_hypotheses(const sides& s, comparison& to);

}  // namespace comparing
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_PARTS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How far two runs of the same program may lie apart by chance: the simple rule of budgets.
#ifndef VARVE_COMPARE_NOISE_HPP
#define VARVE_COMPARE_NOISE_HPP

#include "compare/figures.hpp"

namespace varve {
inline namespace v0 {
namespace budgets {

/// A run's times move by so much from one run to the next, whatever its passes say.
inline constexpr double noise_floor = 0.02;
/// Passes below which their spread says nothing.
inline constexpr std::size_t passes_for_spread = 5;

/// As a share of the baseline; 0 of exact figures. Never less than noise_floor of others, and where both have
/// single passes at least two standard errors of the difference of their medians, for the extremes of a
/// figure (.p95, .p99, .max, .min) two standard deviations of single passes; both by the median deviation. Of
/// a sum or a mean the plain standard errors of the means count where they are larger.
[[nodiscard]] double noise_of(const figure& f, const subject& now, const subject& before);

}  // namespace budgets
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_NOISE_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Student's t distribution.
#ifndef VARVE_COMPARE_STUDENT_HPP
#define VARVE_COMPARE_STUDENT_HPP

namespace varve {
inline namespace v0 {
namespace comparing {

/// Probability of |T| > t, for `freedom` > 0 degrees, which need not be whole.
[[nodiscard]] double student_two_sided(double t, double freedom) noexcept;

/// The t that |T| exceeds with this probability.
[[nodiscard]] double student_quantile(double two_sided, double freedom) noexcept;

}  // namespace comparing
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_STUDENT_HPP

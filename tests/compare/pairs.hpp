// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How many pairs studies of false alarms take, and what they may show.
#ifndef VARVE_TESTS_COMPARE_PAIRS_HPP
#define VARVE_TESTS_COMPARE_PAIRS_HPP

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VARVE_TEST_SLOW
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VARVE_TEST_SLOW
#endif
#endif

namespace testing_support {

#ifdef VARVE_TEST_SLOW
constexpr int pairs = 300;
#else
constexpr int pairs = 1000;
#endif

// Of 1,000 pairs 5 % are 50, with a standard deviation of √(1000 · 0.05 · 0.95) = 6.9: 50 + 1.96 · 6.9, 63.5,
// is the upper end of the interval that holds 95 % of all counts. Of 300 it is 15 + 1.96 · 3.8 = 22.4.
constexpr int nominal = pairs == 1000 ? 63 : 22;
constexpr int nearly_all = pairs * 95 / 100;

}  // namespace testing_support

#endif  // VARVE_TESTS_COMPARE_PAIRS_HPP

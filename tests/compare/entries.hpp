// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_TESTS_COMPARE_ENTRIES_HPP
#define VARVE_TESTS_COMPARE_ENTRIES_HPP

#include <varve/budget.hpp>

#include <string>
#include <utility>

namespace testing_support {

inline varve::budget_entry entry(varve::budget_of of, std::string pattern, std::string figure) {
  varve::budget_entry e;
  e.where.of = of;
  e.where.pattern = std::move(pattern);
  e.figure = std::move(figure);
  return e;
}

inline varve::budget_entry at_most(varve::budget_of of, std::string pattern, std::string figure,
                                   double limit) {
  varve::budget_entry e = entry(of, std::move(pattern), std::move(figure));
  e.at_most = limit;
  return e;
}

inline varve::budget_entry change(varve::budget_of of, std::string pattern, std::string figure,
                                  double allowed) {
  varve::budget_entry e = entry(of, std::move(pattern), std::move(figure));
  e.max_change = allowed;
  return e;
}

inline varve::budget_outcome outcome_of(const varve::report& r, const varve::budget_entry& e,
                                        const varve::report* baseline = nullptr) {
  varve::budget b;
  b.entries = {e};
  return varve::check(r, b, baseline).entries.at(0);
}

}  // namespace testing_support

#endif  // VARVE_TESTS_COMPARE_ENTRIES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Changes and their verdicts in words.
#ifndef VARVE_FORMATS_TABLE_COMPARISON_WORDS_HPP
#define VARVE_FORMATS_TABLE_COMPARISON_WORDS_HPP

#include <varve/compare.hpp>

#include <string>

namespace varve::table {

/// "+5.8 %", "×12" for what is more than tenfold, "0 %".
[[nodiscard]] std::string signed_percent(double share);
/// A number a pass: "4", "0.500".
[[nodiscard]] std::string times(double n);
[[nodiscard]] std::string signed_duration(double ns);
[[nodiscard]] std::string time(double ns);
[[nodiscard]] const char* name_of(outcome o);
/// Of the median; empty where one side has none.
[[nodiscard]] std::string change(const time_change& c);
[[nodiscard]] std::string interval(const time_change& c);

[[nodiscard]] inline bool changed(const time_change& t) {
  return t.verdict == outcome::better || t.verdict == outcome::worse;
}
/// Whether the mean told what the median, or its interval, does not show.
[[nodiscard]] bool is_by_mean(const time_change& t);

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_COMPARISON_WORDS_HPP

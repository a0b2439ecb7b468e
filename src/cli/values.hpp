// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What options are given, read from its text.
#ifndef VARVE_CLI_VALUES_HPP
#define VARVE_CLI_VALUES_HPP

#include <varve/io.hpp>
#include <varve/model.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace varve::cli {

constexpr int most_keys = 100'000'000;  ///< of a sequence

// Nothing of what makes no sense:

/// "0.5" or "0.5%" as 0.005.
std::optional<double> share_of(std::string text);

/// A whole number from 0 to 100000.
template <class T, int Most = 100'000>
std::optional<T> number_of(const std::string& text) {
  constexpr std::size_t digits = 9;
  if (text.empty() || text.size() > digits || text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  const int value = std::stoi(text);
  return value <= Most ? std::optional{static_cast<T>(value)} : std::nullopt;
}

/// "20ms" as nanoseconds.
std::optional<time_ns> duration_of(const std::string& text);
/// "1980" or "1980MHz" as Hz.
std::optional<double> clock_of(const std::string& text);
/// "8944x16": tokens of a batch, and in how many sequences; each is a prompt of its own.
std::optional<std::vector<pass_sequence>> batch_of(const std::string& text);

// They say what is wrong by an exception:

/// "REGEX=NAME", where NAME is plain: letters, digits, spaces, '_', '-', '.'; or a regular expression alone.
naming_rule naming_rule_of(const std::string& text, naming_rule::kind as);
/// "PATTERN=PARTS"
label_rule label_rule_of(const std::string& text);

}  // namespace varve::cli

#endif  // VARVE_CLI_VALUES_HPP

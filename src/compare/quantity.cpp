// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Quantities with their units, from text and to text.
#include "formats/table/units.hpp"

#include <varve/budget.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace varve {
inline namespace v0 {

namespace {

/// A unit is factor · 10^exponent of the figure's own.
struct unit_name {
  std::string_view text;
  int exponent;
  double factor = 1;
};

constexpr double kibi = 1024;

constexpr unit_name times[] = {{"s", 9},  {"ms", 6}, {"us", 3},     {"ns", 0},
                               {"µs", 3}, {"μs", 3}, {"min", 9, 60}};  // micro sign, Greek letter
constexpr unit_name counts[] = {{"", 0}};
constexpr unit_name shares[] = {{"%", -2}, {"", 0}};
constexpr unit_name ratios[] = {{"", 0}};  // no %: of "1.2 %" nobody means 0.012
constexpr unit_name sizes_in_bytes[] = {{"TB", 12},
                                        {"GB", 9},
                                        {"MB", 6},
                                        {"kB", 3},
                                        {"B", 0},
                                        {"KB", 3},
                                        {"KiB", 0, kibi},
                                        {"MiB", 0, kibi* kibi},
                                        {"GiB", 0, kibi* kibi* kibi},
                                        {"TiB", 0, kibi* kibi* kibi* kibi}};
constexpr unit_name flop_counts[] = {{"PFLOP", 15}, {"TFLOP", 12}, {"GFLOP", 9}, {"MFLOP", 6}, {"FLOP", 0}};
constexpr unit_name byte_rates[] = {{"TB/s", 12},
                                    {"GB/s", 9},
                                    {"MB/s", 6},
                                    {"kB/s", 3},
                                    {"B/s", 0},
                                    {"KiB/s", 0, kibi},
                                    {"MiB/s", 0, kibi* kibi},
                                    {"GiB/s", 0, kibi* kibi* kibi}};
constexpr unit_name flop_rates[] = {
    {"PFLOP/s", 15}, {"TFLOP/s", 12}, {"GFLOP/s", 9}, {"MFLOP/s", 6}, {"FLOP/s", 0}};
constexpr unit_name intensities[] = {{"FLOP/B", 0}};
constexpr unit_name token_rates[] = {{"tokens/s", 0}, {"/s", 0}};

/// Units of one kind; those that exact_text() may choose come first, the largest before the others.
struct kind {
  const unit_name* begin;
  const unit_name* end;
  std::size_t chosen;  ///< how many of them exact_text() chooses from
  const char* what;
  const char* examples;
};

template <std::size_t N>
constexpr kind kind_of(const unit_name (&all)[N], std::size_t chosen, const char* what,
                       const char* examples) {
  return {all, all + N, chosen, what, examples};
}

/// By figure_unit.
constexpr std::array<kind, 10> kinds{
    kind_of(times, 4, "time", "200us or 1.5 ms (ns, us, ms, s, min)"),
    kind_of(counts, 1, "count", "12, without a unit"),
    kind_of(shares, 2, "share", "95 % or 0.95"),
    kind_of(ratios, 1, "ratio", "1.2"),
    kind_of(sizes_in_bytes, 5, "number of bytes", "64 MB (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)"),
    kind_of(flop_counts, 5, "number of FLOPs", "12 GFLOP (FLOP, MFLOP, GFLOP, TFLOP, PFLOP)"),
    kind_of(byte_rates, 5, "rate of bytes", "300 GB/s (B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s)"),
    kind_of(flop_rates, 5, "rate of FLOPs", "40 TFLOP/s (FLOP/s, MFLOP/s, GFLOP/s, TFLOP/s, PFLOP/s)"),
    kind_of(intensities, 1, "intensity", "100 FLOP/B"),
    kind_of(token_rates, 1, "rate of tokens", "1200 tokens/s")};

const kind& kind_of_unit(figure_unit unit) noexcept { return kinds[static_cast<std::size_t>(unit)]; }

constexpr double most = 1e18;
constexpr std::size_t longest = 64;

std::string quoted(std::string_view text) {
  return '"' + std::string{text.substr(0, longest)} + (text.size() > longest ? "…\"" : "\"");
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return text;
}

/// Decimal digits with at most one point.
std::size_t digits_of(std::string_view text) {
  std::size_t n = 0;
  bool point = false;
  while (n < text.size() && ((text[n] >= '0' && text[n] <= '9') || (text[n] == '.' && !point))) {
    point = point || text[n] == '.';
    ++n;
  }
  return n;
}

/// digits · 10^exponent, rounded once.
std::optional<double> scaled(std::string_view digits, int exponent) {
  const std::string text = std::string{digits} + 'e' + std::to_string(exponent);
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? std::optional{value}
                                                                         : std::nullopt;
}

std::string shortest(double value) {
  std::array<char, 64> digits{};
  const auto written =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
  return written.ec == std::errc{} ? std::string(digits.data(), written.ptr) : std::string{};
}

/// A hundred times as much, exactly: the point moves.
std::string as_percent(std::string digits) {
  const std::size_t found = digits.find('.');
  const std::size_t point = found == std::string::npos ? digits.size() : found;
  digits.erase(point, found == std::string::npos ? 0 : 1);
  digits.resize(std::max(digits.size(), point + 2), '0');
  if (digits.size() > point + 2) {
    digits.insert(point + 2, 1, '.');
  }
  return digits;
}

}  // namespace

double parse_quantity(std::string_view text, figure_unit unit) {
  const kind& k = kind_of_unit(unit);
  const auto refuse = [&](const char* why) {
    throw std::invalid_argument{quoted(text) + " is no " + k.what + why + "; give one such as " + k.examples};
  };
  const std::string_view all = trimmed(text);
  const std::size_t digits = all.size() <= longest ? digits_of(all) : 0;
  const std::string_view name = trimmed(all.substr(digits));
  if (digits == 0) {
    refuse(!all.empty() && all.front() == '-' ? ": it is negative" : "");
  }
  const unit_name* const found =
      std::find_if(k.begin, k.end, [&](const unit_name& u) { return u.text == name; });
  if (found == k.end) {
    refuse(name.empty() ? ": it has no unit" : "");
  }
  const auto value = scaled(all.substr(0, digits), found->exponent);
  if (!value) {
    refuse("");
  }
  if (*value * found->factor > most) {
    refuse(": it is too large");
  }
  if (unit == figure_unit::share && name.empty() && *value > 1) {
    refuse(": it looks like a percentage, and has no %");
  }
  return *value * found->factor;
}

double parse_change(std::string_view text) {
  const std::string_view all = trimmed(text);
  const bool falls = !all.empty() && all.front() == '-';
  if (!falls && (all.empty() || all.front() != '+')) {
    throw std::invalid_argument{quoted(text) +
                                " is no change: give one with its sign, such as +5 % where it may "
                                "rise by that, or -5 % where it may fall"};
  }
  const std::string_view size = trimmed(all.substr(1));
  if (size.empty() || size.back() != '%') {
    throw std::invalid_argument{quoted(text) + " is no change: give it in percent, such as +5 %"};
  }
  const double change = parse_quantity(size, figure_unit::share);
  if (falls && change > 1) {
    throw std::invalid_argument{quoted(text) + " is no change: nothing can fall by more than 100 %"};
  }
  return falls ? -change : change;
}

std::string exact_text(double value, figure_unit unit) {
  const kind& k = kind_of_unit(unit);
  for (std::size_t i = 0; i < k.chosen; ++i) {
    const unit_name& u = k.begin[i];
    constexpr double decimals = 1e9;  // of what is written: where that is not all, another unit is taken
    const double in_unit = std::round(value / std::pow(10.0, u.exponent) * decimals) / decimals;
    if (i + 1 < k.chosen && u.exponent > 0 && in_unit < 1) {
      continue;
    }
    if (unit == figure_unit::share && u.text.empty() && value > 1) {
      break;  // is taken with its % alone
    }
    const std::string digits = shortest(in_unit);
    if (digits.size() <= longest / 4 && scaled(digits, u.exponent) == value) {
      return u.text.empty() || u.text == "/s" ? digits + std::string{u.text}
                                              : digits + ' ' + std::string{u.text};
    }
  }
  if (unit == figure_unit::share && value > 1) {
    return as_percent(shortest(value)) + " %";
  }
  const unit_name& own = k.begin[k.chosen - 1];
  return own.text.empty() ? shortest(value) : shortest(value) + ' ' + std::string{own.text};
}

std::string short_text(double value, figure_unit unit) {
  const auto with_prefix = [&](const std::string& base) {
    constexpr std::array<const char*, 6> prefixes{"", "k", "M", "G", "T", "P"};
    std::size_t p = 0;
    for (; p + 1 < prefixes.size() && std::fabs(value) >= 999.5; ++p) {
      value /= 1000;
    }
    return table::number(value) + ' ' + prefixes[p] + base;
  };
  switch (unit) {
    case figure_unit::time:
      return table::duration(value);
    case figure_unit::count:
      return std::floor(value) == value && std::fabs(value) < 1e15 ? table::count(value)
                                                                   : table::number(value);
    case figure_unit::share:
      return table::number(value * 100) + " %";
    case figure_unit::ratio:
      return table::number(value);
    case figure_unit::bytes:
      return with_prefix("B");
    case figure_unit::flops:
      return with_prefix("FLOP");
    case figure_unit::byte_rate:
      return with_prefix("B/s");
    case figure_unit::flop_rate:
      return with_prefix("FLOP/s");
    case figure_unit::intensity:
      return table::number(value) + " FLOP/B";
    case figure_unit::token_rate:
      return table::number(value) + " tokens/s";
  }
  return {};
}

}  // namespace v0
}  // namespace varve

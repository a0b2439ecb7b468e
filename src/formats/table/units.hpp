// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Numbers as people read them.
#ifndef VARVE_FORMATS_TABLE_UNITS_HPP
#define VARVE_FORMATS_TABLE_UNITS_HPP

#include <cstdint>
#include <string>
#include <string_view>

namespace varve::table {

/// A length in nanoseconds with three significant digits in ns, µs, ms or s, rounded half up: "1.23 ms".
std::string duration(std::int64_t ns);
std::string duration(double ns);

/// The same; nothing for 0.
std::string some_time(std::int64_t ns);
std::string some_time(double ns);

/// "12,345".
std::string count(std::int64_t n);
std::string count(double n);

/// "1 launch", "1,234 launches": `many` where it is not `one` and an s.
std::string counted(std::int64_t n, std::string_view one, std::string_view many = {});

/// Three significant digits: "0.0512", "1.24", "12.3", "1,234"; "<0.001" for less than that.
std::string number(double value);

/// `part` of `whole` in percent with one decimal and no sign: "12.3"; "<0.1" for less than that; "0" for
/// nothing.
std::string percent(double part, double whole);

/// Three significant digits in B, kB, MB, GB or TB (powers of 1000).
std::string bytes(double n);

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_UNITS_HPP

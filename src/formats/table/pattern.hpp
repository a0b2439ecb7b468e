// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_TABLE_PATTERN_HPP
#define VARVE_FORMATS_TABLE_PATTERN_HPP

#include <varve/report.hpp>

#include <functional>
#include <string>

namespace varve::table {

/// Whether table_options::layers finds a row by its label, or by its label and index. Throws
/// std::invalid_argument, which says what is wrong with the expression.
std::function<bool(const row&)> rows_named(const std::string& expression);

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_PATTERN_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CLI_REPORT_HPP
#define VARVE_CLI_REPORT_HPP

#include "cli/arguments.hpp"

namespace varve::cli {

/// varve report: returns the exit code, says on standard error what went wrong. Throws output_error.
int run(const report_arguments& asked);

/// The report of a file. Throws varve::error.
report read(const std::string& path, const report_arguments& asked);

/// How tables look in the output file or, where none is asked for, on a stream.
table_options table_of(const report_arguments& asked, int stream);

/// One line on standard error, with nothing in it that a terminal would obey.
void complain(std::string_view text);

}  // namespace varve::cli

#endif  // VARVE_CLI_REPORT_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CLI_CHECK_HPP
#define VARVE_CLI_CHECK_HPP

#include "cli/arguments.hpp"

namespace varve::cli {

/// varve check: holds a run against a budget, prints the entries worst first, returns the exit code. Throws
/// output_error alone: what else goes wrong is told, and is no exceeded budget.
int run(const check_arguments& asked);

}  // namespace varve::cli

#endif  // VARVE_CLI_CHECK_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CLI_BUDGET_HPP
#define VARVE_CLI_BUDGET_HPP

#include "cli/arguments.hpp"

namespace varve::cli {

/// varve budget: writes a first budget from a run, returns the exit code. Throws output_error.
int run(const budget_arguments& asked);

}  // namespace varve::cli

#endif  // VARVE_CLI_BUDGET_HPP

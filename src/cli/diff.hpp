// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CLI_DIFF_HPP
#define VARVE_CLI_DIFF_HPP

#include "cli/arguments.hpp"

namespace varve::cli {

/// varve diff: returns the exit code, says on standard error what went wrong. Throws output_error.
int run(const diff_arguments& asked);

}  // namespace varve::cli

#endif  // VARVE_CLI_DIFF_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CLI_RUN_HPP
#define VARVE_CLI_RUN_HPP

#include "cli/arguments.hpp"

namespace varve::cli {

/// varve run: runs the engine, prints what it was recorded to do, returns the exit code. Throws output_error.
int run(const run_arguments& asked);

}  // namespace varve::cli

#endif  // VARVE_CLI_RUN_HPP

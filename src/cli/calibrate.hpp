// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CLI_CALIBRATE_HPP
#define VARVE_CLI_CALIBRATE_HPP

#include "cli/arguments.hpp"

namespace varve::cli {

/// varve calibrate: measures what this machine's processor reaches, keeps it as ceilings, prints it, returns
/// the exit code. Throws output_error.
int run(const calibrate_arguments& asked);

}  // namespace varve::cli

#endif  // VARVE_CLI_CALIBRATE_HPP

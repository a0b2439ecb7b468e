// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CLI_DEVICES_HPP
#define VARVE_CLI_DEVICES_HPP

#include "cli/arguments.hpp"

#include <varve/device.hpp>

#include <string>

namespace varve::cli {

/// What --device names: a file (with a '/' or ending in ".json"), a row of the table, or what varve calibrate
/// kept under that name. Throws varve::error or std::invalid_argument.
ceilings device_named(const std::string& text);

/// varve devices: prints the table, or all that is known of one device; returns the exit code. Throws
/// output_error.
int run(const devices_arguments& asked);

}  // namespace varve::cli

#endif  // VARVE_CLI_DEVICES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// `varve predict`: what a model's pass takes at least.
#ifndef VARVE_CLI_PREDICT_HPP
#define VARVE_CLI_PREDICT_HPP

#include "cli/arguments.hpp"

namespace varve::cli {

/// The exit code.
int run(const predict_arguments& asked);

}  // namespace varve::cli

#endif  // VARVE_CLI_PREDICT_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Baselines: reports that the user keeps under a name, to compare others with.
#ifndef VARVE_CLI_BASELINES_HPP
#define VARVE_CLI_BASELINES_HPP

#include "cli/arguments.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace varve::cli {

/// Letters, digits, '-', '_' and '.', which is not the first; at most 100 of them.
bool is_baseline_name(std::string_view name) noexcept;

/// Where baselines are: `given`, else $XDG_DATA_HOME/varve/baselines, else ~/.local/share/varve/baselines.
/// Throws varve::error where neither variable is an absolute path.
std::string baselines_folder(const std::string& given);

/// The folder of a baseline's runs. Throws varve::error where there is none of this name, and lists the
/// others.
std::string baseline_named(const std::string& name, const std::string& folder);

/// The files of a run, or of all runs in a folder: those that end in .json or .json.gz, by name. Throws
/// varve::error where the folder has none, or too many.
std::vector<std::string> runs_in(const std::string& path);

/// varve baseline: returns the exit code. Throws output_error.
int run(const baseline_arguments& asked);

}  // namespace varve::cli

#endif  // VARVE_CLI_BASELINES_HPP

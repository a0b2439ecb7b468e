// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// varve calibrate-layers: a run that counts what the GPU does in layers, in place of timing it.
#ifndef VARVE_CLI_CALIBRATE_LAYERS_HPP
#define VARVE_CLI_CALIBRATE_LAYERS_HPP

#include <varve/session.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace varve::cli {

/// What a process that was to count has left.
struct counts_found {
  std::string counted;              ///< what, in one line; empty: nothing
  std::string missing;              ///< then why, and what to do
  std::vector<std::string> losses;  ///< what else was not counted
};

/// Of its trace, which read_pytorch() must be able to read.
counts_found counts_in(const std::filesystem::path& trace, const counter_options& asked);

/// How to go on with a file of counts.
std::string next_step(const std::string& file);

}  // namespace varve::cli

#endif  // VARVE_CLI_CALIBRATE_LAYERS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The engine as a child process.
#ifndef VARVE_CLI_ENGINE_HPP
#define VARVE_CLI_ENGINE_HPP

#include <sys/types.h>

#include <string>
#include <vector>

namespace varve::cli {

/// As shells use them.
inline constexpr int cannot_start = 126;
inline constexpr int not_found = 127;

struct engine_end {
  pid_t process = 0;
  int code = 0;         ///< 128 + the signal where one ended it
  int signal = 0;       ///< or 0
  int start_error = 0;  ///< errno where it did not start
};

/// Runs a program, sought in $PATH, with these variables ("NAME=value"), and waits for its end. SIGTERM and
/// SIGHUP, and SIGINT and SIGQUIT that do not come from a terminal, which tells the engine itself, are passed
/// on to it. Not thread safe.
engine_end run_engine(const std::vector<std::string>& command, const std::vector<std::string>& variables);

}  // namespace varve::cli

#endif  // VARVE_CLI_ENGINE_HPP

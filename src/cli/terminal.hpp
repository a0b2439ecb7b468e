// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CLI_TERMINAL_HPP
#define VARVE_CLI_TERMINAL_HPP

#include "cli/arguments.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace varve::cli {

/// Columns of a stream: the terminal's, else $COLUMNS, else 0 (no limit).
int terminal_width(int stream);

/// Whether a stream takes colours: a terminal that is not dumb, and no $NO_COLOR.
bool terminal_colours(int stream);

/// One line on standard error, if that is a terminal, once a file takes more than a second.
class progress {
 public:
  explicit progress(const std::string& file);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  /// Takes the line away.
  ~progress();
  void operator()(std::uint64_t done, std::uint64_t all);

 private:
  std::string file_;
  std::chrono::steady_clock::time_point next_;
  bool terminal_;
  bool shown_ = false;
};

}  // namespace varve::cli

#endif  // VARVE_CLI_TERMINAL_HPP

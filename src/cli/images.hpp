// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What injected programs left in the run's folder.
#ifndef VARVE_CLI_IMAGES_HPP
#define VARVE_CLI_IMAGES_HPP

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace varve::cli {

/// What a program left of one kind.
struct result {
  std::filesystem::path file;  ///< or empty
  bool whole = false;
};

/// A program that was injected, and what it left.
struct image {
  pid_t process = 0;
  int number = 0;
  std::string title;
  bool failed = false;  ///< to write all, and has said why
  result report;
  result trace;

  /// What tells most of it. A trace alone is there where the program had no memory for a report.
  [[nodiscard]] const result& best() const noexcept {
    return report.file.empty() || (trace.whole && !report.whole) ? trace : report;
  }
};

/// All of a run: the engine's own first, then by process and number.
std::vector<image> find_images(const std::filesystem::path& folder, pid_t engine);

}  // namespace varve::cli

#endif  // VARVE_CLI_IMAGES_HPP

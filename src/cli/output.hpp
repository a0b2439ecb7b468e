// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CLI_OUTPUT_HPP
#define VARVE_CLI_OUTPUT_HPP

#include <stdexcept>
#include <string>
#include <string_view>

namespace varve::cli {

/// The output cannot be written. Without a message when its reader has gone, which is nobody's fault.
class output_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes to standard output at once. Throws output_error.
void write_standard_output(std::string_view text);

/// The same to standard error.
void write_standard_error(std::string_view text);

/// Writes a file that only its owner may read. Throws output_error.
void write_file(const std::string& path, std::string_view text);

}  // namespace varve::cli

#endif  // VARVE_CLI_OUTPUT_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CLI_OUTPUT_HPP
#define VARVE_CLI_OUTPUT_HPP

#include <stdexcept>
#include <streambuf>
#include <string>
#include <string_view>

namespace varve::cli {

/// The output cannot be written. Without a message when its reader has gone, which is nobody's fault.
class output_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes at once and in full, without a buffer of its own. Throws output_error, through a stream too whose
/// exceptions() are std::ios::badbit.
class output : public std::streambuf {
 public:
  /// Standard output.
  output();
  /// A file that only its owner may read.
  explicit output(const std::string& path);
  output(const output&) = delete;
  output& operator=(const output&) = delete;
  ~output() override;

  void write(std::string_view text);
  /// Of a file; an error of the last writes may show only here.
  void close();

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int_type overflow(int_type c) override;

 private:
  std::string name_;
  int file_;
};

/// Writes to standard output at once. Throws output_error.
void write_standard_output(std::string_view text);

/// The same to standard error.
void write_standard_error(std::string_view text);

/// Writes a file that only its owner may read. Throws output_error.
void write_file(const std::string& path, std::string_view text);

}  // namespace varve::cli

#endif  // VARVE_CLI_OUTPUT_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Runs the tool as a process of its own.
#ifndef VARVE_TESTS_CLI_PROCESS_HPP
#define VARVE_TESTS_CLI_PROCESS_HPP

#include <string>
#include <vector>

namespace testing_support {

struct outcome {
  int code = -1;    ///< exit code, or −1 when a signal ended the process
  int signal = 0;   ///< that ended it
  std::string out;  ///< standard output
  std::string err;  ///< standard error; with a terminal both are in `out`
};

struct surroundings {
  std::vector<std::string> variables;  ///< "NAME=value", beside PATH alone, which they may set
  bool terminal = false;               ///< standard output and error are a terminal of 100 columns
  bool reader_gone = false;            ///< nobody reads standard output
  bool ignore_sigpipe = false;
  std::string output_file;  ///< standard output goes there
  std::string tool;         ///< a copy of varve; empty: itself
};

/// Runs varve with these arguments.
outcome run(const std::vector<std::string>& arguments, const surroundings& around = {});

/// A folder that is gone, with all in it, when the test is over.
class folder {
 public:
  folder();
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder();
  [[nodiscard]] std::string path(const std::string& name) const { return path_ + '/' + name; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

std::string content_of(const std::string& path);

}  // namespace testing_support

#endif  // VARVE_TESTS_CLI_PROCESS_HPP

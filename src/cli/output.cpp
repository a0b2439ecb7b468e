// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace varve::cli {

namespace {

[[noreturn]] void fail(const std::string& name, int number) {
  throw output_error{
      number == EPIPE ? "" : name + ": cannot be written: " + std::generic_category().message(number)};
}

void write_all(int file, const std::string& name, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(file, text.data(), text.size());
    if (n < 0 && errno != EINTR) {
      fail(name, errno);
    }
    text.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : 0);
  }
}

}  // namespace

void write_standard_output(std::string_view text) { write_all(STDOUT_FILENO, "standard output", text); }

void write_standard_error(std::string_view text) { write_all(STDERR_FILENO, "standard error", text); }

void write_file(const std::string& path, std::string_view text) {
  constexpr mode_t owner = S_IRUSR | S_IWUSR;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, owner);
  if (file < 0) {
    fail(path, errno);
  }
  try {
    // A file that was there before keeps its mode otherwise; a device has none to change.
    struct stat about {};
    if (::fstat(file, &about) != 0 || (S_ISREG(about.st_mode) && ::fchmod(file, owner) != 0)) {
      fail(path, errno);
    }
    write_all(file, path, text);
  } catch (...) {
    ::close(file);
    throw;
  }
  if (::close(file) != 0) {
    fail(path, errno);
  }
}

}  // namespace varve::cli

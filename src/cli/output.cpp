// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

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

output::output() : name_{"standard output"}, file_{STDOUT_FILENO} {}

output::output(const std::string& path) : name_{path} {
  constexpr mode_t owner = S_IRUSR | S_IWUSR;
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, owner);
  if (file_ < 0) {
    fail(path, errno);
  }
  // A file that was there before keeps its mode otherwise; a device has none to change.
  struct stat about {};
  if (::fstat(file_, &about) != 0 || (S_ISREG(about.st_mode) && ::fchmod(file_, owner) != 0)) {
    const int cause = errno;
    ::close(file_);
    fail(path, cause);
  }
}

output::~output() {
  if (file_ >= 0 && file_ != STDOUT_FILENO) {
    ::close(file_);
  }
}

void output::write(std::string_view text) { write_all(file_, name_, text); }

void output::close() {
  if (::close(std::exchange(file_, -1)) != 0) {
    fail(name_, errno);
  }
}

std::streamsize output::xsputn(const char* text, std::streamsize size) {
  write({text, static_cast<std::size_t>(size)});
  return size;
}

output::int_type output::overflow(int_type c) {
  const char one = traits_type::to_char_type(c);
  write({&one, 1});
  return c;
}

void write_standard_output(std::string_view text) { output{}.write(text); }

void write_standard_error(std::string_view text) { write_all(STDERR_FILENO, "standard error", text); }

void write_file(const std::string& path, std::string_view text) {
  output file{path};
  file.write(text);
  file.close();
}

}  // namespace varve::cli

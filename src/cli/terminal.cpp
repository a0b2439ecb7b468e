// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/terminal.hpp"

#include "formats/table/text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace varve::cli {

namespace {

constexpr std::chrono::milliseconds patience{1000};
constexpr std::chrono::milliseconds interval{100};

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

int terminal_width(int stream) {
  constexpr int usual = 80;
  const bool terminal = ::isatty(stream) == 1;
  winsize size{};
  if (terminal && ::ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  const std::string text{variable("COLUMNS")};
  const long columns = std::strtol(text.c_str(), nullptr, 10);
  if (columns > 0 && columns <= 100000) {
    return static_cast<int>(columns);
  }
  return terminal ? usual : 0;
}

bool terminal_colours(int stream) {
  return ::isatty(stream) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

progress::progress(const std::string& file)
    : file_{table::printable(file)},
      next_{std::chrono::steady_clock::now() + patience},
      terminal_{::isatty(STDERR_FILENO) == 1} {}

progress::~progress() {
  if (shown_) {
    std::fputs("\r\x1b[K", stderr);
  }
}

void progress::operator()(std::uint64_t done, std::uint64_t all) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now < next_) {
    return;
  }
  next_ = now + interval;
  shown_ = true;
  const auto percent = all > 0 ? 100.0 * static_cast<double>(done) / static_cast<double>(all) : 0.0;
  std::fprintf(stderr, "\r\x1b[Kreading %s: %.0f %%", table::shortened(file_, 60).c_str(), percent);
  std::fflush(stderr);
}

}  // namespace varve::cli

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Sessions for C: started and stopped by functions, the report left in a file.
#include <varve/report.hpp>
#include <varve/session.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

namespace {

struct c_session {
  std::mutex mutex;
  std::unique_ptr<varve::session> running;
};

c_session& the_session() noexcept {
  static auto* const leaked = new c_session;
  return *leaked;
}

int fail(char* why, std::size_t size, std::string_view message) noexcept {
  if (why != nullptr && size > 0) {
    const std::size_t length = std::min(size - 1, message.size());
    std::memcpy(why, message.data(), length);
    why[length] = '\0';
  }
  return -1;
}

/// Empty, or what went wrong.
std::string write_file(const char* path, const std::string& text) {
  const bool to_stdout = std::strcmp(path, "-") == 0;
  const int file = to_stdout ? STDOUT_FILENO : ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) {
    return std::string{path} + ": cannot be written: " + std::strerror(errno);
  }
  std::string error;
  for (std::size_t done = 0; done < text.size() && error.empty();) {
    const ssize_t n = ::write(file, text.data() + done, text.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      error = std::string{path} + ": cannot be written: " + std::strerror(errno);
    }
  }
  if (!to_stdout && ::close(file) != 0 && error.empty()) {
    error = std::string{path} + ": cannot be written: " + std::strerror(errno);
  }
  return error;
}

}  // namespace

extern "C" {

int varve_session_start(char* why, size_t size) noexcept {
  c_session& s = the_session();
  const std::lock_guard lock{s.mutex};
  if (s.running != nullptr) {
    return fail(why, size, "a session is running already: call varve_session_stop() first");
  }
  try {
    s.running = std::make_unique<varve::session>();
    if (!*s.running) {
      const std::string error = s.running->status().error;
      s.running.reset();
      return fail(why, size, error);
    }
    return 0;
  } catch (const std::exception& e) {
    s.running.reset();
    return fail(why, size, e.what());
  }
}

int varve_session_stop(const char* path, char* why, size_t size) noexcept {
  c_session& s = the_session();
  const std::lock_guard lock{s.mutex};
  if (s.running == nullptr) {
    return fail(why, size, "no session is running: call varve_session_start() first");
  }
  if (path == nullptr) {
    return fail(why, size, "no file given: pass a path, or \"-\" for standard output");
  }
  try {
    const varve::trace t = s.running->stop();
    s.running.reset();
    const std::string error = write_file(path, varve::to_table(varve::analyze(t)));
    return error.empty() ? 0 : fail(why, size, error);
  } catch (const std::exception& e) {
    s.running.reset();
    return fail(why, size, e.what());
  }
}

}  // extern "C"

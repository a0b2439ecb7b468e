// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Sessions for C: started and stopped by functions, the report left in a file.
#include <varve/report.hpp>
#include <varve/session.hpp>

#include <fcntl.h>
#include <sys/stat.h>
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

std::string cannot_write(const char* path) {
  return std::string{path} + ": cannot be written: " + std::strerror(errno);
}

/// The report's file, open for writing and readable by its owner alone. -1 and errno when it cannot be.
int open_file(const char* path) {
  const int file = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  struct stat about {};
  if (file >= 0 && ::fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
    static_cast<void>(::fchmod(file, 0600));  // also where it was there before
    static_cast<void>(::ftruncate(file, 0));
  }
  return file;
}

/// Writes and, but for standard output, closes. Empty, or what went wrong.
std::string write_file(int file, const char* path, const std::string& text) {
  std::string error;
  for (std::size_t done = 0; done < text.size() && error.empty();) {
    const ssize_t n = ::write(file, text.data() + done, text.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      error = cannot_write(path);
    }
  }
  if (file != STDOUT_FILENO && ::close(file) != 0 && error.empty()) {
    error = cannot_write(path);
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
    const int file = std::strcmp(path, "-") == 0 ? STDOUT_FILENO : open_file(path);
    if (file < 0) {
      return fail(why, size, cannot_write(path) + "; the session still runs");
    }
    const varve::trace t = s.running->stop();
    s.running.reset();
    const std::string error = write_file(file, path, varve::to_table(varve::analyze(t)));
    return error.empty() ? 0 : fail(why, size, error);
  } catch (const std::exception& e) {
    s.running.reset();
    return fail(why, size, e.what());
  }
}

}  // extern "C"

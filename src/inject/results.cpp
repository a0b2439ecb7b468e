// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/results.hpp"

#include "inject/variables.hpp"

#include <varve/io.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cfenv>
#include <cstdio>
#include <new>
#include <ostream>
#include <streambuf>
#include <string_view>
#include <system_error>
#include <utility>

namespace varve::inject {

namespace {

[[noreturn]] void fail(const std::string& path) {
  throw error{path + ": cannot be written: " + std::generic_category().message(errno)};
}

/// Has its name once finish() is called.
class result_file : public std::streambuf {
 public:
  explicit result_file(std::string path) : path_{std::move(path)} {
    file_ = ::open(part().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file_ < 0) {
      fail(path_);
    }
  }
  result_file(const result_file&) = delete;
  result_file& operator=(const result_file&) = delete;
  ~result_file() override {
    if (file_ >= 0) {
      ::close(file_);
      ::unlink(part().c_str());
    }
  }
  void finish() {
    const int closed = ::close(std::exchange(file_, -1));
    if (closed != 0 || ::rename(part().c_str(), path_.c_str()) != 0) {
      const int cause = errno;
      ::unlink(part().c_str());
      errno = cause;
      fail(path_);
    }
  }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    for (std::streamsize done = 0; done < size;) {
      const ssize_t n = ::write(file_, text + done, static_cast<std::size_t>(size - done));
      if (n < 0 && errno != EINTR) {
        fail(path_);
      }
      done += n > 0 ? n : 0;
    }
    return size;
  }

 private:
  [[nodiscard]] std::string part() const { return path_ + ".part"; }

  std::string path_;
  int file_ = -1;
};

template <class Write>
void write_file(std::string path, Write write) {
  result_file file{std::move(path)};
  std::ostream out{&file};
  out.exceptions(std::ios::badbit);  // lets the file's own error through
  write(out);
  file.finish();
}

/// Engines may have their threads trap divisions by zero, round elsewhere, or flush small numbers.
class usual_arithmetic {
 public:
  usual_arithmetic() noexcept {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  usual_arithmetic(const usual_arithmetic&) = delete;
  usual_arithmetic& operator=(const usual_arithmetic&) = delete;
  ~usual_arithmetic() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_{};
};

}  // namespace

results::results(const settings& asked)
    : analysis_{asked.analysis}, description_{asked.description}, traced_{asked.traced} {
  for (int number = 0; number < 10000; ++number) {
    base_ = asked.folder + '/' + std::to_string(::getpid()) + '.' + std::to_string(number);
    const int file = ::open(base_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
      const std::string text = claim_good + std::string{program_invocation_short_name};
      const bool good = ::write(file, text.data(), text.size()) >= 0;
      ::close(file);
      if (good) {
        return;
      }
    } else if (errno != EEXIST) {
      break;
    }
  }
  fail(asked.folder);
}

bool results::write(trace&& t, stage at) noexcept {
  const usual_arithmetic ours;
  bool disk = false;
  const bool reported = write_report(t, at, disk);
  const bool traced = (traced_ || (!reported && !disk)) && write_trace(t, at);
  if (traced && !reported) {  // of older records
    remove(stage::snapshot, report_suffix);
    remove(stage::last, report_suffix);
  }
  if (!reported && !traced && at == stage::last) {
    mark_failed();
  }
  return reported || traced;
}

std::string results::name_of(stage at, const char* suffix) const {
  return base_ + (at == stage::snapshot ? snapshot_infix : "") + suffix;
}

bool results::write_report(trace& t, stage at, bool& disk) noexcept {
  try {
    if (description_) {
      describe(t, description_->of, description_->how);
    }
    const report r = analyze(t, analysis_);
    write_file(name_of(at, report_suffix), [&](std::ostream& out) { write_json(out, r); });
    remove(at == stage::last ? stage::snapshot : stage::last, report_suffix);
    return true;
  } catch (const error& e) {
    disk = true;
    complain(e.what());
  } catch (const std::bad_alloc&) {
    if (!std::exchange(told_memory_, true)) {
      say(log_level::warning,
          "no memory for a report in the engine's process: its records are written, to be read when it has "
          "ended");
    }
  } catch (const std::exception& e) {
    complain(e.what());
  }
  return false;
}

bool results::write_trace(const trace& t, stage at) noexcept {
  try {
    write_file(name_of(at, trace_suffix), [&](std::ostream& out) { write_chrome_trace(t, out); });
    remove(at == stage::last ? stage::snapshot : stage::last, trace_suffix);
    return true;
  } catch (const std::exception& e) {
    complain(e.what());
  }
  return false;
}

void results::remove(stage at, const char* suffix) noexcept {
  try {
    ::unlink(name_of(at, suffix).c_str());
  } catch (...) {
    // an older file stays; the tool prefers the last ones
  }
}

void results::complain(const char* what) noexcept {
  if (!std::exchange(complained_, true)) {
    say(log_level::error, what);
  }
}

/// In place, for which a full disk has room.
void results::mark_failed() const noexcept {
  const int file = ::open(base_.c_str(), O_WRONLY | O_CLOEXEC);
  if (file >= 0) {
    static_cast<void>(::pwrite(file, &claim_failed, 1, 0) == 1);
    ::close(file);
  }
}

}  // namespace varve::inject

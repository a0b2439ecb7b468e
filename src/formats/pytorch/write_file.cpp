// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A trace into a file that is whole or not there.
#include "formats/input/input.hpp"

#include <varve/io.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <streambuf>
#include <system_error>

namespace varve {
inline namespace v0 {

namespace {

class output_file : public std::streambuf {
 public:
  /// A file beside `path` until finish(); `path` itself where that is a device or pipe.
  explicit output_file(std::string path) : path_{std::move(path)} {
    struct stat about {};
    const bool there = ::stat(path_.c_str(), &about) == 0;
    if (there && !S_ISREG(about.st_mode)) {
      file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
      target_ = path_;
      if (there) {  // what a link leads to is replaced, not the link
        const std::unique_ptr<char, void (*)(void*)> real{::realpath(path_.c_str(), nullptr), std::free};
        target_ = real ? real.get() : path_;
      }
      beside_ = target_ + ".XXXXXX";
      file_ = ::mkostemp(beside_.data(), O_CLOEXEC);  // only its owner may read it
    }
    if (file_ < 0) {
      beside_.clear();
      fail();
    }
  }
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file() override {
    if (file_ >= 0) {
      ::close(file_);
    }
    if (!beside_.empty()) {
      ::unlink(beside_.c_str());
    }
  }

  void finish() {
    const int file = file_;
    file_ = -1;
    if (::close(file) != 0 || (!beside_.empty() && ::rename(beside_.c_str(), target_.c_str()) != 0)) {
      fail();
    }
    beside_.clear();
  }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    for (std::streamsize done = 0; done < size;) {
      const ssize_t n = ::write(file_, text + done, static_cast<std::size_t>(size - done));
      if (n < 0 && errno != EINTR) {
        fail();
      }
      done += n > 0 ? n : 0;
    }
    return size;
  }

 private:
  [[noreturn]] void fail() const {
    input::fail(path_, "cannot be written: " + std::generic_category().message(errno));
  }

  std::string path_;
  std::string target_;
  std::string beside_;
  int file_ = -1;
};

}  // namespace

void write_chrome_trace(const trace& t, const std::string& path) {
  output_file file{path};
  std::ostream out{&file};
  out.exceptions(std::ios::badbit);  // lets the file's own error through
  write_chrome_trace(t, out);
  file.finish();
}

}  // namespace v0
}  // namespace varve

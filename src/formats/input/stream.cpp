// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/input/input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

namespace varve {
inline namespace v0 {
namespace input {

namespace {

constexpr unsigned char gzip_magic[2] = {0x1F, 0x8B};

std::string reason(int number) { return std::generic_category().message(number); }

struct descriptor {
  int number = -1;
  descriptor() = default;
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number >= 0) {
      ::close(number);
    }
  }
};

}  // namespace

void fail(const std::string& path, const std::string& cause) { throw error{path + ": " + cause}; }

void fail(const content& file, std::uint64_t byte, const std::string& cause) {
  fail(file.path, "byte " + std::to_string(byte) + (file.packed ? " of the unpacked text: " : ": ") + cause);
}

struct stream::state {
  std::string path;
  descriptor file;
  std::uint64_t file_size = 0;
  std::uint64_t fetched = 0;  // from the file into `chunk`
  std::array<unsigned char, std::size_t{256} << 10U> chunk;
  unsigned char* next = nullptr;  // first byte of the chunk not yet used
  std::size_t left = 0;           // bytes of the chunk not yet used
  bool packed = false;
  bool in_member = false;  // of gzip
  z_stream inflater{};

  [[nodiscard]] std::uint64_t place() const noexcept { return fetched - left; }

  [[nodiscard]] std::string message_here(const std::string& cause) const {
    return path + ": byte " + std::to_string(place()) + ": " + cause;
  }
  [[noreturn]] void fail_here(const std::string& cause) const { throw error{message_here(cause)}; }

  std::size_t fetch(void* to, std::size_t size) {
    for (;;) {
      const ssize_t got = ::read(file.number, to, size);
      if (got >= 0) {
        fetched += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) {
        fail_here("cannot be read: " + reason(errno));
      }
    }
  }

  /// False at the end of the file.
  bool refill() {
    if (left == 0) {
      next = chunk.data();
      left = fetch(chunk.data(), chunk.size());
    }
    return left > 0;
  }

  std::size_t copy(char* to, std::size_t size) {
    if (left == 0) {
      return fetch(to, size);
    }
    const std::size_t n = std::min(size, left);
    std::copy_n(next, n, to);
    next += n;
    left -= n;
    return n;
  }

  std::size_t unpack(char* to, std::size_t size) {
    size = std::min<std::size_t>(size, std::numeric_limits<uInt>::max());
    inflater.next_out = reinterpret_cast<unsigned char*>(to);
    inflater.avail_out = static_cast<uInt>(size);
    while (inflater.avail_out == size) {
      if (!refill()) {
        if (in_member) {
          throw cut_off{
              message_here("unexpected end of gzip stream: the file is incomplete; copy or record it again")};
        }
        return 0;
      }
      if (!in_member && *next != gzip_magic[0]) {
        fail_here("bytes after the end of the gzip stream; cut the file here or copy it again");
      }
      in_member = true;
      inflater.next_in = next;
      inflater.avail_in = static_cast<uInt>(left);
      const int result = inflate(&inflater, Z_NO_FLUSH);
      next += left - inflater.avail_in;
      left = inflater.avail_in;
      if (result == Z_STREAM_END) {
        in_member = false;
        inflateReset(&inflater);
      } else if (result == Z_MEM_ERROR) {
        throw std::bad_alloc{};
      } else if (result != Z_OK && inflater.avail_out == size) {  // else: once what came before is read
        fail_here(std::string{"damaged gzip stream ("} +
                  (inflater.msg != nullptr ? inflater.msg : "unknown cause") + "); copy or record it again");
      }
    }
    return size - inflater.avail_out;
  }
};

stream::stream(std::string path) : state_{std::make_unique<state>()} {
  state& s = *state_;
  s.path = std::move(path);
  // Not blocking, so that a pipe without a writer is refused below and not waited for.
  s.file.number = ::open(s.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat about {};
  if (s.file.number < 0 || ::fstat(s.file.number, &about) != 0) {
    fail(s.path, "cannot be opened: " + reason(errno) + "; check the path and its permissions");
  }
  if (S_ISDIR(about.st_mode)) {
    fail(s.path, "is a directory; name one file in it");
  }
  if (!S_ISREG(about.st_mode)) {
    fail(s.path, "is not a regular file; save the stream to a file first");
  }
  s.file_size = static_cast<std::uint64_t>(about.st_size);
  s.refill();
  s.packed = s.left >= 2 && s.next[0] == gzip_magic[0] && s.next[1] == gzip_magic[1];
  // 15 bits of window and 16 for "gzip header and trailer", as zlib.h says.
  if (s.packed && inflateInit2(&s.inflater, 15 + 16) != Z_OK) {
    throw std::bad_alloc{};
  }
}

stream::~stream() {
  if (state_->packed) {
    inflateEnd(&state_->inflater);
  }
}

std::size_t stream::read(char* to, std::size_t size) {
  return size == 0 ? 0 : state_->packed ? state_->unpack(to, size) : state_->copy(to, size);
}

const std::string& stream::path() const noexcept { return state_->path; }
bool stream::packed() const noexcept { return state_->packed; }
std::uint64_t stream::file_size() const noexcept { return state_->file_size; }
std::uint64_t stream::consumed() const noexcept { return state_->place(); }

}  // namespace input
}  // namespace v0
}  // namespace varve

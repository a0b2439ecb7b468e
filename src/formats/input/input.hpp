// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What all readers share: the bytes of a file, plain or gzip, within limits. Not thread safe; each reader
// has its own.
#ifndef VARVE_FORMATS_INPUT_HPP
#define VARVE_FORMATS_INPUT_HPP

#include <varve/io.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace input {

/// Bytes that only grow, followed by `padding` more that a parser may read (their values mean nothing).
class buffer {
 public:
  static constexpr std::size_t padding = 64;

  /// Makes room for `capacity` bytes and the padding; keeps what is there. Throws std::bad_alloc.
  void reserve(std::size_t capacity);
  void set_size(std::size_t size) noexcept { size_ = size; }
  [[nodiscard]] char* data() noexcept { return bytes_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.get(), size_}; }

 private:
  struct release {
    void operator()(char* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<char, release> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// A gzip stream that ends early: what came before has been read.
class cut_off : public error {
 public:
  using error::error;
};

/// A file's bytes in order, unpacked on the way when they are gzip (one member or several).
class stream {
 public:
  /// Opens a regular file. Throws varve::error that names the cause.
  explicit stream(std::string path);
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream();

  /// Up to `size` further bytes into `to`; 0 at the end. Throws varve::error where the file is damaged
  /// (cut_off where it ends early).
  std::size_t read(char* to, std::size_t size);

  [[nodiscard]] const std::string& path() const noexcept;
  [[nodiscard]] bool packed() const noexcept;
  [[nodiscard]] std::uint64_t file_size() const noexcept;  ///< as it was when opened
  [[nodiscard]] std::uint64_t consumed() const noexcept;   ///< bytes of the file read so far

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A whole file.
struct content {
  std::string path;
  buffer bytes;                 ///< unpacked
  bool packed = false;          ///< was gzip, so places in `bytes` are not places in the file
  std::uint64_t file_size = 0;  ///< bytes of the file itself
  std::string cut_off;          ///< that, and where, a gzip stream ends early; empty when it doesn't
};

/// How a reader takes a file.
struct manner {
  double share = 1.0;  ///< reading's part of all progress; the caller reports the rest, up to file_size
  std::uint64_t longest = ~std::uint64_t{0};  ///< bytes, unpacked, that the reader can take in at all
  bool takes_cut_off = false;                 ///< a gzip stream that ends early is read as far as it goes
};

/// Reads all of a file. Throws varve::error: no such file, not a regular file, no permission, empty, damaged,
/// or more bytes than options.max_unpacked or `how.longest`.
[[nodiscard]] content read(const std::string& path, const read_options& options, const manner& how = {});

/// The first bytes of a file, at most `size`, as far as they can be had. Throws varve::error when the file
/// cannot be opened.
[[nodiscard]] std::string head(const std::string& path, std::size_t size);

/// Throws varve::error "path: cause".
[[noreturn]] void fail(const std::string& path, const std::string& cause);
/// Throws varve::error "path: byte N: cause", or "path: byte N of the unpacked text: cause".
[[noreturn]] void fail(const content& file, std::uint64_t byte, const std::string& cause);

}  // namespace input
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_INPUT_HPP

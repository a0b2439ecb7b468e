// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A long JSON text read piece by piece, through memory that is used again and stays in the cache.
#ifndef VARVE_FORMATS_INPUT_WINDOW_HPP
#define VARVE_FORMATS_INPUT_WINDOW_HPP

#include "formats/input/input.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace input {

/// Where a list of objects can be cut: after an object that a comma and another object follow.
struct seam {
  std::size_t end = 0;   ///< of the one
  std::size_t next = 0;  ///< begin of the other
};

/// The last seam of a JSON text, never inside a string: from the brace before it to the quote after it there
/// is no other quote, and that quote opens a string, since a letter follows.
[[nodiscard]] std::optional<seam> last_seam(std::string_view text) noexcept;

/// The part of a file's text that is in memory.
class window {
 public:
  static constexpr std::size_t usual = std::size_t{1}
                                       << 20U;  ///< bytes: more than an event, less than a cache
  static constexpr std::size_t headroom = 16;   ///< longest `before` of piece()

  /// Reads at most `longest` bytes in all.
  window(stream& file, std::uint64_t longest);

  /// Reads until the window is full or the file ends. False when the file is longer than it may be. Throws
  /// varve::error as the stream does.
  bool fill();
  /// The next fill() will get twice as much.
  void grow() { text_.reserve(2 * text_.capacity()); }
  [[nodiscard]] bool at_end() const noexcept { return at_end_; }
  /// How much of the file is read, from 0 to 1.
  [[nodiscard]] double part() const noexcept {
    return static_cast<double>(file_.consumed()) / static_cast<double>(file_.file_size());
  }
  [[nodiscard]] std::string_view text() const noexcept { return text_.view().substr(headroom); }

  /// `before`, then the first `size` bytes of the text, then `after` (at most 2 bytes), followed by
  /// buffer::padding bytes more; until the window changes.
  [[nodiscard]] std::string_view piece(std::string_view before, std::size_t size, std::string_view after);
  /// The text begins `size` bytes later.
  void drop(std::size_t size) noexcept;

 private:
  void restore() noexcept;

  stream& file_;
  std::uint64_t left_;  // bytes that may still be read
  buffer text_;
  std::size_t changed_at_ = 0;  // by piece()
  char changed_[2] = {};        // … and what stood there
  bool at_end_ = false;
};

}  // namespace input
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_INPUT_WINDOW_HPP

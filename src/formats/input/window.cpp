// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/input/window.hpp"

#include <algorithm>
#include <cstring>

namespace varve {
inline namespace v0 {
namespace input {

namespace {

constexpr std::string_view space = " \t\r\n";

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::optional<seam> last_seam(std::string_view text) noexcept {
  for (std::size_t next = text.rfind('{'); next != std::string_view::npos && next > 0;
       next = text.rfind('{', next - 1)) {
    const std::size_t quote = text.find_first_not_of(space, next + 1);
    if (quote == std::string_view::npos || quote + 1 >= text.size() || text[quote] != '"' ||
        !is_letter(text[quote + 1])) {
      continue;
    }
    const std::size_t comma = text.find_last_not_of(space, next - 1);
    if (comma == std::string_view::npos || comma == 0 || text[comma] != ',') {
      continue;
    }
    const std::size_t end = text.find_last_not_of(space, comma - 1);
    if (end != std::string_view::npos && text[end] == '}') {
      return seam{end + 1, next};
    }
  }
  return std::nullopt;
}

window::window(stream& file, std::uint64_t longest) : file_{file}, left_{longest} {
  text_.reserve(headroom + usual + sizeof changed_);
  text_.set_size(headroom);
}

bool window::fill() {
  restore();
  while (text_.size() + sizeof changed_ < text_.capacity()) {
    // One byte more than may be tells whether the file is longer.
    const std::uint64_t room = text_.capacity() - text_.size() - sizeof changed_;
    const std::uint64_t most = left_ == ~std::uint64_t{0} ? room : std::min(room, left_ + 1);
    const std::size_t got = file_.read(text_.data() + text_.size(), static_cast<std::size_t>(most));
    if (got == 0) {
      at_end_ = true;
      return true;
    }
    if (got > left_) {
      return false;
    }
    left_ -= got;
    text_.set_size(text_.size() + got);
  }
  return true;
}

std::string_view window::piece(std::string_view before, std::size_t size, std::string_view after) {
  restore();
  char* const begin = text_.data() + headroom - before.size();
  std::copy(before.begin(), before.end(), begin);  // an empty one may have no address
  changed_at_ = headroom + size;
  std::memcpy(changed_, text_.data() + changed_at_, sizeof changed_);
  std::memcpy(text_.data() + changed_at_, after.data(), after.size());
  return {begin, before.size() + size + after.size()};
}

void window::drop(std::size_t size) noexcept {
  restore();
  const std::size_t left = text_.size() - headroom - size;
  std::memmove(text_.data() + headroom, text_.data() + headroom + size, left);
  text_.set_size(headroom + left);
}

void window::restore() noexcept {
  if (changed_at_ != 0) {
    std::memcpy(text_.data() + changed_at_, changed_, sizeof changed_);
    changed_at_ = 0;
  }
}

}  // namespace input
}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Members and elements of a small JSON text as raw tokens. Nothing recurses, and nothing is believed: where
// the text is no such object or array the walk ends.
#ifndef VARVE_FORMATS_PYTORCH_OWN_SCAN_HPP
#define VARVE_FORMATS_PYTORCH_OWN_SCAN_HPP

#include <cstddef>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace pytorch {
namespace own {

class scanner {
 public:
  explicit scanner(std::string_view text) noexcept : text_{text} {}

  /// Whether `c` comes next, which is then behind.
  bool take(char c) noexcept {
    space();
    if (at_ >= text_.size() || text_[at_] != c) {
      return false;
    }
    ++at_;
    return true;
  }
  /// The next value: a string with its quotes, an object or array with all that is in it, a number or word.
  /// Empty where there is none.
  std::string_view value() noexcept {
    space();
    const std::size_t first = at_;
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        string();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        if (depth == 0) {
          break;
        }
        --depth;
        ++at_;
      } else if (depth == 0) {
        word();
      } else {
        ++at_;
      }
      if (depth == 0) {
        break;
      }
    }
    return text_.substr(first, at_ - first);
  }

 private:
  static bool is_space(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  void space() noexcept {
    while (at_ < text_.size() && is_space(text_[at_])) {
      ++at_;
    }
  }
  void string() noexcept {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      at_ += text_[at_] == '\\' ? 1U : 0U;
    }
    at_ = at_ < text_.size() ? at_ + 1 : text_.size();
  }
  void word() noexcept {
    while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != ',' && text_[at_] != '}' &&
           text_[at_] != ']' && text_[at_] != ':' && text_[at_] != '"') {
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Calls f(key, value) for each member; keys without their quotes, as they stand.
template <class F>
void each_member(std::string_view object, const F& f) {
  scanner s{object};
  if (!s.take('{')) {
    return;
  }
  do {
    const std::string_view key = s.value();
    if (key.size() < 2 || key.front() != '"' || !s.take(':')) {
      return;
    }
    const std::string_view value = s.value();
    if (value.empty()) {
      return;
    }
    f(key.substr(1, key.size() - 2), value);
  } while (s.take(','));
}

/// Calls f(value) for each element.
template <class F>
void each_element(std::string_view array, const F& f) {
  scanner s{array};
  if (!s.take('[')) {
    return;
  }
  do {
    const std::string_view value = s.value();
    if (value.empty()) {
      return;
    }
    f(value);
  } while (s.take(','));
}

}  // namespace own
}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_OWN_SCAN_HPP

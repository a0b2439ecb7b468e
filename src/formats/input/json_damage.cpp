// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/input/json_damage.hpp"

#include <utility>

namespace varve {
inline namespace v0 {
namespace input {

namespace {

class scanner {
 public:
  explicit scanner(std::string_view text) : text_{text} {}

  std::optional<damage> run() {
    while (!found_) {
      skip_space();
      if (at_ == text_.size()) {
        if (!done()) {
          incomplete(open_.empty() ? "holds no JSON" : "the JSON ends here with " + brackets() + " open");
        }
        break;
      }
      step();
    }
    return std::move(found_);
  }

 private:
  enum class want { value, value_or_close, key, key_or_close, comma_or_close };

  [[nodiscard]] bool done() const { return open_.empty() && want_ == want::comma_or_close; }
  [[nodiscard]] std::string brackets() const {
    return std::to_string(open_.size()) + (open_.size() == 1 ? " bracket" : " brackets");
  }

  void damaged(std::string cause) { found_ = damage{at_, std::move(cause)}; }
  void incomplete(const std::string& cause) {
    damaged(cause +
            ": the file is incomplete; copy it again, or record again and let the profiler finish writing");
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  void step() {
    const char c = text_[at_];
    const bool closes = c == ']' || c == '}';
    if (done()) {
      damaged("text after the end of the JSON; cut the file here or record it again");
    } else if (closes) {
      const bool may = want_ != want::value && want_ != want::key && !open_.empty();
      if (!may || open_.back() != (c == ']' ? '[' : '{')) {
        damaged(std::string{"unexpected '"} + c + "'");
        return;
      }
      open_.pop_back();
      ++at_;
      want_ = want::comma_or_close;
    } else if (want_ == want::comma_or_close) {
      if (c != ',') {
        damaged(std::string{"expected ',' or '"} + (open_.back() == '[' ? ']' : '}') + "'");
        return;
      }
      ++at_;
      want_ = open_.back() == '[' ? want::value : want::key;
    } else if (want_ == want::key || want_ == want::key_or_close) {
      key();
    } else {
      value(c);
    }
  }

  void key() {
    if (text_[at_] != '"') {
      damaged("expected a key in quotes");
      return;
    }
    string();
    skip_space();
    if (!found_ && at_ < text_.size()) {
      if (text_[at_] != ':') {
        damaged("expected ':'");
        return;
      }
      ++at_;
    }
    want_ = want::value;
  }

  void value(char c) {
    want_ = want::comma_or_close;
    if (c == '[' || c == '{') {
      open_ += c;
      ++at_;
      want_ = c == '[' ? want::value_or_close : want::key_or_close;
    } else if (c == '"') {
      string();
    } else {
      const std::size_t end = std::min(text_.find_first_of(" \t\r\n,:]}[{\"", at_), text_.size());
      const std::string_view word = text_.substr(at_, end - at_);
      const bool number = (c == '-' || (c >= '0' && c <= '9')) &&
                          word.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
      const bool known = number || word == "true" || word == "false" || word == "null" || word == "NaN" ||
                         word == "Infinity";
      const bool cut_off = end == text_.size() && !open_.empty();
      if (!known && !cut_off) {
        damaged("expected a value");
        return;
      }
      at_ = end;
    }
  }

  void string() {
    const std::size_t begin = at_;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      at_ += text_[at_] == '\\' ? 1U : 0U;
    }
    if (at_ >= text_.size()) {
      at_ = text_.size();
      incomplete("the JSON ends here inside the string that begins at byte " + std::to_string(begin));
      return;
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  want want_ = want::value;
  std::string open_;  // the brackets that are
  std::optional<damage> found_;
};

}  // namespace

std::optional<damage> find_damage(std::string_view text) { return scanner{text}.run(); }

}  // namespace input
}  // namespace v0
}  // namespace varve

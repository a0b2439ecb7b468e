// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/input/json_damage.hpp"

#include "formats/input/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace varve {
inline namespace v0 {
namespace input {

namespace {

/// nan, inf, Infinity, -nan(ind): no JSON, but what programs have written where a number has no value.
bool is_no_number(std::string_view word) noexcept {
  std::string lower{word.substr(0, 16)};
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  lower.erase(0, lower.find_first_not_of("+-"));
  return lower.compare(0, 3, "nan") == 0 || lower == "inf" || lower == "infinity";
}

/// What is wrong with a number that is made of its characters alone; empty where nothing is.
std::string wrong_number(std::string_view word) {
  const std::string_view digits = word.substr(word.front() == '-' ? 1 : 0);
  const bool zeros = digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
  const char* const last = word.data() + word.size();
  double value = 0;
  const auto read = std::from_chars(word.data(), last, value);
  if (zeros || digits.empty() || digits.back() == '.' || read.ptr != last) {
    return "is no number";
  }
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) {
    const bool tiny =
        word.find_first_of("eE") != std::string_view::npos && word.find('-', 1) != std::string_view::npos;
    return read.ec == std::errc{} || tiny ? "" : "is beyond the range of numbers";
  }
  std::int64_t with_sign = 0;
  std::uint64_t without = 0;
  return std::from_chars(word.data(), last, with_sign).ec == std::errc{} ||
                 std::from_chars(word.data(), last, without).ec == std::errc{}
             ? ""
             : "is beyond 64 bits";
}

class scanner {
 public:
  explicit scanner(std::string_view text) : text_{text} {}
  /// Mends `text` on its way.
  scanner(buffer& text, mended& done) : text_{text.view()}, writable_{&text}, done_{&done} {}

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
    if (early_ && done_ != nullptr && events_ > 0) {
      cut_away();
      found_.reset();
    }
    return std::move(found_);
  }

 private:
  enum class want { value, next_value, value_or_close, key, key_or_close, comma_or_close };

  [[nodiscard]] bool done() const { return open_.empty() && want_ == want::comma_or_close; }
  [[nodiscard]] std::string brackets() const {
    return std::to_string(open_.size()) + (open_.size() == 1 ? " bracket" : " brackets");
  }

  void damaged(std::string cause) { found_ = damage{at_, std::move(cause)}; }
  void incomplete(const std::string& cause) {
    early_ = true;
    damaged(cause +
            ": the file is incomplete; copy it again, or record again and let the profiler finish writing");
  }

  [[nodiscard]] bool is_byte_order_mark() const {
    return text_.substr(0, 3) == "\xEF\xBB\xBF" || text_.substr(0, 2) == "\xFF\xFE" ||
           text_.substr(0, 2) == "\xFE\xFF";
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  void step() {
    const char c = text_[at_];
    const bool closes = c == ']' || c == '}';
    if (at_ == 0 && is_byte_order_mark()) {
      damaged("a byte-order mark stands before the JSON; save the file as UTF-8 without one");
    } else if (done()) {
      damaged("text after the end of the JSON; cut the file here or record it again");
    } else if (closes) {
      const bool extra = want_ == want::next_value || want_ == want::key;  // a comma before
      const bool may = want_ != want::value && !(extra && done_ == nullptr) && !open_.empty();
      if (!may || open_.back() != (c == ']' ? '[' : '{')) {
        damaged(std::string{"unexpected '"} + c + "'");
        return;
      }
      if (extra) {
        writable_->data()[comma_] = ' ';
        ++done_->commas;
      }
      close();
    } else if (want_ == want::comma_or_close) {
      if (c != ',') {
        damaged(std::string{"expected ',' or '"} + (open_.back() == '[' ? ']' : '}') + "'");
        return;
      }
      if (open_.size() == 1 && events_at_ > 1 && list_closed_) {
        whole_ = at_;
      }
      comma_ = at_++;
      want_ = open_.back() == '[' ? want::next_value : want::key;
    } else if (want_ == want::key || want_ == want::key_or_close) {
      key();
    } else {
      value(c);
    }
  }

  void open(char c) {
    open_ += c;
    ++at_;
    want_ = c == '[' ? want::value_or_close : want::key_or_close;
    if (c == '[' && events_at_ == 0 && (open_.size() == 1 || (open_ == "{[" && events_come_))) {
      events_at_ = open_.size();
    }
  }

  void close() {
    const bool in_list = events_at_ != 0 && !list_closed_;
    const bool event = in_list && open_.size() == events_at_ + 1 && open_.back() == '{';
    const bool list = in_list && open_.size() == events_at_;
    open_.pop_back();
    ++at_;
    want_ = want::comma_or_close;
    events_ += event ? 1U : 0U;
    list_closed_ |= list;
    if (event || list) {
      whole_ = at_;
    }
  }

  /// Ends the text behind the last whole event, or behind the last whole member when all events are there.
  void cut_away() {
    done_->cut_off = true;
    done_->in_event = !list_closed_ && open_.size() > events_at_;
    done_->events = events_;
    const std::string_view closing = events_at_ == 1 ? "]" : list_closed_ ? "}" : "]}";
    writable_->reserve(whole_ + closing.size());
    std::copy(closing.begin(), closing.end(), writable_->data() + whole_);
    writable_->set_size(whole_ + closing.size());
  }

  void key() {
    if (text_[at_] != '"') {
      damaged("expected a key in quotes");
      return;
    }
    const std::size_t begin = at_;
    string();
    key_ = text_.substr(begin, at_ - begin);
    events_come_ = open_.size() == 1 && text_.substr(begin, at_ - begin) == "\"traceEvents\"";
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
      open(c);
    } else if (c == '"') {
      string();
    } else {
      const std::size_t end = std::min(text_.find_first_of(" \t\r\n,:]}[{\"", at_), text_.size());
      const std::string_view word = text_.substr(at_, end - at_);
      const bool number = (c == '-' || (c >= '0' && c <= '9')) &&
                          word.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
      const bool known = number || word == "true" || word == "false" || word == "null" || is_no_number(word);
      const bool cut_off = end == text_.size() && !open_.empty();
      if (!known && !cut_off) {
        damaged("expected a value");
        return;
      }
      const std::string wrong = done_ != nullptr || cut_off ? ""
                                : is_no_number(word)        ? "is no number of JSON"
                                : number                    ? wrong_number(word)
                                                            : "";
      if (!wrong.empty()) {
        const std::string_view field = open_.empty() ? "" : key_;
        damaged(std::string{cut(field, 64)} + (field.empty() ? "" : ": ") + std::string{cut(word, 32)} + ' ' +
                wrong + "; correct it in the file");
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
  std::string open_;       // the brackets that are
  std::string_view key_;   // the last one, in its quotes
  std::size_t comma_ = 0;  // the last one
  std::optional<damage> found_;
  bool early_ = false;  // the text ends too soon

  std::size_t events_at_ = 0;  // brackets open directly in the list of events; 0: it has not come yet
  bool events_come_ = false;   // the last key announces it
  bool list_closed_ = false;
  std::uint64_t events_ = 0;  // whole ones
  std::size_t whole_ = 0;     // end of the last one, or of what may follow the list
  buffer* writable_ = nullptr;
  mended* done_ = nullptr;
};

}  // namespace

std::optional<damage> find_damage(std::string_view text) { return scanner{text}.run(); }

std::optional<damage> mend_events(buffer& text, mended& done) { return scanner{text, done}.run(); }

}  // namespace input
}  // namespace v0
}  // namespace varve

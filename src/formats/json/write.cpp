// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/json/fields.hpp"

#include <varve/io.hpp>

#include <nlohmann/json.hpp>

#include <ostream>
#include <utility>

namespace varve {

namespace json {
namespace {

/// Objects that are left out where all their numbers are 0 and their texts empty, as in most rows. Measures
/// always stay: a reader grants memory in proportion to the text.
template <class T>
concept left_out_at_zero = is<T, distribution> || is<T, starved_time> || is<T, wall_partition> ||
    is<T, work> || is<T, launch_shape> || is<T, roof_times> || is<T, verdict>;

template <class T>
constexpr bool is_vector = false;
template <class T>
constexpr bool is_vector<std::vector<T>> = true;

/// Writes an object of what fields() names, and hands on what it has between the entries of lists.
class writer {
 public:
  /// Without a stream all text is kept, for take().
  explicit writer(std::ostream* out) : out_{out} {}

  void begin() { text_ += '{'; }
  void end() { text_ += '}'; }

  template <class T>
  void operator()(const char* name, const T& value) {
    if constexpr (left_out_at_zero<T>) {
      const std::size_t before = text_.size();
      const bool outer = std::exchange(not_zero_, false);
      member(name);
      write(value);
      if (!not_zero_) {
        text_.resize(before);
      }
      not_zero_ = not_zero_ || outer;
    } else {
      member(name);
      write(value);
    }
  }
  /// Left out where there is none.
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (value) {
      (*this)(name, *value);
    }
  }
  void operator()(const char* name, const std::optional<time_ns>& value) {
    member(name);
    write(value);
  }
  /// [[bucket, count], …]; left out where there is none.
  void operator()(const char* name, const std::vector<time_bucket>& histogram) {
    if (histogram.empty()) {
      return;
    }
    not_zero_ = true;
    member(name);
    const char* before = "[";
    for (const time_bucket& b : histogram) {
      text_.append(before).append("[").append(std::to_string(b.bucket)).append(",");
      text_.append(std::to_string(b.count)).append("]");
      before = ",";
    }
    text_ += ']';
  }
  /// One member for each value of an enumeration, without those of 0.
  template <class Enum, std::size_t N>
  void by(const char* name, const std::array<double, N>& values) {
    member(name);
    begin();
    for (std::size_t k = 0; k < N; ++k) {
      if (values[k] != 0) {
        member(std::string{names<Enum>[k]}.c_str());
        write(values[k]);
      }
    }
    end();
  }
  /// null where the value means "none".
  template <class T>
  void unless(const char* name, const T& value, T nothing) {
    member(name);
    if (value == nothing) {
      text_ += "null";
    } else {
      write(value);
    }
  }

  void flush() {
    if (out_ != nullptr) {
      out_->write(text_.data(), static_cast<std::streamsize>(text_.size()));
      text_.clear();
    }
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void member(const char* name) {
    text_ += text_.back() == '{' ? "\"" : ",\"";
    text_.append(name).append("\":");
  }

  template <class T>
  void write(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      not_zero_ = not_zero_ || value != T{};
      text_.append("\"").append(names<T>[static_cast<std::size_t>(value)]).append("\"");
    } else if constexpr (std::is_same_v<T, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<T>) {
      not_zero_ = not_zero_ || value != 0;
      if constexpr (std::is_integral_v<T>) {
        text_ += std::to_string(value);
      } else {
        text_ += nlohmann::json(value).dump();
      }
    } else if constexpr (std::is_same_v<T, std::string>) {
      not_zero_ = not_zero_ || !value.empty();
      // Bytes that are no UTF-8 become U+FFFD: the output is JSON whatever names hold.
      text_ += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    } else if constexpr (std::is_same_v<T, std::optional<time_ns>>) {
      text_ += value ? std::to_string(*value) : "null";
    } else if constexpr (std::is_array_v<T> || is_vector<T>) {
      list(value);
    } else {
      begin();
      fields(*this, value);
      end();
    }
  }

  template <class T>
  void list(const T& values) {
    constexpr std::size_t enough = std::size_t{64} << 10U;
    text_ += '[';
    bool first = true;
    for (const auto& value : values) {
      text_ += first ? "" : ",";
      first = false;
      write(value);
      if (is_vector<T> && text_.size() > enough) {  // arrays may yet be left out with what holds them
        flush();
      }
    }
    text_ += ']';
  }

  std::ostream* out_;
  std::string text_;
  bool not_zero_ = false;  ///< a number was, since the object began that may be left out
};

void write_report(writer& w, const report& r) {
  w.begin();
  w(version_field, report_schema);
  fields(w, r);
  w.end();
}

}  // namespace
}  // namespace json

inline namespace v0 {

void write_json(std::ostream& out, const report& r) {
  json::writer w{&out};
  json::write_report(w, r);
  w.flush();
}

std::string to_json(const report& r) {
  json::writer w{nullptr};
  json::write_report(w, r);
  return w.take();
}

}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/json/fields.hpp"

#include <varve/io.hpp>

#include <nlohmann/json.hpp>

namespace varve {

namespace json {
namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json value_of(const T& value);

/// Makes an object of what fields() names.
class writer {
 public:
  template <class T>
  void operator()(const char* name, const T& value) {
    object_[name] = value_of(value);
  }
  /// null where the value means "none".
  template <class T>
  void unless(const char* name, const T& value, T nothing) {
    object_[name] = value == nothing ? ordered_json{} : ordered_json(value);
  }
  [[nodiscard]] ordered_json take() { return std::move(object_); }

 private:
  ordered_json object_ = ordered_json::object();
};

template <class T>
ordered_json list_of(const T& values) {
  ordered_json out = ordered_json::array();
  for (const auto& value : values) {
    out.push_back(value_of(value));
  }
  return out;
}

template <class T>
constexpr bool is_vector = false;
template <class T>
constexpr bool is_vector<std::vector<T>> = true;

template <class T>
ordered_json value_of(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string{names<T>[static_cast<std::size_t>(value)]};
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, std::optional<time_ns>>) {
    return value ? ordered_json(*value) : ordered_json{};
  } else if constexpr (std::is_array_v<T> || is_vector<T>) {
    return list_of(value);
  } else {
    writer w;
    fields(w, value);
    return w.take();
  }
}

}  // namespace
}  // namespace json

inline namespace v0 {

std::string to_json(const report& r) {
  json::writer w;
  w(json::version_field, report_schema);
  json::fields(w, r);
  // Bytes that are no UTF-8 become U+FFFD: the output is JSON whatever names hold.
  return w.take().dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace v0
}  // namespace varve

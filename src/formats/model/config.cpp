// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/model/config.hpp"

#include "formats/input/input.hpp"
#include "formats/input/json_text.hpp"

#include <map>
#include <utility>

namespace varve {
inline namespace v0 {
namespace model_file {

namespace {

constexpr std::int64_t largest = std::int64_t{1} << 40U;
constexpr std::size_t longest_list = 16384;

}  // namespace

config::config(std::string path, simdjson::dom::element object, std::string place)
    : path_{std::move(path)}, object_{object}, place_{std::move(place)} {}

void config::fail(std::string_view field, const std::string& cause) const {
  input::fail(path_, place_ + std::string{field} + ": " + cause);
}

// Of a field that is there twice the last one counts, as in Python's json, which engines read the file with.
std::optional<simdjson::dom::element> config::last(std::string_view field) const {
  std::optional<simdjson::dom::element> found;
  simdjson::dom::object all;
  if (object_.get(all) == simdjson::SUCCESS) {
    for (const simdjson::dom::key_value_pair one : all) {
      if (one.key == field) {
        found = one.value;
      }
    }
  }
  return found;
}

std::optional<simdjson::dom::element> config::find(std::string_view field) const {
  const auto found = last(field);
  return found && !found->is_null() ? found : std::nullopt;
}

bool config::has(std::string_view field) const { return find(field).has_value(); }

bool config::is_null(std::string_view field) const {
  const auto found = last(field);
  return found && found->is_null();
}

std::optional<std::int64_t> config::maybe(names fields, std::int64_t least) const {
  for (const std::string_view field : fields) {
    const auto found = find(field);
    if (!found) {
      continue;
    }
    std::int64_t value = 0;
    if (found->get(value) != simdjson::SUCCESS || value < least || value > largest) {
      fail(field, "must be an integer from " + std::to_string(least) + " to 2^40; correct it in the file");
    }
    return value;
  }
  return std::nullopt;
}

std::int64_t config::need(names fields, std::int64_t least) const {
  const auto found = maybe(fields, least);
  if (!found) {
    std::string others;
    for (const std::string_view* name = fields.begin() + 1; name < fields.end(); ++name) {
      others.append(others.empty() ? " (or " : ", ").append(*name);
    }
    fail(*fields.begin(), "missing; add it" + others + (others.empty() ? "" : ")") +
                              ", or take the config.json that the model was published with");
  }
  return *found;
}

std::int64_t config::size_or(names fields, std::int64_t otherwise, std::int64_t least) const {
  return maybe(fields, least).value_or(otherwise);
}

bool config::flag(std::string_view field, bool otherwise) const {
  const auto found = find(field);
  bool value = otherwise;
  if (found && found->get(value) != simdjson::SUCCESS) {
    fail(field, "must be true or false; correct it in the file");
  }
  return value;
}

std::optional<std::string_view> config::text(names fields) const {
  for (const std::string_view field : fields) {
    const auto found = find(field);
    if (!found) {
      continue;
    }
    std::string_view value;
    if (found->get(value) != simdjson::SUCCESS) {
      fail(field, "must be a text; correct it in the file");
    }
    return value;
  }
  return std::nullopt;
}

/// `kind` names the elements, `must_hold` says what one that is none is told.
template <class Value, class Valid>
std::vector<Value> config::list_of(std::string_view field, const char* kind, const char* must_hold,
                                   Valid valid) const {
  std::vector<Value> out;
  const auto found = find(field);
  simdjson::dom::array list;
  if (!found) {
    return out;
  }
  if (found->get(list) != simdjson::SUCCESS || list.size() > longest_list) {
    fail(field, "must be a list of at most " + std::to_string(longest_list) + ' ' + kind +
                    "; correct it in the file");
  }
  for (const simdjson::dom::element item : list) {
    Value value{};
    if (item.get(value) != simdjson::SUCCESS || !valid(value)) {
      fail(field, std::string{must_hold} + "; correct it in the file");
    }
    out.push_back(value);
  }
  return out;
}

std::vector<std::string_view> config::texts(std::string_view field) const {
  return list_of<std::string_view>(field, "texts", "must hold texts alone",
                                   [](std::string_view) { return true; });
}

std::vector<std::string_view> config::nested_texts(std::string_view field) const {
  std::vector<std::string_view> out;
  const auto found = find(field);
  simdjson::dom::array list;
  const auto take = [&](simdjson::dom::element item) {
    std::string_view text;
    if (out.size() == longest_list || item.get(text) != simdjson::SUCCESS) {
      return false;
    }
    out.push_back(text);
    return true;
  };
  bool valid = !found || found->get(list) == simdjson::SUCCESS;
  if (found && valid) {
    for (const simdjson::dom::element item : list) {
      simdjson::dom::array inner;
      if (item.get(inner) != simdjson::SUCCESS) {
        valid = valid && take(item);
        continue;
      }
      for (const simdjson::dom::element one : inner) {
        valid = valid && take(one);
      }
    }
  }
  if (!valid) {
    fail(field, "must be a list of at most " + std::to_string(longest_list) +
                    " texts, or of lists of them; correct it in the file");
  }
  return out;
}

std::vector<std::int64_t> config::integers(std::string_view field) const {
  return list_of<std::int64_t>(field, "integers", "must hold integers from 0 to 2^40 alone",
                               [](std::int64_t value) { return value >= 0 && value <= largest; });
}

std::optional<config> config::object(std::string_view field) const {
  const auto found = find(field);
  if (!found) {
    return std::nullopt;
  }
  if (!found->is_object()) {
    fail(field, "must be an object; correct it in the file");
  }
  return config{path_, *found, place_ + std::string{field} + "."};
}

std::vector<std::pair<std::string_view, std::optional<config>>> config::objects() const {
  constexpr std::size_t most = 64;
  std::vector<std::pair<std::string_view, std::optional<config>>> out;
  std::map<std::string_view, simdjson::dom::element> values;  // as last() finds them, but at once
  simdjson::dom::object all;
  if (object_.get(all) == simdjson::SUCCESS) {
    for (const simdjson::dom::key_value_pair field : all) {
      values.insert_or_assign(field.key, field.value);
    }
    for (const simdjson::dom::key_value_pair field : all) {
      const auto value = values.extract(field.key);  // once
      if (value.empty()) {
        continue;
      }
      const std::string_view name = input::cut(field.key, 64);
      if (out.size() == most) {
        fail(name, "is one object of more than 64; correct the file");
      }
      if (!value.mapped().is_object() && !value.mapped().is_null()) {
        fail(name, "must be an object; correct it in the file");
      }
      out.emplace_back(field.key, std::nullopt);
      if (value.mapped().is_object()) {
        out.back().second.emplace(path_, value.mapped(), place_ + std::string{name} + ".");
      }
    }
  }
  return out;
}

}  // namespace model_file
}  // namespace v0
}  // namespace varve

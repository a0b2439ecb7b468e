// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The fields of a config.json, checked. Every error names the field and what to do.
#ifndef VARVE_FORMATS_MODEL_CONFIG_HPP
#define VARVE_FORMATS_MODEL_CONFIG_HPP

#include <varve/io.hpp>

#include <simdjson.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace model_file {

/// Names of one field: as files of different ages call it; the first one is what errors say.
using names = std::initializer_list<std::string_view>;

/// An object of the file. A field that is null counts as missing; of one that is there twice the last
/// counts. All functions throw varve::error.
class config {
 public:
  /// `place` is what names of fields begin with: "text_config."; the element must be an object.
  config(std::string path, simdjson::dom::element object, std::string place = {});

  /// A size: an integer from `least` to 2^40.
  [[nodiscard]] std::optional<std::int64_t> maybe(names fields, std::int64_t least = 1) const;
  [[nodiscard]] std::int64_t need(names fields, std::int64_t least = 1) const;
  [[nodiscard]] std::int64_t size_or(names fields, std::int64_t otherwise, std::int64_t least = 1) const;
  [[nodiscard]] bool flag(std::string_view field, bool otherwise) const;
  [[nodiscard]] std::optional<std::string_view> text(names fields) const;
  /// Nothing when it is missing.
  [[nodiscard]] std::vector<std::string_view> texts(std::string_view field) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view field) const;
  [[nodiscard]] std::optional<config> object(std::string_view field) const;
  /// Likewise; texts may stand in lists in the list.
  [[nodiscard]] std::vector<std::string_view> nested_texts(std::string_view field) const;
  /// The objects in an object, of which null is none, by name. Fails where there are more than 64, or others.
  [[nodiscard]] std::vector<std::pair<std::string_view, std::optional<config>>> objects() const;
  [[nodiscard]] bool has(std::string_view field) const;
  [[nodiscard]] bool is_null(std::string_view field) const;

  [[noreturn]] void fail(std::string_view field, const std::string& cause) const;

 private:
  [[nodiscard]] std::optional<simdjson::dom::element> last(std::string_view field) const;
  [[nodiscard]] std::optional<simdjson::dom::element> find(std::string_view field) const;
  template <class Value, class Valid>
  [[nodiscard]] std::vector<Value> list_of(std::string_view field, const char* kind, const char* must_hold,
                                           Valid valid) const;

  std::string path_;
  simdjson::dom::element object_;
  std::string place_;
};

}  // namespace model_file
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_MODEL_CONFIG_HPP

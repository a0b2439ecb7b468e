// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/input/input.hpp"
#include "formats/input/json_damage.hpp"
#include "formats/input/json_text.hpp"
#include "formats/json/fields.hpp"

#include <varve/io.hpp>

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace varve {

namespace json {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr std::size_t deepest = 64;  // levels of nesting; a report has six

const char* type_name(const element& e) {
  switch (e.type()) {
    case element_type::ARRAY:
      return "a list";
    case element_type::OBJECT:
      return "an object";
    case element_type::INT64:
      return "an integer";
    case element_type::UINT64:
      return "an integer beyond 64 bits with sign";
    case element_type::DOUBLE:
      return "a fraction";
    case element_type::STRING:
      return "a text";
    case element_type::BOOL:
      return "true or false";
    case element_type::NULL_VALUE:
      break;
  }
  return "null";
}

/// Fills what fields() names from an object; a field that is missing keeps its default.
class reader {
 public:
  reader(const input::content& file, element root) : file_{file}, here_{root} {
    // A row takes more memory than the few bytes of an empty object that stands for it.
    constexpr std::size_t enough = std::size_t{64} << 20U;
    memory_left_ = enough + 2 * file.bytes.size();
  }

  template <class T>
  void operator()(std::string_view name, T& value) {
    visit(name, [&](const element& e) { read(e, value); });
  }

  template <class T>
  void unless(const char* name, T& value, T nothing) {
    visit(name, [&](const element& e) {
      if (e.is_null()) {
        value = nothing;
      } else {
        read(e, value);
      }
    });
  }

  template <class Enum, std::size_t N>
  void by(const char* name, std::array<double, N>& values) {
    visit(name, [&](const element& e) {
      const element outer = std::exchange(here_, e);
      for (std::size_t k = 0; k < N; ++k) {
        (*this)(names<Enum>[k], values[k]);
      }
      here_ = outer;
    });
  }

  /// What a finding or prediction is about must be there.
  template <class T>
  void check_subjects(const char* name, const std::vector<T>& list, const report& r) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool phase = list[i].phase < r.phases.size() || list[i].phase == none;
      if (!phase || (list[i].layer >= r.layers.size() && list[i].layer != none)) {
        fail(std::string{name} + '[' + std::to_string(i) + "]: is about a " + (phase ? "layer" : "phase") +
             " that is not there");
      }
    }
  }

  /// Row i's parent must come before it, or whoever walks up would never end.
  void check_parents(const char* name, const std::vector<row>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].parent != none && rows[i].parent >= i) {
        fail(std::string{name} + '[' + std::to_string(i) + "].parent: " + std::to_string(rows[i].parent) +
             " is no earlier row");
      }
    }
  }

  [[noreturn]] void fail(const std::string& cause) const {
    input::fail(file_.path, cause + "; write the report again");
  }

 private:
  template <class Read>
  void visit(std::string_view name, Read&& read_value) {
    simdjson::dom::object object;
    if (here_.get(object) != simdjson::SUCCESS) {
      wrong(here_, "an object");
    }
    element found;
    if (object.at_key(name).get(found) != simdjson::SUCCESS) {
      return;
    }
    const std::size_t length = place_.size();
    (place_ += place_.empty() ? "" : ".") += name;
    read_value(found);
    place_.resize(length);
  }

  [[noreturn]] void wrong(const element& e, const std::string& expected) const {
    fail(place_ + ": expected " + expected + ", found " + type_name(e));
  }

  template <class T>
  void read(const element& e, T& value) {
    if constexpr (std::is_enum_v<T>) {
      read_name(e, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      take(e, value, "true or false");
    } else if constexpr (std::is_integral_v<T>) {
      read_integer(e, value);
    } else if constexpr (std::is_same_v<T, double>) {
      if (e.is_null()) {
        value = std::nan("");  // JSON has no other way to say it
      } else {
        take(e, value, "a number");
      }
    } else {
      const element outer = std::exchange(here_, e);
      fields(*this, value);
      here_ = outer;
    }
  }

  /// As operators' shapes, counters tell less than 2^62.
  void read(const element& e, counted_work& value) {
    constexpr double most = 4611686018427387904.0;
    const element outer = std::exchange(here_, e);
    fields(*this, value);
    here_ = outer;
    const auto check = [&](const char* name, double counted) {
      if (!(counted < most)) {
        fail(place_ + '.' + name + ": expected a number below 2^62");
      }
    };
    check("dram_read", value.dram_read);
    check("dram_written", value.dram_written);
    check("tensor_ops", value.tensor_ops);
    check("core_flops", value.core_flops);
    check("intensity", value.intensity);
    for (const double operations : value.operations) {
      check("operations", operations);
    }
    const auto is_before = [](const count_sum& a, const count_sum& b) {
      return std::tie(a.what, a.pipe, a.part) < std::tie(b.what, b.pipe, b.part);
    };
    for (std::size_t i = 0; i < value.sums.size(); ++i) {
      const count_sum& s = value.sums[i];
      if (s.calls <= 0 || !(s.sum >= 0) || !(s.sum / static_cast<double>(s.calls) < most)) {
        fail(place_ + ".sums: expected calls, and of a call a number from 0 to below 2^62");
      }
      if (i > 0 && !is_before(value.sums[i - 1], s)) {
        fail(place_ + ".sums: expected each count once, ascending by what, pipe and part");
      }
    }
  }

  /// [bucket, count].
  void read(const element& e, time_bucket& value) {
    std::int64_t numbers[2] = {};
    read(e, numbers);
    constexpr std::int64_t last = 3711;  // of the longest time that there is
    if (numbers[0] < 0 || numbers[0] > last || numbers[1] < 0) {
      fail(place_ + ": expected a bucket of 0 to " + std::to_string(last) + " and a count");
    }
    value = {static_cast<std::int32_t>(numbers[0]), numbers[1]};
  }

  void read(const element& e, std::string& value) {
    std::string_view text;
    take(e, text, "a text");
    value = text;
  }

  template <class T>
  void read(const element& e, std::optional<T>& value) {
    if (e.is_null()) {
      value.reset();
    } else {
      read(e, value.emplace());
    }
  }

  template <class T, std::size_t N>
  void read(const element& e, T (&values)[N]) {
    std::vector<T> list;
    read(e, list);
    if (list.size() != N) {
      fail(place_ + ": expected " + std::to_string(N) + " numbers");
    }
    std::copy(list.begin(), list.end(), values);
  }

  template <class T>
  void read(const element& e, std::vector<T>& values) {
    simdjson::dom::array list;
    take(e, list, "a list");
    const std::size_t length = place_.size();
    values.clear();
    for (const element item : list) {
      if (memory_left_ < sizeof(T)) {
        fail(place_ + ": more entries than a report of this size holds");
      }
      memory_left_ -= sizeof(T);
      place_ += '[' + std::to_string(values.size()) + ']';
      T value{};
      read(item, value);
      values.push_back(std::move(value));
      place_.resize(length);
    }
  }

  template <class T>
  void read_integer(const element& e, T& value) {
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      take(e, value, "an integer of at least 0");
    } else {
      std::int64_t wide = 0;
      take(e, wide, "an integer");
      if (wide < static_cast<std::int64_t>(std::numeric_limits<T>::min()) ||
          wide > static_cast<std::int64_t>(std::numeric_limits<T>::max())) {
        fail(place_ + ": " + std::to_string(wide) + " is out of range");
      }
      value = static_cast<T>(wide);
    }
  }

  template <class Enum>
  void read_name(const element& e, Enum& value) {
    std::string_view text;
    take(e, text, "a text");
    const auto found = std::find(names<Enum>.begin(), names<Enum>.end(), text);
    if (found == names<Enum>.end()) {
      fail(place_ + ": unknown value");
    }
    value = static_cast<Enum>(found - names<Enum>.begin());
  }

  template <class T>
  void take(const element& e, T& value, const char* expected) const {
    if (e.get(value) != simdjson::SUCCESS) {
      wrong(e, expected);
    }
  }

  const input::content& file_;
  element here_;
  std::string place_;
  std::size_t memory_left_ = 0;
};

[[noreturn]] void explain(simdjson::error_code code, const input::content& file) {
  if (code == simdjson::CAPACITY) {
    input::fail(file.path, "holds 4 GiB or more of JSON, beyond what can be parsed");
  }
  if (code == simdjson::MEMALLOC) {
    input::fail(file.path, "needs more memory than there is");
  }
  if (const auto found = input::find_damage(file.bytes.view())) {
    input::fail(file, found->byte, found->cause);
  }
  if (code == simdjson::DEPTH_ERROR) {
    input::fail(file.path,
                "is nested more than " + std::to_string(deepest) + " levels deep, unlike any report");
  }
  input::fail(file.path, std::string{"is not valid JSON: "} + simdjson::error_message(code));
}

/// The root of the document; `text` is replaced by a repaired copy where it is no UTF-8.
element parse(simdjson::dom::parser& parser, const input::content& file, input::buffer& text,
              input::repairs& done) {
  element root;
  simdjson::error_code code = parser.allocate(text.size(), deepest);
  if (code == simdjson::SUCCESS) {
    code = parser.parse(text.data(), text.size(), false).get(root);
  }
  if (code == simdjson::UTF8_ERROR) {
    text = input::repaired(text.view(), done);
    code = parser.allocate(text.size(), deepest);
    if (code == simdjson::SUCCESS) {
      code = parser.parse(text.data(), text.size(), false).get(root);
    }
  }
  if (code != simdjson::SUCCESS) {
    explain(code, file);
  }
  return root;
}

void check_version(const element& root, const input::content& file) {
  std::int64_t version = 0;
  if (root.at_key(version_field).get(version) != simdjson::SUCCESS) {
    input::fail(file.path, std::string{"is JSON but no varve report: it has no \""} + version_field +
                               "\"; write one with varve report --json");
  }
  if (version != report_schema) {
    input::fail(file.path, "follows version " + std::to_string(version) +
                               " of the report's schema; this varve reads version " +
                               std::to_string(report_schema) +
                               (version > report_schema ? ": use a newer varve" : ""));
  }
}

}  // namespace
}  // namespace json

inline namespace v0 {

report read_report(const std::string& path, const read_options& options) {
  input::content file = input::read(path, options);
  simdjson::dom::parser parser;
  input::repairs done;
  const auto root = json::parse(parser, file, file.bytes, done);
  json::check_version(root, file);
  report out;
  json::reader reader{file, root};
  json::fields(reader, out);
  reader.check_parents("layers", out.layers);
  reader.check_parents("labels", out.labels);
  reader.check_parents("kernels", out.kernels);
  reader.check_parents("categories", out.categories);
  reader.check_subjects("findings", out.findings, out);
  reader.check_subjects("predictions", out.predictions, out);
  if (done.utf8 + done.controls != 0) {
    out.quality.losses.push_back(
        {"bytes that are no UTF-8, or bare control characters, replaced", path, done.utf8 + done.controls});
  }
  return out;
}

}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Every number and text of a report by its name, rows by their keys: for comparing reports whose rows stand
// in another order.
#ifndef VARVE_TESTS_ANALYZE_REPORT_VALUES_HPP
#define VARVE_TESTS_ANALYZE_REPORT_VALUES_HPP

#include <varve/report.hpp>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "formats/json/fields.hpp"

namespace varve_test {

/// An archive of formats/json/fields.hpp: "layers[layer 3 decode 0].inclusive.calls" and its value.
class report_values {
 public:
  explicit report_values(const varve::report& r) { varve::json::fields(*this, r); }

  template <class T>
  void operator()(const char* name, const T& value) {
    at(name, [&] { add(value); });
  }
  template <class T>
  void unless(const char* name, const T& value, T) {
    (*this)(name, value);
  }
  template <class Enum, std::size_t N>
  void by(const char* name, const std::array<double, N>& values) {
    at(name, [&] {
      for (std::size_t k = 0; k < N; ++k) {
        at(std::to_string(k), [&] { add(values[k]); });
      }
    });
  }

  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;

 private:
  template <class Add>
  void at(const std::string& name, const Add& add_value) {
    const std::size_t length = place_.size();
    place_ += '.' + name;
    add_value();
    place_.resize(length);
  }

  template <class T>
  void add(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      texts[place_] = value;
    } else if constexpr (std::is_enum_v<T> || std::is_arithmetic_v<T>) {
      numbers[place_] = static_cast<double>(value);
    } else {
      varve::json::fields(*this, value);
    }
  }
  template <class T>
  void add(const std::optional<T>& value) {
    if (value) {
      add(*value);
    }
  }
  template <class T, std::size_t N>
  void add(const T (&values)[N]) {
    for (std::size_t k = 0; k < N; ++k) {
      at(std::to_string(k), [&] { add(values[k]); });
    }
  }
  template <class T>
  void add(const std::vector<T>& values) {
    std::set<std::string> names;
    for (const T& value : values) {
      std::string name = key(value);
      while (!names.insert(name).second) {
        name += '+';  // lists of numbers, and what has no key
      }
      at(name, [&] { add(value); });
    }
    at("size", [&] { add(static_cast<double>(values.size())); });
  }
  void add(const varve::time_bucket& b) {
    at("bucket", [&] { add(b.bucket); });
    at("count", [&] { add(b.count); });
  }

  static std::string key(const varve::row& r) {
    return r.path + '|' + r.phase + '|' + r.model + '|' + std::to_string(r.device) +
           (r.inclusive.copies + r.inclusive.sets > 0 && r.inclusive.kernels == 0 ? "|copies" : "");
  }
  static std::string key(const varve::phase_row& p) {
    return p.phase + '|' + p.model + '|' + std::to_string(p.device);
  }
  static std::string key(const varve::collective_row& c) {
    return c.name + '|' + c.phase + '|' + c.model + '|' + std::to_string(c.device);
  }
  static std::string key(const varve::device_row& d) { return std::to_string(d.device.id); }
  static std::string key(const varve::device_row::stream& s) { return std::to_string(s.stream.stream); }
  static std::string key(const varve::gauge_row& g) {
    return std::to_string(static_cast<int>(g.what)) + g.limit;
  }
  static std::string key(const varve::loss& l) { return l.what; }
  static std::string key(const varve::count_sum& s) {
    return std::to_string(static_cast<int>(s.what)) + '|' + std::to_string(static_cast<int>(s.pipe)) + '|' +
           std::to_string(s.part);
  }
  template <class T>
  static std::string key(const T&) {
    return "#";
  }

  std::string place_;
};

/// The values in which `sum` is not as `whole`, one a line, the first twenty. Fractions are equal up to
/// rounding. What `is_excepted(name, line)` says may differ.
template <class Excepted>
std::string difference(const varve::report& whole, const varve::report& sum, const Excepted& is_excepted) {
  const report_values expected{whole};
  const report_values actual{sum};
  std::string out;
  int lines = 0;
  const auto note = [&](const std::string& name, const std::string& is) {
    if (!is_excepted(name, is) && ++lines <= 20) {
      out.append(name).append(is) += '\n';
    }
  };
  for (const auto& [name, value] : expected.numbers) {
    const auto found = actual.numbers.find(name);
    if (found == actual.numbers.end()) {
      note(name, ": is missing");
    } else if (!(std::abs(value - found->second) <= 1e-9 * std::max(1.0, std::abs(value)))) {
      note(name, ": expected " + std::to_string(value) + ", is " + std::to_string(found->second));
    }
  }
  for (const auto& [name, value] : expected.texts) {
    const auto found = actual.texts.find(name);
    if (found == actual.texts.end() || found->second != value) {
      note(name,
           ": expected \"" + value + "\", is " + (found == actual.texts.end() ? "missing" : found->second));
    }
  }
  for (const auto& [name, value] : actual.numbers) {
    if (expected.numbers.count(name) == 0) {
      note(name, ": is there, not expected");
    }
  }
  return out;
}

}  // namespace varve_test

#endif  // VARVE_TESTS_ANALYZE_REPORT_VALUES_HPP

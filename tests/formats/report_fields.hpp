// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Every field of a report, by structured bindings: a field that is added to a struct stops these tests from
// compiling until it is listed here.
#ifndef VARVE_TESTS_FORMATS_REPORT_FIELDS_HPP
#define VARVE_TESTS_FORMATS_REPORT_FIELDS_HPP

#include <varve/report.hpp>

#include <array>
#include <concepts>
#include <cstdio>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace testing_support {

template <class T, class U>
concept is = std::same_as<std::remove_const_t<T>, U>;

auto parts(is<varve::time_bucket> auto& x) {
  auto& [a, b] = x;
  return std::tie(a, b);
}
auto parts(is<varve::distribution> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i, j] = x;
  return std::tie(a, b, c, d, e, f, g, h, i, j);
}
auto parts(is<varve::starved_time> auto& x) {
  auto& [a, b, c, d, e] = x;
  return std::tie(a, b, c, d, e);
}
auto parts(is<varve::wall_partition> auto& x) {
  auto& [a, b, c, d, e, f, g] = x;
  return std::tie(a, b, c, d, e, f, g);
}
auto parts(is<varve::work> auto& x) {
  auto& [a, b, c, d, e, f, g, h] = x;
  return std::tie(a, b, c, d, e, f, g, h);
}
auto parts(is<varve::roof_times> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = x;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
}
auto parts(is<varve::verdict> auto& x) {
  auto& [a, b, c, d, e, f, g] = x;
  return std::tie(a, b, c, d, e, f, g);
}
auto parts(is<varve::occupancy> auto& x) {
  auto& [a, b, c, d, e] = x;
  return std::tie(a, b, c, d, e);
}
auto parts(is<varve::ceilings> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = x;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
}
auto parts(is<varve::finding> auto& x) {
  auto& [a, b, c, d, e, f, g] = x;
  return std::tie(a, b, c, d, e, f, g);
}
auto parts(is<varve::prediction> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i, j] = x;
  return std::tie(a, b, c, d, e, f, g, h, i, j);
}
auto parts(is<varve::measures> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, y, z, a2, b2, c2, d2, e2, f2,
         g2, h2, i2, j2] = x;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, y, z, a2, b2, c2, d2,
                  e2, f2, g2, h2, i2, j2);
}
auto parts(is<varve::launch_shape> auto& x) {
  auto& [a, b, c, d, e] = x;
  return std::tie(a[0], a[1], a[2], b[0], b[1], b[2], c, d, e);
}
auto parts(is<varve::gauge_row> auto& x) {
  auto& [a, b, c, d, e, f, g, h] = x;
  return std::tie(a, b, c, d, e, f, g, h);
}
auto parts(is<varve::count_sum> auto& x) {
  auto& [a, b, c, d, e] = x;
  return std::tie(a, b, c, d, e);
}
auto parts(is<varve::counted_work> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l] = x;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
}
auto parts(is<varve::rated_work> auto& x) {
  auto& [a, b, c, d, e] = x;
  return std::tie(a, b, c, d, e);
}
auto parts(is<varve::row> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = x;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
}
auto parts(is<varve::pass_samples> auto& x) {
  auto& [a, b, c, d] = x;
  return std::tie(a, b, c, d);
}
auto parts(is<varve::phase_row> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = x;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v);
}
auto parts(is<varve::collective_row> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = x;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
}
auto parts(is<varve::device_info> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i] = x;
  return std::tie(a, b, c, d, e, f, g, h, i);
}
auto parts(is<varve::stream_info> auto& x) {
  auto& [a, b, c] = x;
  return std::tie(a, b, c);
}
auto parts(is<varve::device_row::stream> auto& x) {
  auto& [a, b, c, d] = x;
  return std::tie(a, b, c, d);
}
auto parts(is<varve::device_row> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = x;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
}
auto parts(is<varve::request_row> auto& x) {
  auto& [a, b, c, d, e, f, g] = x;
  return std::tie(a, b, c, d, e, f, g);
}
auto parts(is<varve::loss> auto& x) {
  auto& [a, b, c] = x;
  return std::tie(a, b, c);
}
auto parts(is<varve::collector_status> auto& x) {
  auto& [a, b, c, d] = x;
  return std::tie(a, b, c, d);
}
auto parts(is<varve::report_quality> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, y, z, a2, b2, c2, d2, e2, f2,
         g2, h2, i2, j2, k2, l2, m2, n2] = x;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, y, z, a2, b2, c2, d2,
                  e2, f2, g2, h2, i2, j2, k2, l2, m2, n2);
}
auto parts(is<varve::operator_row> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = x;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
}
auto parts(is<varve::operator_tables> auto& x) {
  auto& [a, b, c] = x;
  return std::tie(a, b, c);
}
auto parts(is<varve::report> auto& x) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = x;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
}

/// Gives every number and text a value that no other has; lists get two entries.
class filler {
 public:
  template <class T>
  void fill(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = true;
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(2);
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = static_cast<T>(next());
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = "text " + std::to_string(next());
    } else {
      std::apply([this](auto&... part) { (this->fill(part), ...); }, parts(value));
    }
  }
  void fill(double& value) { value = static_cast<double>(next()) + 0.1; }  // 0.1 has no exact binary form
  template <class T>
  void fill(std::vector<T>& values) {
    values.resize(2);
    fill(values[0]);
    fill(values[1]);
  }
  void fill(std::vector<varve::row>& rows) {
    rows.resize(2);
    fill(rows[0]);
    fill(rows[1]);
    rows[0].parent = varve::none;
    rows[1].parent = 0;
  }
  void fill(varve::time_bucket& b) {
    b.bucket = static_cast<std::int32_t>(next() % 3712);
    b.count = next();
  }
  void fill(std::vector<varve::count_sum>& sums) {  // ascending
    sums.resize(2);
    fill(sums[0]);
    fill(sums[1]);
    sums[0].part = 1;
    sums[1].part = 2;
  }
  template <class T, std::size_t N>
  void fill(std::array<T, N>& values) {
    for (T& value : values) {
      fill(value);
    }
  }
  template <class T>
  void fill(std::optional<T>& value) {
    fill(value.emplace());
  }
  void fill(varve::report& r) {
    std::apply([this](auto&... part) { (this->fill(part), ...); }, parts(r));
    const auto about = [&](auto& list) {  // the second phase and layer, and none
      list[0].phase = list[0].layer = 1;
      list[1].phase = list[1].layer = varve::none;
    };
    about(r.findings);
    about(r.predictions);
  }

 private:
  std::int64_t next() { return number_ += 1009; }
  std::int64_t number_ = 0;
};

/// All fields as text, one a line: for comparing with a readable difference.
class dumper {
 public:
  template <class T>
  void add(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      line(std::to_string(static_cast<int>(value)));
    } else if constexpr (std::is_same_v<T, double>) {
      char text[64];
      std::snprintf(text, sizeof text, "%a", value);  // every bit
      line(text);
    } else if constexpr (std::is_arithmetic_v<T>) {
      line(std::to_string(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
      line(value);
    } else {
      std::apply([this](const auto&... part) { (this->add(part), ...); }, parts(value));
    }
  }
  template <class T>
  void add(const std::vector<T>& values) {
    line("list of " + std::to_string(values.size()));
    for (const T& value : values) {
      add(value);
    }
  }
  template <class T, std::size_t N>
  void add(const std::array<T, N>& values) {
    for (const T& value : values) {
      add(value);
    }
  }
  template <class T>
  void add(const std::optional<T>& value) {
    if (value) {
      add(*value);
    } else {
      line("absent");
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void line(const std::string& text) { (text_ += text) += '\n'; }
  std::string text_;
};

inline std::string dump(const varve::report& r) {
  dumper d;
  d.add(r);
  return d.text();
}

}  // namespace testing_support

#endif  // VARVE_TESTS_FORMATS_REPORT_FIELDS_HPP

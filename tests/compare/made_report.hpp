// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Reports of one decode phase, made by hand.
#ifndef VARVE_TESTS_COMPARE_MADE_REPORT_HPP
#define VARVE_TESTS_COMPARE_MADE_REPORT_HPP

#include <varve/report.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace testing_support {

/// Layers are added by path, parents first; each leaf takes `time` in every pass. Passes wait 100,000 ns.
class made_report {
 public:
  static constexpr varve::time_ns starved = 100'000;

  explicit made_report(std::int64_t passes = 20) {
    r_.source = "made";
    r_.devices.emplace_back().device.name = "GPU X";
    r_.quality.attributed = 1;
    r_.quality.activities = 1;
    varve::phase_row& p = r_.phases.emplace_back();
    p.phase = "decode";
    p.passes = passes;
    p.decode_tokens = passes;
  }

  /// "layer 3 / attention": its last step is the label, with the number after it as index.
  made_report& add(const std::string& path, varve::time_ns time = 0, std::string kernel = {}) {
    varve::row& one = r_.layers.emplace_back();
    const std::size_t cut = path.rfind(" / ");
    const std::string last = cut == std::string::npos ? path : path.substr(cut + 3);
    one.path = path;
    const std::size_t space = last.rfind(' ');
    one.label = last.substr(0, space);
    one.index = space == std::string::npos ? varve::no_index : std::stoi(last.substr(space + 1));
    one.phase = "decode";
    one.main_kernel = std::move(kernel);
    one.parent = cut == std::string::npos ? varve::none : at_.at(path.substr(0, cut));
    const auto index = static_cast<std::uint32_t>(r_.layers.size() - 1);
    at_[path] = index;
    one.exclusive.gpu_time = time * passes();
    one.exclusive.shared_time = static_cast<double>(time * passes());
    for (std::uint32_t up = index; up != varve::none; up = r_.layers[up].parent) {
      varve::row& above = r_.layers[up];
      above.inclusive.calls = passes();
      above.inclusive.gpu_time += time * passes();
      above.inclusive.kernels += passes();
    }
    return *this;
  }

  /// Sets the declared work of a pass.
  made_report& work(const std::string& path, const varve::work& w) {
    varve::measures& m = r_.layers[at_.at(path)].inclusive;
    m.calls_with_work = m.calls;
    m.declared = w;
    m.declared.flops *= passes();
    m.declared.weight_bytes *= passes();
    m.declared.kv_bytes *= passes();
    return *this;
  }

  made_report& kernel(const std::string& name, std::int64_t a_pass, std::uint32_t blocks,
                      varve::time_ns time) {
    varve::row& one = r_.kernels.emplace_back();
    one.path = one.label = name;
    one.phase = "decode";
    one.inclusive.kernels = a_pass * passes();
    one.inclusive.gpu_time = time * passes();
    one.shape.grid[0] = blocks;
    return *this;
  }

  /// With times of single passes, which differ by up to 0.4 % in a fixed pattern, or with totals alone.
  [[nodiscard]] varve::report make(bool samples = true) const {
    varve::report r = r_;
    varve::phase_row& p = r.phases[0];
    const auto n = static_cast<std::size_t>(p.passes);
    const auto spread = [&](varve::time_ns total) {
      std::vector<varve::time_ns> out;
      for (std::size_t i = 0; i < n; ++i) {
        const varve::time_ns mean = total / p.passes;
        out.push_back(mean + mean / 1000 * (static_cast<varve::time_ns>(i * 7 % 5) - 2) * 2);
      }
      return out;
    };
    varve::time_ns busy = 0;
    for (varve::row& one : r.layers) {
      busy += one.exclusive.gpu_time;
      if (samples) {
        one.per_pass = spread(one.inclusive.gpu_time);
      }
    }
    p.total.gpu_time = busy;
    p.partition.compute = busy;
    p.partition.starved.launching = starved * p.passes;
    p.wall = busy + starved * p.passes;
    p.step.count = p.passes;
    p.step.total = p.wall;
    p.step.mean = static_cast<double>(p.wall) / static_cast<double>(p.passes);
    if (samples) {
      p.samples = {1, spread(p.wall), spread(busy), {}};
    }
    return r;
  }

  varve::report& raw() { return r_; }

 private:
  [[nodiscard]] std::int64_t passes() const { return r_.phases[0].passes; }

  varve::report r_;
  std::map<std::string, std::uint32_t> at_;
};

}  // namespace testing_support

#endif  // VARVE_TESTS_COMPARE_MADE_REPORT_HPP

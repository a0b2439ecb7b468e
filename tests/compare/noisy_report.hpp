// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Reports of two phases whose times vary from pass to pass, for false alarms and power of whole comparisons.
#ifndef VARVE_TESTS_COMPARE_NOISY_REPORT_HPP
#define VARVE_TESTS_COMPARE_NOISY_REPORT_HPP

#include "compare/noise.hpp"

#include <varve/report.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace testing_support {

/// What a made engine's times do from pass to pass.
struct engine_noise {
  noise leaf = noise::student;  ///< of each layer that has none inside, by itself
  double leaf_spread = 0.02;
  noise clock = noise::autoregressive;  ///< of all layers together
  double clock_spread = 0;
};

/// Four blocks, each of an attention for 100 µs and a mlp for 200 µs: 12 layers in each of two phases, decode
/// and prefill. `slower` blocks, the first ones, have a mlp in decode that takes `factor` times as long.
class noisy_engine {
 public:
  static constexpr int blocks = 4;
  static constexpr std::size_t decode_passes = 40;
  static constexpr std::size_t prefill_passes = 20;

  noisy_engine(const engine_noise& of, std::uint64_t seed) : of_{of}, source_{seed} {}

  varve::report run(int slower = 0, double factor = 1) {
    varve::report out;
    out.devices.emplace_back().device.name = "GPU X";
    out.quality.attributed = 1;
    out.quality.activities = 1;
    add_phase(out, "decode", decode_passes, slower, factor);
    add_phase(out, "prefill", prefill_passes, 0, 1);
    return out;
  }

 private:
  using times = std::vector<varve::time_ns>;

  static varve::time_ns sum(const times& of) {
    varve::time_ns out = 0;
    for (const varve::time_ns t : of) {
      out += t;
    }
    return out;
  }

  times leaf(const std::vector<double>& clock, double level) {
    const std::vector<double> own = source_.times(of_.leaf, clock.size(), level, of_.leaf_spread);
    times out;
    for (std::size_t i = 0; i < clock.size(); ++i) {
      out.push_back(static_cast<varve::time_ns>(own[i] * clock[i]));
    }
    return out;
  }

  static void add_row(varve::report& to, const char* phase, std::uint32_t parent, const std::string& path,
                      const std::string& label, int index, const times& per_pass) {
    varve::row& one = to.layers.emplace_back();
    one.path = path;
    one.label = label;
    one.index = index;
    one.phase = phase;
    one.parent = parent;
    one.per_pass = per_pass;
    one.inclusive.calls = one.inclusive.kernels = static_cast<std::int64_t>(per_pass.size());
    one.inclusive.gpu_time = sum(per_pass);
  }

  void add_phase(varve::report& to, const char* name, std::size_t passes, int slower, double factor) {
    std::vector<double> clock = source_.times(of_.clock, passes, 1e6, of_.clock_spread);
    for (double& c : clock) {
      c /= 1e6;
    }
    times gpu(passes);
    const auto add = [](times& sum_of, const times& part) {
      for (std::size_t i = 0; i < part.size(); ++i) {
        sum_of[i] += part[i];
      }
    };
    for (int b = 0; b < blocks; ++b) {
      const times attention = leaf(clock, 100'000);
      const times mlp = leaf(clock, b < slower ? 200'000 * factor : 200'000);
      times block = attention;
      add(block, mlp);
      add(gpu, block);
      const std::string path = "layer " + std::to_string(b);
      const auto parent = static_cast<std::uint32_t>(to.layers.size());
      add_row(to, name, varve::none, path, "layer", b, block);
      add_row(to, name, parent, path + " / attention", "attention", varve::no_index, attention);
      add_row(to, name, parent, path + " / mlp", "mlp", varve::no_index, mlp);
    }
    varve::phase_row& p = to.phases.emplace_back();
    p.phase = name;
    p.passes = p.decode_tokens = static_cast<std::int64_t>(passes);
    const std::vector<double> host = source_.times(noise::lognormal, passes, 100'000, 0.1);
    times step = gpu;
    for (std::size_t i = 0; i < passes; ++i) {
      step[i] += static_cast<varve::time_ns>(host[i]);
    }
    p.total.gpu_time = sum(gpu);
    p.wall = p.step.total = sum(step);
    p.step.count = p.passes;
    p.step.mean = static_cast<double>(p.wall) / static_cast<double>(passes);
    p.samples = {1, step, gpu, {}};
  }

  engine_noise of_;
  noise_source source_;
};

}  // namespace testing_support

#endif  // VARVE_TESTS_COMPARE_NOISY_REPORT_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Times of passes with noise of a known kind around a known level.
#ifndef VARVE_TESTS_COMPARE_NOISE_HPP
#define VARVE_TESTS_COMPARE_NOISE_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace testing_support {

enum class noise {
  normal,
  student,
  lognormal,
  autoregressive,
  random_walk,
  drift_below_noise,
  slow_autoregressive,
  two_states  ///< in each for 30 passes on average
};

/// The distributions of <random> differ between libraries.
class noise_source {
 public:
  explicit noise_source(std::uint64_t seed) : engine_{seed} {}

  double uniform() { return (static_cast<double>(engine_() >> 11U) + 0.5) * 0x1p-53; }
  double normal() {
    constexpr double two_pi = 6.283185307179586;
    return std::sqrt(-2 * std::log(uniform())) * std::cos(two_pi * uniform());
  }
  /// Student's t with 3 degrees of freedom: its fourth moment is infinite.
  double student() {
    double squares = 0;
    for (int i = 0; i < 3; ++i) {
      const double z = normal();
      squares += z * z;
    }
    return normal() / std::sqrt(squares / 3);
  }

  /// `count` times around `level` with a spread of about `spread` of it.
  std::vector<double> times(noise kind, std::size_t count, double level, double spread) {
    std::vector<double> out;
    double state = 0;
    const double memory = kind == noise::slow_autoregressive ? 0.95 : 0.8;
    if (kind == noise::autoregressive || kind == noise::slow_autoregressive) {
      state = normal();
    } else if (kind == noise::two_states) {
      state = uniform() < 0.5 ? 1 : -1;
    }
    for (std::size_t i = 0; i < count; ++i) {
      double off = 0;
      switch (kind) {
        case noise::normal:
          off = normal();
          break;
        case noise::student:
          off = student();
          break;
        case noise::lognormal:
          off = std::exp(normal()) - 1;  // its median is 0
          break;
        case noise::autoregressive:
        case noise::slow_autoregressive:
          state = memory * state + std::sqrt(1 - memory * memory) * normal();
          off = state;
          break;
        case noise::random_walk:
          state += 0.3 * normal();
          off = state;
          break;
        case noise::drift_below_noise:
          state = 0.9 * state + 0.22 * normal();
          off = normal() + state;
          break;
        case noise::two_states:
          state = uniform() < 1.0 / 30 ? -state : state;
          off = state + 0.2 * normal();
          break;
      }
      const double time = level * (1 + spread * off);
      out.push_back(time > 1 ? std::round(time) : 1);
    }
    return out;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace testing_support

#endif  // VARVE_TESTS_COMPARE_NOISE_HPP

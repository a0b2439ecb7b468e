// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_COMPARE_RANDOM_HPP
#define VARVE_COMPARE_RANDOM_HPP

#include <cstdint>
#include <random>

namespace varve {
inline namespace v0 {
namespace comparing {

/// Whole numbers that are the same everywhere: the standard fixes this engine's output, not that of its
/// distributions.
class random_index {
 public:
  explicit random_index(std::uint64_t seed) : engine_{seed} {}
  /// From 0 to `below` − 1, for `below` up to 2³²; off by less than 2⁻³² of each one's share per value.
  std::uint32_t operator()(std::uint32_t below) {
    return static_cast<std::uint32_t>(((engine_() >> 32U) * below) >> 32U);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace comparing
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_RANDOM_HPP

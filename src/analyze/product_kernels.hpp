// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_ANALYZE_PRODUCT_KERNELS_HPP
#define VARVE_ANALYZE_PRODUCT_KERNELS_HPP

#include <varve/report.hpp>
#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Whether shapes are those of calls of cuBLAS: where no operators of a framework are.
inline bool has_shapes_of_calls(const trace& t) noexcept { return t.operators.size() == 0; }

/// Which kernels such calls launch: told by their names. None where shapes are of operators.
class product_kernels {
 public:
  explicit product_kernels(const trace& t) : t_{t}, known_(has_shapes_of_calls(t) ? t.strings.size() : 0) {}

  [[nodiscard]] bool holds(std::uint32_t activity) {
    const std::uint32_t name = t_.activities.name[activity];
    if (name >= known_.size() || t_.activities.kind[activity] != activity_kind::kernel) {
      return false;
    }
    if (known_[name] == unasked) {
      known_[name] = kernel_category(t_.strings[name]) == "linear" ? yes : no;
    }
    return known_[name] == yes;
  }

 private:
  enum answer : std::uint8_t { unasked, no, yes };
  const trace& t_;
  std::vector<answer> known_;  // by name
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_PRODUCT_KERNELS_HPP

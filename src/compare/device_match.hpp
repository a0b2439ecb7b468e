// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Whether times of two devices can be set against each other.
#ifndef VARVE_COMPARE_DEVICE_MATCH_HPP
#define VARVE_COMPARE_DEVICE_MATCH_HPP

#include <varve/report.hpp>

#include <string>
#include <vector>

namespace varve {
inline namespace v0 {
namespace comparing {

struct device_difference {
  bool refuses = false;  ///< their times say nothing of each other
  double weight = 0;     ///< by how much they are less comparable, as a share
  bool of_clocks = false;
  std::string text;
};

[[nodiscard]] std::string name_or_unknown(const std::string& name);

/// As far as both are known.
[[nodiscard]] std::vector<device_difference> differences_of(const device_row& base, const device_row& fresh);

}  // namespace comparing
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_DEVICE_MATCH_HPP

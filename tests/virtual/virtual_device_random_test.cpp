// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Engines made up from seeds, whole and damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proof.hpp"
#include "support/virtual_scenarios.hpp"
#include "support/virtual_truth.hpp"

namespace virtual_device {
namespace {

TEST(VirtualDeviceRandom, stats) {
  std::size_t n = 0, calls = 0, amb = 0, most = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const recording r = random_scenario(seed);
    n += r.activities.size();
    most = std::max(most, r.activities.size());
    calls += r.calls.size();
    amb += truth_of(r).ambiguous;
  }
  std::cout << n << " " << most << " " << calls << " " << amb << "\n";
}

}  // namespace
}  // namespace virtual_device

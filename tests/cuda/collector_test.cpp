// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Sessions of the library, from outside, over the stand-in libcupti: what a program sees of a GPU.
#include "standin_cupti/control.hpp"

#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

TEST(collector, smoke) {
  standin::reset();
  varve::session_options options;
  options.gpu.cupti_library = "libcupti.so.13";
  varve::session session{options};
  const standin::stream s = standin::create_stream();
  {
    const varve::phase pass{varve::decode};
    for (int i = 0; i < 3; ++i) {
      const varve::layer layer{"attention", i};
      standin::launch(s, "_Z4gemmv");
      standin::copy(s, varve::cupti::copy_direction::host_to_device, 4096);
    }
  }
  standin::synchronize_device();
  const varve::trace t = session.stop();
  for (const auto& c : t.collectors) {
    std::cout << c.name << " " << c.version << ": " << c.detail << "\n";
  }
  for (const auto& l : t.losses) {
    std::cout << l.what << " " << l.count << "\n";
  }
  EXPECT_EQ(t.activities.size(), 6U);
  std::cout << varve::analyze(t);
  EXPECT_THAT(standin::misuses(), testing::IsEmpty());
}

}  // namespace

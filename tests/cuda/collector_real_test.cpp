// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The real libcupti on a machine without a driver.
#include <varve/varve.hpp>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/device_work.hpp"
#include "support/ranges.hpp"

namespace {

using testing::HasSubstr;
using varve_test::find_collector;

class collector_real_test : public testing::Test {
 protected:
  void SetUp() override {
    if (::dlopen("libcuda.so.1", RTLD_NOW) != nullptr) {
      GTEST_SKIP() << "there is a driver: tests/gpu is for this machine";
    }
    options.gpu.cupti_library = VARVE_REAL_CUPTI;
  }
  varve::session_options options;
};

TEST_F(collector_real_test, a_session_starts_says_why_there_are_no_gpu_records_and_leaves_cupti_alone) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    varve::session session{options};
    ASSERT_TRUE(session.status().running);
    {
      const varve::phase pass{varve::decode};
      const varve::layer layer{"attention", 1};
    }
    const varve::trace t = session.stop();
    EXPECT_THAT(varve_test::paths(t), testing::ElementsAre("decode", "decode / attention 1"));
    EXPECT_TRUE(t.losses.empty());
    EXPECT_EQ(t.activities.size(), 0U);
    const varve::collector_status* const cupti = find_collector(t.collectors, "cupti");
    ASSERT_NE(cupti, nullptr);
    EXPECT_EQ(cupti->state, varve::collector_state::unavailable);
    EXPECT_THAT(cupti->detail, HasSubstr("CUPTI error"));
    EXPECT_THAT(cupti->detail, HasSubstr("driver"));
    EXPECT_FALSE(cupti->version.empty());
  }
}

TEST_F(collector_real_test, without_a_name_and_without_a_driver_it_is_not_even_loaded) {
  options.gpu.cupti_library.clear();
  varve::session session{options};
  const varve::trace t = session.stop();
  const varve::collector_status* const cupti = find_collector(t.collectors, "cupti");
  ASSERT_NE(cupti, nullptr);
  EXPECT_THAT(cupti->detail, HasSubstr("no NVIDIA driver (libcuda.so.1)"));
  for (const char* const name : {"libcupti.so.13", "libcupti.so.12"}) {
    EXPECT_EQ(::dlopen(name, RTLD_NOW | RTLD_NOLOAD), nullptr) << "run this test alone, as ctest does";
  }
}

}  // namespace

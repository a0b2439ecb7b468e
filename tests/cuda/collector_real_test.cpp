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

TEST_F(collector_real_test, once_it_has_refused_it_is_not_called_again) {
  void* const library = ::dlopen(VARVE_COUNTING_CUPTI, RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto calls = reinterpret_cast<std::size_t (*)()>(::dlsym(library, "counted_calls"));
  ASSERT_NE(calls, nullptr);
  options.gpu.cupti_library = VARVE_COUNTING_CUPTI;
  varve::session session{options};
  const std::size_t before = calls();
  EXPECT_GT(before, 0U);
  EXPECT_THAT(find_collector(session.status().collectors, "cupti")->detail, HasSubstr("CUPTI error"));
  for (int i = 0; i < 100; ++i) {
    const varve::phase pass{varve::decode};
    const varve::layer layer{"attention", i};
  }
  static_cast<void>(session.snapshot());
  EXPECT_EQ(session.stop().ranges.size(), 200U);
  EXPECT_EQ(calls(), before);
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

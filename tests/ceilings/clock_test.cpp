// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Against the stand-in for NVML, which is loaded under NVML's name.
#include "ceilings/clock.hpp"

#include "standin_nvml/control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using testing::HasSubstr;
using varve::ceilings_of_gpu::sm_clock;

constexpr const char* place = "0000:3B:00.0";

class clock_of_gpu : public testing::Test {
 protected:
  clock_of_gpu() {
    standin_nvml::reset();
    standin_nvml::gpu shows;
    shows.sm_clock = 1755;
    standin_nvml::set(place, shows);
    shows.sm_clock = 300;
    standin_nvml::set("0000:5E:00.0", shows);
  }
  ~clock_of_gpu() override { standin_nvml::reset(); }
};

TEST_F(clock_of_gpu, is_read_each_time_in_hertz_from_the_one_in_that_place) {
  {
    const sm_clock clock{place};
    EXPECT_EQ(clock.error(), "");
    EXPECT_EQ(clock.hertz(), 1.755e9);
    standin_nvml::gpu hot;
    hot.sm_clock = 1410;
    standin_nvml::set(place, hot);
    EXPECT_EQ(clock.hertz(), 1.41e9);
    standin_nvml::fail("nvmlDeviceGetClockInfo", 15);
    EXPECT_EQ(clock.hertz(), 0);
    EXPECT_EQ(standin_nvml::initialised(), 1);
  }
  EXPECT_EQ(standin_nvml::initialised(), 0);
}

TEST_F(clock_of_gpu, is_unknown_where_nvml_fails_and_says_why) {
  for (const char* function : {"nvmlInit", "nvmlDeviceGetHandleByPciBusId", "nvmlDeviceGetClockInfo"}) {
    standin_nvml::fail(function, 15);
    {
      const sm_clock clock{place};
      EXPECT_EQ(clock.hertz(), 0);
      EXPECT_EQ(clock.error(), std::string{function} + " failed: GPU is lost (15)");
    }
    standin_nvml::fail(function, 0);
    EXPECT_EQ(standin_nvml::initialised(), 0) << function;
  }
  EXPECT_THAT(sm_clock{"0000:99:00.0"}.error(), HasSubstr("nvmlDeviceGetHandleByPciBusId failed"));
}

TEST_F(clock_of_gpu, is_unknown_without_a_library) {
  for (const char* library : {"/none/libnvidia-ml.so.1", "libm.so.6"}) {
    const sm_clock clock{place, library};
    EXPECT_EQ(clock.hertz(), 0);
    EXPECT_THAT(clock.error(), HasSubstr("libnvidia-ml"));
  }
}

}  // namespace

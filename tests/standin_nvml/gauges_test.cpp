// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What sessions read at intervals, from outside, over the stand-ins for NVML and the CUDA driver.
#include "standin_cuda/control.hpp"
#include "standin_cupti/control.hpp"
#include "standin_nvml/control.hpp"

#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using varve::gauge_kind;

constexpr const char* first_gpu = "0000:0b:00.0";  // of CUDA: the second on the bus
constexpr const char* second_gpu = "0000:0a:00.0";

class gauges : public testing::Test {
 protected:
  gauges() {
    standin::config taken;  // CUPTI by another tool: the driver alone is there
    taken.other_subscriber = true;
    standin::reset(taken);
    standin_cuda::reset();
    standin_nvml::reset();
    options.gpu.cupti_library = "libcupti.so.13";
    options.gauges.gpu_period = 100'000;
  }

  static std::vector<std::int64_t> values(const varve::trace& t, gauge_kind what,
                                          std::uint32_t device = varve::none) {
    std::vector<std::int64_t> out;
    for (const varve::gauge_sample& s : t.gauges) {
      if (s.what == what && s.device == device) {
        out.push_back(s.value);
      }
    }
    return out;
  }
  static std::set<std::int64_t> set_of(const std::vector<std::int64_t>& values) {
    return {values.begin(), values.end()};
  }
  template <class Collectors>
  static varve::collector_status status_of(const Collectors& collectors, const std::string& name) {
    const auto found = std::find_if(collectors.begin(), collectors.end(),
                                    [&](const varve::collector_status& c) { return c.name == name; });
    return found != collectors.end() ? *found : varve::collector_status{};
  }
  static std::uint64_t lost(const varve::trace& t, const char* what) {
    std::uint64_t count = 0;
    for (const varve::loss& l : t.losses) {
      count += l.what.find(what) != std::string::npos ? l.count : 0;
    }
    return count;
  }
  static std::size_t threads() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator{"/proc/self/task"}) {
      ++count;
    }
    return count;
  }

  varve::session_options options;
};

TEST_F(gauges, of_gpus_are_matched_by_their_place_on_the_bus) {
  standin_cuda::create_context(0);
  standin_cuda::create_context(1);
  standin_nvml::set(second_gpu, {1'400, 1'000, 0, 40, 90'000, 7});
  standin_nvml::set(first_gpu, {1'980, 2'619, 0, 71, 350'000, 9});
  varve::session session{options};
  standin_nvml::wait_for_rounds(second_gpu, 1);  // the last that is read in a round
  const varve::trace t = session.stop();
  EXPECT_THAT(set_of(values(t, gauge_kind::sm_clock, 0)), ElementsAre(1'980'000'000));
  EXPECT_THAT(set_of(values(t, gauge_kind::sm_clock, 1)), ElementsAre(1'400'000'000));
  EXPECT_THAT(set_of(values(t, gauge_kind::memory_clock, 0)), ElementsAre(2'619'000'000));
  EXPECT_THAT(set_of(values(t, gauge_kind::temperature, 0)), ElementsAre(71));
  EXPECT_THAT(set_of(values(t, gauge_kind::power, 1)), ElementsAre(90'000));
  EXPECT_THAT(set_of(values(t, gauge_kind::memory_used, 0)), ElementsAre(9));
  EXPECT_THAT(set_of(values(t, gauge_kind::clock_limits, 0)), ElementsAre(0));
  const varve::collector_status nvml = status_of(t.collectors, "nvml");
  EXPECT_EQ(nvml.state, varve::collector_state::stopped);
  EXPECT_EQ(nvml.version, "13.580.65");
  EXPECT_THAT(nvml.detail, HasSubstr("of 2 GPUs, every 0.1 ms"));
}

TEST_F(gauges, show_clocks_that_drop_and_why) {
  standin_cuda::create_context();
  standin_nvml::set(first_gpu, {});
  varve::session session{options};
  standin_nvml::wait_for_rounds(first_gpu, 1);
  standin_nvml::gpu hot;
  hot.sm_clock = 1'200;
  hot.limits = 0x4 | 0x40;  // SW power cap, HW thermal slowdown
  standin_nvml::set(first_gpu, hot);
  standin_nvml::wait_for_rounds(first_gpu, 1);
  const varve::trace t = session.stop();
  const std::vector<std::int64_t> clocks = values(t, gauge_kind::sm_clock, 0);
  EXPECT_EQ(clocks.front(), 1'980'000'000);
  EXPECT_EQ(clocks.back(), 1'200'000'000);
  const auto bit = [](varve::clock_limit l) { return std::int64_t{1} << static_cast<unsigned>(l); };
  EXPECT_EQ(values(t, gauge_kind::clock_limits, 0).back(),
            bit(varve::clock_limit::power_cap) | bit(varve::clock_limit::hardware_thermal));
  EXPECT_TRUE(std::is_sorted(t.gauges.begin(), t.gauges.end(),
                             [](const auto& a, const auto& b) { return a.at < b.at; }));
  EXPECT_GE(t.gauges.front().at, t.begin - 1'000'000'000);
  EXPECT_LE(t.gauges.front().at, t.end);
}

TEST_F(gauges, of_the_process_go_on_where_there_is_no_nvml) {
  standin_cuda::create_context();
  options.gauges.nvml_library = "/nowhere/libnvidia-ml.so.1";
  varve::session session{options};
  const varve::collector_status nvml = status_of(session.status().collectors, "nvml");
  EXPECT_EQ(nvml.state, varve::collector_state::unavailable);
  EXPECT_THAT(nvml.detail, AllOf(HasSubstr("/nowhere/libnvidia-ml.so.1"), HasSubstr("install"),
                                 HasSubstr("gauge_options::gpu_period")));
  EXPECT_EQ(status_of(session.status().collectors, "gauges").state, varve::collector_state::running);
  const varve::trace t = session.stop();
  EXPECT_GE(values(t, gauge_kind::minor_faults).size(), 2U);  // at the begin and at the end
  EXPECT_THAT(values(t, gauge_kind::sm_clock, 0), IsEmpty());
}

TEST_F(gauges, count_the_page_faults_of_a_session) {
  varve::session session{options};
  constexpr std::size_t pages = 64;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory =
      ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ::madvise(memory, pages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) {
    static_cast<volatile char*>(memory)[i * page] = 1;
  }
  const varve::trace t = session.stop();
  ::munmap(memory, pages * page);
  const std::vector<std::int64_t> faults = values(t, gauge_kind::minor_faults);
  EXPECT_GE(faults.back() - faults.front(), static_cast<std::int64_t>(pages));
}

TEST_F(gauges, that_are_off_have_no_thread_and_ask_nobody) {
  standin_cuda::create_context();
  standin_nvml::set(first_gpu, {});
  options.gauges.host_period = options.gauges.gpu_period = 0;
  std::size_t without = 0;
  {
    varve::session session{options};
    without = threads();
    EXPECT_EQ(status_of(session.status().collectors, "gauges").name, "");
    EXPECT_EQ(status_of(session.status().collectors, "nvml").name, "");
    EXPECT_THAT(session.stop().gauges, IsEmpty());
  }
  EXPECT_EQ(standin_nvml::calls(), 0U);
  options.gauges.host_period = 10'000'000;
  const varve::session session{options};
  EXPECT_EQ(threads(), without + 1);
}

TEST_F(gauges, ask_nvml_nothing_before_the_process_uses_cuda) {
  standin_nvml::set(first_gpu, {});
  varve::session session{options};
  EXPECT_THAT(status_of(session.status().collectors, "nvml").detail,
              HasSubstr("waits for the process to use CUDA"));
  EXPECT_THAT(values(session.stop(), gauge_kind::sm_clock, 0), IsEmpty());
  EXPECT_EQ(standin_nvml::calls(), 0U);
}

TEST_F(gauges, of_gpus_are_left_out_where_gpus_are) {
  standin_cuda::create_context();
  standin_nvml::set(first_gpu, {});
  options.gpu.enabled = false;
  varve::session session{options};
  EXPECT_EQ(status_of(session.status().collectors, "nvml").name, "");
  static_cast<void>(session.stop());
  EXPECT_EQ(standin_nvml::calls(), 0U);
}

TEST_F(gauges, that_a_gpu_does_not_have_are_left_out_and_others_that_fail_are_counted) {
  standin_cuda::create_context();
  standin_nvml::set(first_gpu, {});
  standin_nvml::fail("nvmlDeviceGetPowerUsage", 3);    // not supported
  standin_nvml::fail("nvmlDeviceGetTemperature", 15);  // lost
  varve::session session{options};
  standin_nvml::wait_for_rounds(first_gpu, 2);
  const varve::trace t = session.stop();
  EXPECT_THAT(values(t, gauge_kind::power, 0), IsEmpty());
  EXPECT_THAT(values(t, gauge_kind::temperature, 0), IsEmpty());
  EXPECT_THAT(values(t, gauge_kind::sm_clock, 0), Not(IsEmpty()));
  EXPECT_EQ(lost(t, "readings that NVML failed to give, at last: GPU is lost (15); dmesg"),
            values(t, gauge_kind::sm_clock, 0).size());
}

TEST_F(gauges, say_what_to_do_where_nvml_does_not_start) {
  standin_cuda::create_context();
  standin_nvml::set(first_gpu, {});
  standin_nvml::fail("nvmlInit", 9);
  varve::session session{options};
  const varve::trace t = session.stop();
  const varve::collector_status nvml = status_of(t.collectors, "nvml");
  EXPECT_EQ(nvml.state, varve::collector_state::unavailable);
  EXPECT_THAT(nvml.detail, AllOf(HasSubstr("(9)"), HasSubstr("load the kernel module")));
}

TEST_F(gauges, say_which_gpus_nvml_does_not_know) {
  standin_cuda::create_context(0);
  standin_cuda::create_context(1);
  standin_nvml::set(second_gpu, {});
  varve::session session{options};
  standin_nvml::wait_for_rounds(second_gpu, 1);
  const varve::trace t = session.stop();
  EXPECT_THAT(values(t, gauge_kind::sm_clock, 1), Not(IsEmpty()));
  EXPECT_EQ(lost(t, "that NVML does not know"), 1U);
}

TEST_F(gauges, are_thinned_out_where_their_memory_is_full) {
  standin_cuda::create_context();
  standin_nvml::set(first_gpu, {});
  options.gauges.host_period = 0;
  constexpr std::size_t rounds = 4;
  options.gauges.memory = rounds * 6 * sizeof(varve::gauge_sample);  // six gauges of one GPU
  varve::session session{options};
  standin_nvml::wait_for_rounds(first_gpu, 20);
  const varve::trace t = session.stop();
  const std::size_t taken = standin_nvml::rounds(first_gpu);
  EXPECT_LE(t.gauges.size(), rounds * 6);
  EXPECT_GE(t.gauges.size(), rounds / 2 * 6);
  EXPECT_EQ(lost(t, "thinned out"), taken * 6 - t.gauges.size());
  // A fifth round makes two of four, and so on: at least three times for twenty.
  EXPECT_THAT(status_of(t.collectors, "nvml").detail, Not(HasSubstr("every 0.1 ms")));
}

TEST_F(gauges, give_nvml_back_with_their_session) {
  standin_cuda::create_context();
  standin_nvml::set(first_gpu, {});
  {
    varve::session session{options};
    standin_nvml::wait_for_rounds(first_gpu, 1);
    EXPECT_EQ(standin_nvml::initialised(), 1);
    const varve::trace before = session.snapshot();
    EXPECT_THAT(values(before, gauge_kind::sm_clock, 0), Not(IsEmpty()));
    static_cast<void>(session.stop());
    const std::size_t rounds = standin_nvml::rounds(first_gpu);
    EXPECT_GE(rounds, values(before, gauge_kind::sm_clock, 0).size());
  }
  EXPECT_EQ(standin_nvml::initialised(), 0);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A fork of a process whose session reads gauges.
#include "standin_cuda/control.hpp"
#include "standin_cupti/control.hpp"
#include "standin_nvml/control.hpp"

#include <varve/varve.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace {

int exit_code_of(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(gauges_in_a_child, are_its_own_and_those_of_gpus_its_parents) {
  standin::config taken;
  taken.other_subscriber = true;
  standin::reset(taken);
  standin_cuda::create_context();
  standin_nvml::set("0000:0b:00.0", {});
  varve::session_options options;
  options.gpu.cupti_library = "libcupti.so.13";
  options.gauges.gpu_period = 100'000;
  auto session = std::make_unique<varve::session>(options);
  standin_nvml::wait_for_rounds("0000:0b:00.0", 1);
  const pid_t child = fork();
  if (child == 0) {
    static_cast<void>(session->status());
    session.reset();  // leaves the parent's thread alone
    varve::session own{options};
    const auto collectors = own.status().collectors;
    const bool left = std::any_of(collectors.begin(), collectors.end(), [](const auto& c) {
      return c.name == "nvml" && c.state == varve::collector_state::unavailable &&
             c.detail.find("forked") != std::string::npos;
    });
    const varve::trace t = own.stop();
    const bool of_gpu = std::any_of(t.gauges.begin(), t.gauges.end(),
                                    [](const varve::gauge_sample& s) { return s.device != varve::none; });
    _exit(left && !of_gpu && t.gauges.size() >= 8 ? 0 : 1);
  }
  EXPECT_EQ(exit_code_of(child), 0);
  standin_nvml::wait_for_rounds("0000:0b:00.0", 1);  // the parent reads on
  const varve::trace t = session->stop();
  EXPECT_TRUE(std::any_of(t.gauges.begin(), t.gauges.end(),
                          [](const varve::gauge_sample& s) { return s.device == 0; }));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Many threads that launch, while a session reads, starts and stops.
#include "collector_fixture.hpp"

#include <atomic>
#include <thread>

namespace collector_tests {
namespace {

using testing::IsEmpty;

constexpr int threads = 16;

class collector_thread_test : public collector_test, public testing::WithParamInterface<standin::delivery> {
 protected:
  template <class Body>
  static void on_threads(const Body& body) {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&body, i] { body(i); });
    }
    for (std::thread& t : all) {
      t.join();
    }
  }
};

TEST_P(collector_thread_test, each_kernel_is_in_the_layer_of_its_thread) {
  standin::config settings;
  settings.deliver = GetParam();
  settings.records_per_buffer = 32;  // 16 threads of 121: 64 buffers
  options.gpu.buffers = 100;
  settings.correlation = standin::nested_correlation::inner;
  standin::reset(settings);
  varve::session session{options};
  on_threads([&](int i) {
    const standin::stream s = standin::create_stream();
    const std::string name = "thread" + std::to_string(i);
    const varve::phase pass{varve::prefill};
    for (int n = 0; n < 20; ++n) {
      const varve::layer layer{"of", i};
      for (int k = 0; k < 5; ++k) {
        note(name, "prefill / of " + std::to_string(i), standin::launch(s, name));
      }
      standin::copy(s, varve::cupti::copy_direction::host_to_device, 8);
    }
    note("Memset", "prefill", standin::memset(s, 0, 8));
  });
  const varve::trace t = session.stop();
  std::vector<std::string> of_launches;
  for (const std::string& line : lines_of(t)) {
    if (line.rfind("Memcpy", 0) != 0) {
      of_launches.push_back(line);
    }
  }
  EXPECT_EQ(of_launches, expected());
  EXPECT_THAT(t.losses, IsEmpty());
  EXPECT_EQ(t.activities.size(), 16U * 121);  // 20·(5 + 1) + 1 each
  EXPECT_EQ(t.streams.size(), 16U);
  EXPECT_EQ(varve::analyze(t).quality.matched, 16 * 121);
}

std::string name_of(const testing::TestParamInfo<standin::delivery>& who) {
  return who.param == standin::delivery::worker   ? "worker"
         : who.param == standin::delivery::filler ? "filler"
                                                  : "flush_only";
}

INSTANTIATE_TEST_SUITE_P(delivery, collector_thread_test,
                         testing::Values(standin::delivery::worker, standin::delivery::filler,
                                         standin::delivery::flush_only),
                         name_of);

TEST_F(collector_test, sessions_come_and_go_and_are_looked_at_while_threads_launch) {
  standin::change([](standin::config& c) { c.duration = 1; });  // no stream falls behind its calls
  std::atomic<bool> done{false};
  std::vector<std::thread> engine;
  for (int i = 0; i < 4; ++i) {
    engine.emplace_back([&, i] {
      const standin::stream s = standin::create_stream();
      while (!done) {
        const varve::layer layer{"of", i};
        standin::launch(s, "k");
        standin::synchronize(s);
      }
    });
  }
  for (int n = 0; n < 5; ++n) {
    varve::session session{options};
    while (session.snapshot().activities.size() < 50) {
      static_cast<void>(session.status());
    }
    const varve::trace t = session.stop();
    EXPECT_GE(t.activities.size(), 50U);
    EXPECT_THAT(t.losses, IsEmpty());
    // Work whose call was not seen is of the moments in which the session began or ended.
    const varve::report_quality q = varve::analyze(t).quality;
    EXPECT_GT(q.matched, q.unmatched);
  }
  done = true;
  for (std::thread& t : engine) {
    t.join();
  }
}

}  // namespace
}  // namespace collector_tests

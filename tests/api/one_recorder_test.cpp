// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// An executable and its plugins share one recorder, whichever compiler built them and whenever they go. The
// plugin "other" is built by the compiler that the build does not use, where there is one.
#include <varve/collector.hpp>
#include <varve/varve.hpp>

#include "support/shared_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

void run(const shared_object& plugin, int index) { plugin.function<void(int)>("plugin_run")(index); }

std::vector<std::string> paths(const varve::trace& t) {
  std::vector<std::string> out;
  for (const varve::range& r : t.ranges) {
    out.push_back(varve::label_text(t, r.label));
  }
  return out;
}

TEST(one_recorder, serves_the_executable_and_three_plugins) {
  const shared_object a{VARVE_PLUGIN_ALPHA};
  const shared_object b{VARVE_PLUGIN_BETA};
  const shared_object c{VARVE_PLUGIN_OTHER};
  for (const shared_object* plugin : {&a, &b, &c}) {
    EXPECT_EQ(plugin->function<const void*()>("plugin_state")(), &varve_state_);
  }

  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  {
    const varve::phase pass{varve::decode};
    { const varve::layer own{"executable", 0}; }
    run(a, 1);
    std::thread{[&] { run(b, 2); }}.join();  // no pass is open on that thread
    run(c, 3);
  }
  const varve::trace trace = session.stop();
  EXPECT_THAT(paths(trace), UnorderedElementsAre("decode", "decode / executable 0", "decode / alpha 1",
                                                 "decode / alpha 1 / alpha op", "beta 2", "beta 2 / beta op",
                                                 "decode / other 3", "decode / other 3 / other op"));
  EXPECT_TRUE(trace.losses.empty()) << trace.losses.front().what;
}

TEST(one_recorder, keeps_the_names_of_plugins_that_were_unloaded) {
  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  std::vector<std::string> expected;
  for (const char* path : {VARVE_PLUGIN_ALPHA, VARVE_PLUGIN_OTHER}) {
    shared_object plugin{path};
    run(plugin, 1);
    const std::string layer = plugin.function<const char*()>("plugin_layer")();
    expected.insert(expected.end(), {layer + " 1", layer + " 1 / " + layer + " op"});
    plugin.unload();
  }
  EXPECT_THAT(paths(session.stop()), ElementsAreArray(expected));
}

// The second plugin's literals are likely to lie where the first one's were: a name remembered by its
// address alone would come back as the other's.
TEST(one_recorder, tells_plugins_apart_that_are_loaded_one_after_another_at_the_same_place) {
  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  for (int i = 0; i < 3; ++i) {
    for (const char* path : {VARVE_PLUGIN_ALPHA, VARVE_PLUGIN_GAMMA}) {
      const shared_object plugin{path};
      run(plugin, i);
    }
  }
  EXPECT_THAT(paths(session.stop()),
              ElementsAre("alpha 0", "alpha 0 / alpha op", "gamma 0", "gamma 0 / gamma op",  //
                          "alpha 1", "alpha 1 / alpha op", "gamma 1", "gamma 1 / gamma op",  //
                          "alpha 2", "alpha 2 / alpha op", "gamma 2", "gamma 2 / gamma op"));
}

TEST(one_recorder, keeps_the_labels_of_a_graph_that_a_plugin_captured_before_it_was_unloaded) {
  varve::host_device device{{0, "test device", 0, 0, 0}};
  ASSERT_TRUE(varve::arm());
  std::uint64_t node = 0;
  {
    const shared_object plugin{VARVE_PLUGIN_ALPHA};
    node = plugin.function<std::uint64_t(varve::host_device&, int)>("plugin_capture")(device, 1);
  }
  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  {
    const varve::host_call replay{device, varve::call_kind::graph_launch};
    const std::uint64_t now = varve::clock_ticks();
    device.report({0, replay.correlation(), "kernel", now, now + 1, varve::activity_kind::kernel, node});
  }
  const varve::trace trace = session.stop();
  ASSERT_EQ(trace.graph_nodes.size(), 1U);
  EXPECT_EQ(varve::label_text(trace, trace.graph_nodes[0].label), "alpha 1");
  varve::disarm();
}

TEST(one_recorder, can_be_asked_while_plugins_come_and_go) {
  constexpr int times = 50;
  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  std::atomic<bool> done{false};
  std::thread asking{[&] {
    while (!done) {
      for (const std::string& path : paths(session.snapshot())) {
        EXPECT_THAT(path, testing::StartsWith("alpha "));
      }
    }
  }};
  for (int i = 0; i < times; ++i) {
    const shared_object plugin{VARVE_PLUGIN_ALPHA};
    run(plugin, i);
  }
  done = true;
  asking.join();
  EXPECT_EQ(session.stop().ranges.size(), 2U * times);  // a layer and an op each time
}

// The collectors' states that tell of second copies of the library.
std::vector<std::string> second_copies(const std::vector<varve::collector_status>& collectors) {
  std::vector<std::string> out;
  for (const varve::collector_status& c : collectors) {
    if (c.name == "second copy of varve") {
      EXPECT_EQ(c.state, varve::collector_state::unavailable);
      out.push_back(c.detail);
    }
  }
  return out;
}

TEST(second_copy, is_not_seen_where_plugins_share_the_library) {
  const shared_object plugin{VARVE_PLUGIN_ALPHA};
  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  EXPECT_THAT(second_copies(session.status().collectors), IsEmpty());
  EXPECT_THAT(second_copies(session.stop().collectors), IsEmpty());
}

TEST(second_copy, is_named_by_the_session_and_its_markers_are_not_taken_for_ours) {
  const shared_object plugin{VARVE_SECOND_COPY, shared_object::may_stay};
  ASSERT_NE(plugin.function<const void*()>("plugin_state")(), &varve_state_) << "not a second copy";
  std::vector<std::string> log;
  varve::session_options options;
  options.log = [&](varve::log_level, std::string_view line) { log.emplace_back(line); };
  varve::session session{options};
  ASSERT_TRUE(session) << session.status().error;
  EXPECT_THAT(second_copies(session.status().collectors),
              ElementsAre(AllOf(HasSubstr("libsecond_copy.so"), HasSubstr("link it against"))));
  EXPECT_THAT(log, Contains(HasSubstr("libsecond_copy.so")));

  { const varve::layer own{"executable", 0}; }
  run(plugin, 1);
  const varve::trace trace = session.stop();
  EXPECT_THAT(paths(trace), ElementsAre("executable 0"));
  EXPECT_THAT(second_copies(trace.collectors), ElementsAre(HasSubstr("libsecond_copy.so")));
}

TEST(second_copy, is_named_too_when_it_comes_while_the_session_runs) {
  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  const shared_object plugin{VARVE_SECOND_COPY, shared_object::may_stay};
  EXPECT_THAT(second_copies(session.status().collectors), ElementsAre(HasSubstr("libsecond_copy.so")));
  EXPECT_THAT(second_copies(session.stop().collectors), ElementsAre(HasSubstr("libsecond_copy.so")));
}

TEST(second_copy, names_the_shared_library_in_its_own_status) {
  const shared_object plugin{VARVE_SECOND_COPY, shared_object::may_stay};
  const auto described = plugin.function<void(char*, std::size_t)>("plugin_session");
  char text[1024] = "";
  described(text, sizeof text);
  EXPECT_THAT(text, HasSubstr("libvarve.so"));
}

TEST(second_copy, is_what_arming_fails_for) {
  const shared_object plugin{VARVE_SECOND_COPY, shared_object::may_stay};
  EXPECT_FALSE(varve::arm());
  EXPECT_EQ(plugin.function<int()>("plugin_arm")(), -1);
  varve::disarm();
}

TEST(version, of_the_library_is_that_of_the_headers_and_of_the_build) {
  EXPECT_EQ(varve_version(), VARVE_VERSION);
  EXPECT_EQ(varve::version(), VARVE_VERSION);
  EXPECT_EQ(std::to_string(VARVE_VERSION_MAJOR) + '.' + std::to_string(VARVE_VERSION_MINOR) + '.' +
                std::to_string(VARVE_VERSION_PATCH),
            VARVE_PROJECT_VERSION);
}

}  // namespace

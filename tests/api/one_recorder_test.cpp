// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// An executable and its plugins share one recorder, whichever compiler built them and whenever they go.
#include <varve/varve.hpp>

#include "support/shared_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

void run(const shared_object& plugin, int index) { plugin.function<void(int)>("plugin_run")(index); }

std::vector<std::string> paths(const varve::trace& t) {
  std::vector<std::string> out;
  for (const varve::range& r : t.ranges) {
    out.push_back(varve::label_text(t, r.label));
  }
  return out;
}

TEST(one_recorder, serves_the_executable_and_two_plugins_of_each_compiler) {
  const shared_object a{VARVE_PLUGIN_ALPHA};
  const shared_object b{VARVE_PLUGIN_BETA};
  std::vector<std::string> expected = {"decode",           "decode / executable 0",
                                       "decode / alpha 1", "decode / alpha 1 / alpha op",
                                       "beta 2",           "beta 2 / beta op"};
  EXPECT_EQ(a.function<const void*()>("plugin_state")(), &varve_state_);

  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  {
    const varve::phase pass{varve::decode};
    { const varve::layer own{"executable", 0}; }
    run(a, 1);
    std::thread{[&] { run(b, 2); }}.join();  // no pass is open on that thread
#if defined(VARVE_PLUGIN_OTHER)
    const shared_object other{VARVE_PLUGIN_OTHER};
    run(other, 3);
    expected.insert(expected.end(), {"decode / other 3", "decode / other 3 / other op"});
#endif
  }
  const varve::trace trace = session.stop();
  EXPECT_THAT(paths(trace), UnorderedElementsAreArray(expected));
  EXPECT_TRUE(trace.losses.empty()) << trace.losses.front().what;
}

TEST(one_recorder, keeps_the_names_of_a_plugin_that_was_unloaded) {
  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  {
    shared_object plugin{VARVE_PLUGIN_ALPHA};
    run(plugin, 1);
    plugin.unload();
  }
  EXPECT_THAT(paths(session.stop()), ElementsAre("alpha 1", "alpha 1 / alpha op"));
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

TEST(one_recorder, keeps_the_names_of_a_plugin_that_was_unloaded_while_armed_only) {
  ASSERT_TRUE(varve::arm());
  {
    const shared_object plugin{VARVE_PLUGIN_ALPHA};
    run(plugin, 1);
  }
  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  {
    const shared_object plugin{VARVE_PLUGIN_GAMMA};
    run(plugin, 2);
  }
  EXPECT_THAT(paths(session.stop()), ElementsAre("gamma 2", "gamma 2 / gamma op"));
  varve::disarm();
}

TEST(second_copy, of_the_library_is_refused_and_named) {
  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  const shared_object plugin{VARVE_SECOND_COPY};
  ASSERT_NE(plugin.function<const void*()>("plugin_state")(), &varve_state_) << "not a second copy";

  char error[1024] = "";
  plugin.function<void(char*, std::size_t)>("plugin_session")(error, sizeof error);
  EXPECT_THAT(error, HasSubstr("copy of varve"));
  EXPECT_THAT(error, HasSubstr("libvarve.so"));  // which one is active
  EXPECT_EQ(plugin.function<int()>("plugin_arm")(), -1);

  // The one that is active says so too, with the name of the other.
  const varve::session_status status = session.status();
  const bool named = std::any_of(status.losses.begin(), status.losses.end(), [](const varve::loss& l) {
    return l.where.find("second_copy") != std::string::npos;
  });
  EXPECT_TRUE(named) << "no loss names the second copy";
  run(plugin, 1);
  EXPECT_THAT(paths(session.stop()), ElementsAre());
}

TEST(second_copy, that_is_never_used_does_no_harm) {
  const shared_object plugin{VARVE_SECOND_COPY};
  run(plugin, 1);
  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  EXPECT_TRUE(session.status().error.empty());
  { const varve::layer own{"executable", 0}; }
  EXPECT_THAT(paths(session.stop()), ElementsAre("executable 0"));
}

TEST(version, of_the_library_is_that_of_the_headers_and_of_the_build) {
  EXPECT_EQ(varve_version(), VARVE_VERSION);
  EXPECT_EQ(varve::version(), VARVE_VERSION);
  EXPECT_EQ(std::to_string(VARVE_VERSION_MAJOR) + '.' + std::to_string(VARVE_VERSION_MINOR) + '.' +
                std::to_string(VARVE_VERSION_PATCH),
            VARVE_PROJECT_VERSION);
}

}  // namespace

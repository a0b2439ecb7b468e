// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/library.hpp"

#include "cupti/classify.hpp"
#include "cupti/explain.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace varve::cupti;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(library_test, a_path_to_nothing_is_named_with_what_to_do) {
  const load_result result = load("/nowhere/libcupti.so.13");
  EXPECT_EQ(result.loaded, nullptr);
  EXPECT_THAT(result.error, HasSubstr("/nowhere/libcupti.so.13: cannot open"));
  EXPECT_THAT(result.error, HasSubstr("Name another file"));
}

TEST(library_test, a_library_that_lacks_a_needed_function_is_refused_by_its_name) {
  const load_result result = load(VARVE_FAKE_INCOMPLETE);
  EXPECT_EQ(result.loaded, nullptr);
  EXPECT_THAT(result.error, HasSubstr(VARVE_FAKE_INCOMPLETE));
  EXPECT_THAT(result.error, HasSubstr("has no cuptiSubscribe"));
}

TEST(library_test, a_library_of_cuda_11_is_refused) {
  const load_result result = load(VARVE_FAKE_OLD);
  EXPECT_EQ(result.loaded, nullptr);
  EXPECT_THAT(result.error, HasSubstr("is of CUDA 11.8 (18), varve needs 12.0 or newer"));
}

TEST(library_test, functions_that_are_not_needed_may_be_missing_and_are_told) {
  const load_result result = load(VARVE_FAKE_12);
  ASSERT_NE(result.loaded, nullptr) << result.error;
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.loaded->version, 22U);
  EXPECT_EQ(result.loaded->path, VARVE_FAKE_12);
  EXPECT_THAT(result.loaded->missing, Contains("cuptiGetGraphNodeId"));
  EXPECT_THAT(result.loaded->missing, Not(Contains("cuptiEnableDomain")));
  EXPECT_EQ(result.loaded->call.get_graph_node_id, nullptr);
  EXPECT_NE(result.loaded->call.enable_domain, nullptr);
}

TEST(library_test, all_threads_get_the_same_library) {
  std::array<const library*, 8> found{};
  std::vector<std::thread> threads;
  threads.reserve(found.size());
  for (const library*& mine : found) {
    threads.emplace_back([&mine] { mine = load(VARVE_FAKE_12).loaded; });
  }
  for (std::thread& t : threads) {
    t.join();
  }
  ASSERT_NE(found.front(), nullptr);
  EXPECT_THAT(found, ::testing::Each(found.front()));
}

// What a search finds depends on what the process has loaded: each has a process of its own.
template <class Check>
void in_a_fresh_process(Check check) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(check() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

TEST(library_test, a_loaded_copy_goes_before_the_toolkit) {
  in_a_fresh_process([] {
    setenv("CUDA_HOME", "/nowhere", 1);
    if (dlopen(VARVE_FAKE_12, RTLD_NOW | RTLD_LOCAL) == nullptr) {
      return false;
    }
    const load_result result = load();
    return result.loaded != nullptr && result.loaded->was_loaded && result.loaded->path == VARVE_FAKE_12;
  });
}

TEST(library_test, cuda_home_goes_before_cuda_path_and_the_loader) {
  in_a_fresh_process([] {
    setenv("CUDA_HOME", VARVE_FAKE_TOOLKIT, 1);
    setenv("CUDA_PATH", "/nowhere", 1);
    const load_result result = load();
    return result.loaded != nullptr && !result.loaded->was_loaded &&
           result.loaded->path == VARVE_FAKE_TOOLKIT "/extras/CUPTI/lib64/libcupti.so.12" &&
           load().loaded == result.loaded;
  });
}

TEST(library_test, a_loaded_copy_of_no_use_is_not_doubled) {
  in_a_fresh_process([] {
    setenv("CUDA_HOME", VARVE_FAKE_TOOLKIT, 1);
    if (dlopen(VARVE_FAKE_13_INCOMPLETE, RTLD_NOW | RTLD_LOCAL) == nullptr) {
      return false;
    }
    const load_result result = load();
    return result.loaded == nullptr && result.error.find("has no cuptiSubscribe") != std::string::npos &&
           result.error.find("set CUDA_HOME") != std::string::npos;
  });
}

TEST(library_test, versions_are_told_as_those_of_cuda) {
  EXPECT_EQ(version_text(19), "12.0 or 12.1 (19)");
  EXPECT_EQ(version_text(22), "12.4 (22)");
  EXPECT_EQ(version_text(28), "12.9 (28)");
  EXPECT_EQ(version_text(25), "unknown (25)");
  EXPECT_EQ(version_text(130001), "13.0 (130001)");
  EXPECT_EQ(version_text(130400), "13.4 (130400)");
}

TEST(explain_test, each_error_has_a_cause_and_a_next_step) {
  EXPECT_EQ(explain(result::success, "cuptiSubscribe"), "");
  const std::string taken = explain(result::multiple_subscribers_not_supported, "cuptiSubscribe");
  EXPECT_THAT(taken, HasSubstr("cuptiSubscribe: CUPTI error 39: another profiler"));
  EXPECT_THAT(taken, HasSubstr("run without it"));
  EXPECT_THAT(explain(result::not_initialized, "f"), HasSubstr("update the driver"));
  EXPECT_THAT(explain(result::insufficient_privileges, "f"),
              HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(explain(result::virtualized_device_not_supported, "f"), HasSubstr("virtual GPU"));
  EXPECT_THAT(explain(result::virtualized_device_insufficient_privileges, "f"), HasSubstr("virtual GPU"));
  EXPECT_THAT(explain(result::confidential_computing_not_supported, "f"), HasSubstr("confidential"));
  EXPECT_THAT(explain(result::mig_device_not_supported, "f"), HasSubstr("MIG"));
  EXPECT_THAT(explain(result::unknown, "f"), HasSubstr("no NVIDIA driver or no GPU"));
  EXPECT_EQ(explain(static_cast<result>(12345), "f"),
            "f: CUPTI error 12345: please report it, with the versions of CUDA and of the driver");
}

#if defined(VARVE_REAL_CUPTI)

class real_library_test : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(found_.loaded, nullptr) << found_.error; }
  [[nodiscard]] const functions& call() const { return found_.loaded->call; }

  load_result found_ = load(VARVE_REAL_CUPTI);
};

TEST_F(real_library_test, nothing_is_missing) {
  EXPECT_THAT(found_.loaded->missing, IsEmpty());
  EXPECT_GE(found_.loaded->version, 19U);
  EXPECT_THAT(found_.loaded->path, HasSubstr("libcupti.so"));
}

// Ids are numbered without gaps from 1 on.
TEST_F(real_library_test, it_names_every_callback_and_each_is_classified) {
  for (const callback_domain domain : {callback_domain::driver_api, callback_domain::runtime_api}) {
    std::uint32_t id = 1;
    for (const char* name = nullptr; call().get_callback_name(domain, id, &name) == result::success; ++id) {
      ASSERT_NE(name, nullptr) << id;
      EXPECT_TRUE(classify(name).has_value()) << name;
    }
    EXPECT_GT(id, 400U);
  }
}

TEST_F(real_library_test, a_launch_has_the_name_of_its_header) {
  const char* name = nullptr;
  ASSERT_EQ(call().get_callback_name(callback_domain::runtime_api, 211, &name), result::success);
  EXPECT_STREQ(name, "cudaLaunchKernel_v7000");
  ASSERT_EQ(call().get_callback_name(callback_domain::driver_api, 307, &name), result::success);
  EXPECT_STREQ(name, "cuLaunchKernel");
}

TEST_F(real_library_test, an_error_has_a_text) {
  const char* text = nullptr;
  ASSERT_EQ(call().get_result_string(result::multiple_subscribers_not_supported, &text), result::success);
  EXPECT_THAT(text, EndsWith("MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"));
}

#endif

}  // namespace

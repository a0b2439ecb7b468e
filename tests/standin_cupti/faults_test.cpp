// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/client.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace {

using namespace standin;
using cupti::record_kind;
using cupti::result;
using testing::IsEmpty;
using testing::SizeIs;

void ignore(void*, cupti::callback_domain, std::uint32_t, const void*) {}

TEST(standin_faults, a_function_fails_with_any_code_from_any_call_on_for_any_argument) {
  client c{{}, false};
  fail({"cuptiActivityEnable", result::not_supported, 0, 1, static_cast<std::uint64_t>(record_kind::memory)});
  EXPECT_EQ(cuptiActivityEnable(record_kind::memcpy), result::success);
  EXPECT_EQ(cuptiActivityEnable(record_kind::memory), result::not_supported);
  EXPECT_EQ(cuptiActivityEnable(record_kind::memory), result::success);
  fail({"cuptiActivityFlushAll", result::insufficient_privileges, 1});
  EXPECT_EQ(cuptiActivityFlushAll(0), result::success);
  EXPECT_EQ(cuptiActivityFlushAll(0), result::insufficient_privileges);
  fail({"", result::not_initialized});
  std::uint32_t version = 0;
  EXPECT_EQ(cuptiGetVersion(&version), result::not_initialized);
  clear_faults();
  EXPECT_EQ(cuptiGetVersion(&version), result::success);
}

TEST(standin_faults, there_is_one_subscriber_and_another_tool_can_be_it) {
  client c{{}, false};
  cupti::subscriber_handle first = nullptr;
  cupti::subscriber_handle second = nullptr;
  ASSERT_EQ(cuptiSubscribe(&first, ignore, nullptr), result::success);
  EXPECT_EQ(cuptiSubscribe(&second, ignore, nullptr), result::multiple_subscribers_not_supported);
  ASSERT_EQ(cuptiUnsubscribe(first), result::success);
  EXPECT_FALSE(subscribed());
  change([](config& s) { s.other_subscriber = true; });
  EXPECT_EQ(cuptiSubscribe(&second, ignore, nullptr), result::multiple_subscribers_not_supported);
}

TEST(standin_faults, callbacks_come_after_unsubscribing_if_asked_for) {
  for (const bool late : {false, true}) {
    config settings;
    settings.callbacks_after_unsubscribe = late;
    client c{settings};
    ASSERT_EQ(cuptiUnsubscribe(c.subscriber), result::success);
    launch({}, "k");
    EXPECT_EQ(c.callbacks().empty(), !late);
  }
}

TEST(standin_faults, calls_are_logged_in_order_with_their_numbers_and_results) {
  client c{{}, false};
  ASSERT_EQ(cuptiActivityEnable(record_kind::memcpy), result::success);
  ASSERT_EQ(cuptiActivityFlushAll(1), result::success);
  const auto log = calls();
  ASSERT_THAT(log, SizeIs(3));  // the client registers its buffers first
  EXPECT_EQ(log[1].function, "cuptiActivityEnable");
  EXPECT_EQ(log[1].arguments.at(0), 1U);
  EXPECT_EQ(log[2].result, result::success);
  EXPECT_EQ(call_count("cuptiActivityFlushAll"), 1U);
  EXPECT_EQ(call_count("cuptiSubscribe"), 0U);
}

TEST(standin_faults, a_callback_that_throws_is_a_misuse) {
  client c{{}, false};
  cupti::subscriber_handle handle = nullptr;
  const auto thrower = [](void*, cupti::callback_domain, std::uint32_t, const void*) {
    throw std::runtime_error{"no"};
  };
  ASSERT_EQ(cuptiSubscribe(&handle, thrower, nullptr), result::success);
  ASSERT_EQ(cuptiEnableAllDomains(1, handle), result::success);
  EXPECT_THAT(misuses(), IsEmpty());
  any_call(10, 0);
  EXPECT_THAT(misuses(), testing::Not(IsEmpty()));
}

TEST(standin_faults, cupti_tells_of_an_error_of_its_own) {
  client c;
  notify(cupti::state_event::fatal_error, result::hardware, "no");
  EXPECT_EQ(c.callbacks().back().domain, cupti::callback_domain::state);
}

TEST(standin_faults, a_later_cudas_callbacks_have_names_and_can_be_called) {
  client c;
  const char* name = nullptr;
  EXPECT_EQ(cuptiGetCallbackName(cupti::callback_domain::runtime_api, 600, &name), result::invalid_parameter);
  add_callback(cupti::callback_domain::runtime_api, 600, "cudaLaunchKernelLater_v14000");
  ASSERT_EQ(cuptiGetCallbackName(cupti::callback_domain::runtime_api, 600, &name), result::success);
  EXPECT_STREQ(name, "cudaLaunchKernelLater_v14000");
  EXPECT_EQ(cuptiGetCallbackName(cupti::callback_domain::runtime_api, 550, &name), result::success)
      << "no hole";
  work w;
  w.how.through = api::runtime;
  w.how.runtime_id = 600;
  launch({}, "k", {}, w);
  EXPECT_EQ(c.callbacks().back().id, 600U);
}

}  // namespace

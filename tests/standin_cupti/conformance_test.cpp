// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The real library, which needs no driver for this, reads what the stand-in writes, and names its callbacks
// alike.
#include "standin_cupti/client.hpp"
#include "standin_cupti/names.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <map>

namespace {

using namespace standin;
using cupti::record_kind;
using cupti::result;

template <class Function>
Function* real(const char* name) {
  static void* const library = ::dlopen(VARVE_REAL_CUPTI, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << ::dlerror();
  void* const found = library != nullptr ? ::dlsym(library, name) : nullptr;
  EXPECT_NE(found, nullptr) << name;
  return reinterpret_cast<Function*>(found);
}

using next_record_function = result(std::uint8_t*, std::size_t, std::uint8_t**);

std::vector<std::size_t> walk(next_record_function* next, seen_buffer& buffer, result& last) {
  std::vector<std::size_t> offsets;
  std::uint8_t* record = nullptr;
  while ((last = next(buffer.data(), buffer.valid, &record)) == result::success) {
    offsets.push_back(static_cast<std::size_t>(record - buffer.data()));
  }
  return offsets;
}

// In each buffer of the client both see the same records and the same end.
std::map<record_kind, std::size_t> expect_same_walk(client& c) {
  auto* const theirs = real<next_record_function>("cuptiActivityGetNextRecord");
  EXPECT_NE(theirs, &cuptiActivityGetNextRecord);
  std::map<record_kind, std::size_t> kinds;
  for (const auto& buffer : c.buffers()) {
    result our_last{};
    result their_last{};
    const auto ours = walk(&cuptiActivityGetNextRecord, *buffer, our_last);
    EXPECT_EQ(walk(theirs, *buffer, their_last), ours);
    EXPECT_EQ(their_last, our_last);
    for (const std::size_t offset : ours) {
      ++kinds[cupti::read(buffer->data() + offset, cupti::kind_of)];
    }
  }
  return kinds;
}

std::uint32_t real_version() {
  std::uint32_t version = 0;
  EXPECT_EQ(real<result(std::uint32_t*)>("cuptiGetVersion")(&version), result::success);
  return version;
}

void one_record_of_each_kind() {
  const stream s = create_stream();
  launch(s, "first");
  copy(s, cupti::copy_direction::host_to_device, 4096);
  peer_copy(s, 1, 512);
  standin::memset(s, 0, 256);
  standin::free(allocate(1024));
  write_overhead(cupti::overhead_kind::lazy_function_loading, {1, 2});
  synchronize(s);
  begin_capture(s);
  launch(s, "in a graph");
  const executable e = instantiate(end_capture(s));
  launch(s, e);
}

const auto every_kind = {record_kind::concurrent_kernel,
                         record_kind::memcpy,
                         record_kind::memcpy_p2p,
                         record_kind::memset,
                         record_kind::memory,
                         record_kind::overhead,
                         record_kind::runtime,
                         record_kind::driver,
                         record_kind::synchronization,
                         record_kind::external_correlation};

TEST(standin_conformance, the_real_library_walks_records_of_every_kind) {
  config settings;
  settings.version = real_version();
  client c{settings};
  c.enable(every_kind);
  ASSERT_EQ(cuptiActivityPushExternalCorrelationId(cupti::external_correlation_kind::custom0, 7),
            result::success);
  one_record_of_each_kind();
  ASSERT_EQ(cuptiActivityFlushAll(1), result::success);
  const auto kinds = expect_same_walk(c);
  EXPECT_EQ(kinds.size(), every_kind.size());
  EXPECT_EQ(kinds.at(record_kind::concurrent_kernel), 2U);  // one launched, one in the graph
}

TEST(standin_conformance, the_real_library_walks_graph_traces) {
  config settings;
  settings.version = real_version();
  client c{settings};
  c.enable({record_kind::concurrent_kernel, record_kind::graph_trace});
  one_record_of_each_kind();
  ASSERT_EQ(cuptiActivityFlushAll(1), result::success);
  const auto kinds = expect_same_walk(c);
  EXPECT_EQ(kinds.at(record_kind::graph_trace), 1U);
  EXPECT_EQ(kinds.at(record_kind::concurrent_kernel), 1U);  // the node's is suppressed
}

TEST(standin_conformance, both_end_alike_at_a_cut_record_at_padding_and_at_an_unknown_kind) {
  for (const int damage : {0, 1, 2}) {
    config settings;
    settings.version = real_version();
    client c{settings};
    c.enable({record_kind::concurrent_kernel});
    launch({}, "a");
    launch({}, "b");
    if (damage == 0) {
      truncate_buffers(8);
    } else if (damage == 1) {
      write_padding(64);
      launch({}, "behind padding");
    } else {
      write_unknown_record();
      launch({}, "behind an unknown kind");
    }
    ASSERT_EQ(cuptiActivityFlushAll(1), result::success);
    // Cut: the second is left out. Else both are there, and nothing behind the damage.
    EXPECT_EQ(expect_same_walk(c).at(record_kind::concurrent_kernel), damage == 0 ? 1U : 2U) << damage;
  }
}

TEST(standin_conformance, callbacks_have_the_real_librarys_names) {
  using name_function = result(cupti::callback_domain, std::uint32_t, const char**);
  auto* const theirs = real<name_function>("cuptiGetCallbackName");
  const auto expect_same = [&](cupti::callback_domain domain, std::uint32_t id) {
    const char* our_name = nullptr;
    const char* their_name = nullptr;
    EXPECT_EQ(cuptiGetCallbackName(domain, id, &our_name), result::success) << id;
    EXPECT_EQ(theirs(domain, id, &their_name), result::success) << id;
    EXPECT_STREQ(our_name, their_name) << id;
  };
  client c;
#define COMPARE_RUNTIME(constant, id, name) expect_same(cupti::callback_domain::runtime_api, id);
#define COMPARE_DRIVER(constant, id, name) expect_same(cupti::callback_domain::driver_api, id);
  STANDIN_RUNTIME_IDS(COMPARE_RUNTIME)
  STANDIN_DRIVER_IDS(COMPARE_DRIVER)
  expect_same(cupti::callback_domain::runtime_api, 0);
  for (const auto domain : {cupti::callback_domain::runtime_api, cupti::callback_domain::driver_api}) {
    // Both end the list with the same id (the stand-in's default is 13.0).
    if (real_version() / 100 == 1300) {
      std::uint32_t id = 1;
      const char* name = nullptr;
      while (theirs(domain, id, &name) == result::success) {
        EXPECT_EQ(cuptiGetCallbackName(domain, id, &name), result::success) << id;
        ++id;
      }
      EXPECT_EQ(cuptiGetCallbackName(domain, id, &name), result::invalid_parameter) << id;
    }
  }
}

TEST(standin_conformance, without_a_driver_both_refuse_alike) {
  config settings;
  settings.driver = false;
  client c{settings, false};
  const auto of = [](auto* ours, const char* name) {
    return std::pair{ours, real<std::remove_pointer_t<decltype(ours)>>(name)};
  };
  const auto subscribe = of(&cuptiSubscribe, "cuptiSubscribe");
  cupti::subscriber_handle handle = nullptr;
  const auto ignore = [](void*, cupti::callback_domain, std::uint32_t, const void*) {};
  const result theirs = subscribe.second(&handle, ignore, nullptr);
  if (theirs == result::success) {
    GTEST_SKIP() << "there is a driver here";
  }
  EXPECT_EQ(subscribe.first(&handle, ignore, nullptr), theirs);
  const auto enable = of(&cuptiActivityEnable, "cuptiActivityEnable");
  EXPECT_EQ(enable.first(record_kind::concurrent_kernel), enable.second(record_kind::concurrent_kernel));
  const auto flush = of(&cuptiActivityFlushAll, "cuptiActivityFlushAll");
  EXPECT_EQ(flush.first(0), flush.second(0));
  const auto dropped = of(&cuptiActivityGetNumDroppedRecords, "cuptiActivityGetNumDroppedRecords");
  std::size_t n = 1;
  EXPECT_EQ(dropped.first(nullptr, 0, &n), dropped.second(nullptr, 0, &n));
}

}  // namespace

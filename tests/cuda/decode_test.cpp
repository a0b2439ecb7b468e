// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Buffers laid by hand, and a library that steps over them as CUPTI does.
#include "cupti/decode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#ifndef VARVE_SANITIZED  // sanitizers bring operators of their own

namespace {
thread_local int allocations_until_one_fails = 0;  // 0: none does
}

// NOLINTBEGIN(cppcoreguidelines-no-malloc)
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const p =
      allocations_until_one_fails != 0 && --allocations_until_one_fails == 0 ? nullptr : std::malloc(size);
  return p != nullptr ? p : throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t /*size*/) noexcept { std::free(p); }
// NOLINTEND(cppcoreguidelines-no-malloc)

#endif

namespace {

using namespace varve::cupti;
using testing::ElementsAre;
using testing::SizeIs;
using varve::time_ns;

std::atomic<std::size_t> asked{0};
std::atomic<bool> sets_are_short{false};

constexpr std::size_t longer_kernel = 240;  // as a later CUDA may have

std::size_t stride(record_kind kind) {
  return kind == record_kind::concurrent_kernel                 ? longer_kernel
         : kind == record_kind::memset && sets_are_short.load() ? size_of(kind, cuda_13_0) - 8
                                                                : size_of(kind, cuda_13_0);
}

result step(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
  ++asked;
  std::uint8_t* const next = *record == nullptr ? buffer : *record + stride(read(*record, kind_of));
  if (next + sizeof(record_kind) > buffer + valid) {
    return result::max_limit_reached;
  }
  const std::size_t size = stride(read(next, kind_of));
  if (size == 0) {
    return result::invalid_kind;
  }
  if (next + size > buffer + valid) {
    return result::max_limit_reached;
  }
  *record = next;
  return result::success;
}

library make_library() {
  library lib;
  lib.version = cuda_13_0;
  lib.call.activity_get_next_record = step;
  return lib;
}

class buffer {
 public:
  template <class T>
  buffer& set(field<T> f, T value) {
    std::memcpy(bytes_.data() + last_ + f.offset, &value, sizeof value);
    return *this;
  }
  buffer& add(record_kind kind) {
    last_ = bytes_.size();
    bytes_.resize(last_ + stride(kind));
    return set(kind_of, kind);
  }
  buffer& kernel(const char* name, std::uint64_t start, std::uint64_t end, std::uint32_t correlation = 1) {
    add(record_kind::concurrent_kernel);
    set(varve::cupti::kernel::name, name);
    set(varve::cupti::kernel::start, start);
    set(varve::cupti::kernel::end, end);
    return set(varve::cupti::kernel::correlation_id, correlation);
  }
  buffer& raw(std::size_t zeros) {
    bytes_.resize(bytes_.size() + zeros);
    return *this;
  }
  std::uint8_t* data() { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t last_ = 0;
};

class decode_test : public testing::Test {
 protected:
  decode_test() { records.open(1'000'000); }

  void read_in(buffer& b) { records.read(b.data(), b.size()); }
  /// As a session does.
  varve::trace& take(bool full = false) {
    batch.activities = {};
    batch.memory_events.clear();
    records.hand_over(batch, full);
    return batch;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const std::uint32_t n : batch.activities.name) {
      out.emplace_back(batch.strings[n]);
    }
    return out;
  }

  library lib = make_library();
  decoder records{lib};
  varve::trace batch;
};

TEST_F(decode_test, a_kernel_has_its_fields_whatever_follows_in_its_record) {
  buffer b;
  b.kernel("gemm", 100, 250, 7).set(kernel::device_id, 2U).set(kernel::context_id, 3U);
  b.set(kernel::stream_id, 14U).set(kernel::graph_node_id, std::uint64_t{1} << 40U);
  b.set(kernel::grid_z, 5).set(kernel::registers_per_thread, std::uint16_t{255});
  b.kernel("gemm", 300, 350, 8);
  read_in(b);
  const varve::trace& t = take();
  EXPECT_THAT(t.activities.begin, ElementsAre(100, 300));
  EXPECT_THAT(t.activities.end, ElementsAre(250, 350));
  EXPECT_THAT(t.activities.correlation, ElementsAre(7U, 8U));
  EXPECT_THAT(names(), ElementsAre("gemm", "gemm"));
  const varve::stream_info& s = t.streams.at(t.activities.stream[0]);
  EXPECT_EQ(s.device, 2U);
  EXPECT_EQ(s.context, 3U);
  EXPECT_EQ(s.stream, 14U);
  EXPECT_EQ(t.graph_nodes.at(t.activities.node[0]).id, std::uint64_t{1} << 40U);
  EXPECT_EQ(t.activities.node[1], varve::none);
  EXPECT_EQ(t.shapes.at(t.activities.detail[0]).grid[2], 5U);
  EXPECT_EQ(t.shapes.at(t.activities.detail[0]).registers, 255U);
  EXPECT_EQ(records.counted().kernels, 2U);
}

TEST_F(decode_test, the_library_is_asked_for_each_kind_once) {
  constexpr std::size_t many = 2000;  // more than are decoded at once
  buffer b;
  for (std::size_t i = 0; i < many; ++i) {
    b.kernel("k", i + 1, i + 2);
  }
  asked = 0;
  read_in(b);
  EXPECT_EQ(asked, 1U);
  read_in(b);
  EXPECT_EQ(asked, 1U);
  EXPECT_THAT(take().activities.begin, SizeIs(2 * many));
  for (std::size_t i = 0; i < many; ++i) {
    ASSERT_EQ(batch.activities.begin[i], static_cast<time_ns>(i + 1));
  }
}

TEST_F(decode_test, a_single_record_is_read_though_nothing_tells_its_size) {
  buffer b;
  b.add(record_kind::memset).set(set::bytes, std::uint64_t{64});
  read_in(b);
  EXPECT_THAT(take().activities.begin, SizeIs(1));
  EXPECT_EQ(records.counted().cut_buffers, 0U);
  EXPECT_EQ(records.counted().unknown_kinds, 0U);
}

// Whole kernels are 240 bytes, of which 216 are known. Nobody tells how long the first one is before there is
// a whole second one: up to 64 bytes more pass for its own.
TEST_F(decode_test, wherever_a_buffer_is_cut_whole_records_are_read_and_none_beyond) {
  buffer b;
  b.kernel("a", 1, 2).kernel("b", 3, 4);
  for (std::size_t valid = 0; valid <= b.size(); ++valid) {
    decoder fresh{lib};
    fresh.open(10);
    // Memory of just that size: sanitizers see what is read behind it.
    std::vector<std::uint8_t> copy(b.data(), b.data() + valid);
    fresh.read(copy.data(), valid);
    varve::trace t;
    fresh.hand_over(t, false);
    EXPECT_THAT(t.activities.begin, SizeIs(valid >= 480 ? 2 : valid >= 216 ? 1 : 0)) << valid;
    const bool is_cut = (valid >= 1 && valid < 216) || (valid > 280 && valid < 480);
    EXPECT_EQ(fresh.counted().cut_buffers, is_cut ? 1U : 0U) << valid;
  }
}

TEST_F(decode_test, padding_and_unknown_kinds_end_a_buffer_and_are_counted) {
  buffer padded;
  padded.kernel("a", 1, 2).kernel("a", 1, 2).raw(64).kernel("behind", 3, 4);
  read_in(padded);
  EXPECT_EQ(records.counted().cut_buffers, 1U);
  buffer unknown;
  unknown.kernel("b", 1, 2).add(record_kind::memset).set(kind_of, record_kind{9000});
  unknown.kernel("behind", 3, 4);
  read_in(unknown);
  EXPECT_EQ(records.counted().unknown_kinds, 1U);
  take();
  EXPECT_THAT(names(), ElementsAre("a", "a", "b"));
}

// All but the last one of a buffer, whose size nobody tells.
TEST_F(decode_test, records_shorter_than_declared_are_counted_and_stepped_over) {
  sets_are_short = true;
  buffer b;
  b.add(record_kind::memset).kernel("k", 1, 2).add(record_kind::memset).kernel("k", 3, 4);
  read_in(b);
  sets_are_short = false;
  EXPECT_THAT(take().activities.begin, ElementsAre(1, 3));
  EXPECT_EQ(records.counted().too_short, 2U);
  EXPECT_EQ(records.counted().sets, 0U);
  EXPECT_EQ(records.counted().cut_buffers, 0U);
}

TEST_F(decode_test, kinds_that_are_known_and_not_wanted_are_stepped_over) {
  buffer b;
  b.add(record_kind::runtime)
      .kernel("a", 1, 2)
      .add(record_kind::driver)
      .add(record_kind::external_correlation);
  b.kernel("b", 3, 4);
  read_in(b);
  take();
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  EXPECT_EQ(records.counted().not_kept, 0U);
}

TEST_F(decode_test, another_text_at_the_same_address_is_another_name) {
  char name[] = "first";
  buffer b;
  b.kernel(name, 1, 2);
  read_in(b);
  std::strcpy(name, "later");
  read_in(b);
  b.set(kernel::name, static_cast<const char*>(nullptr));
  read_in(b);
  take();
  EXPECT_THAT(names(), ElementsAre("first", "later", ""));
}

TEST_F(decode_test, tables_grow_and_rows_go_on_pointing_into_them) {
  buffer first;
  first.kernel("a", 1, 2).set(kernel::grid_x, 1);
  read_in(first);
  take();
  buffer second;
  second.kernel("b", 3, 4).set(kernel::grid_x, 2).kernel("a", 5, 6).set(kernel::grid_x, 1);
  read_in(second);
  take();
  EXPECT_THAT(names(), ElementsAre("b", "a"));
  EXPECT_THAT(batch.strings, SizeIs(2));
  EXPECT_THAT(batch.shapes, SizeIs(2));
  EXPECT_THAT(batch.activities.detail, ElementsAre(1U, 0U));
  take();
  EXPECT_EQ(batch.activities.size(), 0U) << "handed over once";
}

TEST_F(decode_test, more_than_may_wait_is_counted) {
  records.open(3);
  buffer b;
  for (int i = 0; i < 5; ++i) {
    b.kernel("k", 1, 2);
  }
  b.add(record_kind::memory).set(memory::operation, memory_operation::allocation);
  read_in(b);
  EXPECT_EQ(records.counted().not_kept, 3U);  // two kernels, an allocation
  EXPECT_EQ(take().activities.size(), 3U);
  read_in(b);
  EXPECT_EQ(take().activities.size(), 3U) << "there is room again";
}

#ifndef VARVE_SANITIZED
TEST_F(decode_test, without_memory_for_any_one_thing_rows_stay_whole) {
  buffer b;
  b.kernel("gemm", 100, 250, 7).set(kernel::stream_id, 5U).set(kernel::graph_node_id, std::uint64_t{9});
  b.kernel("norm", 300, 350, 8).set(kernel::stream_id, 6U).set(kernel::graph_node_id, std::uint64_t{10});
  // Eight columns, and at least a text, a shape, a stream and a node.
  int failures = 0;
  for (;; ++failures) {
    records.open(1'000'000);
    batch = {};
    allocations_until_one_fails = failures + 1;
    read_in(b);
    if (allocations_until_one_fails > 0) {
      allocations_until_one_fails = 0;
      break;
    }
    const std::uint64_t lost = records.counted().not_kept;
    EXPECT_GE(lost, 1U);
    EXPECT_LE(lost, 2U);
    read_in(b);
    const varve::trace& t = take();
    const varve::activity_columns& a = t.activities;
    ASSERT_EQ(a.size(), 4 - lost) << failures;
    for (const std::size_t rows : {a.end.size(), a.correlation.size(), a.name.size(), a.node.size(),
                                   a.detail.size(), a.stream.size(), a.kind.size()}) {
      ASSERT_EQ(rows, a.size()) << failures;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool first = a.begin[i] == 100;
      EXPECT_EQ(a.end[i], first ? 250 : 350) << failures;
      EXPECT_EQ(a.correlation[i], first ? 7U : 8U) << failures;
      EXPECT_EQ(t.strings[a.name[i]], first ? "gemm" : "norm") << failures;
      EXPECT_EQ(t.graph_nodes.at(a.node[i]).id, first ? 9U : 10U) << failures;
      EXPECT_EQ(t.streams.at(a.stream[i]).stream, first ? 5U : 6U) << failures;
    }
  }
  EXPECT_GE(failures, 12);
}
#endif

TEST_F(decode_test, where_nothing_can_be_kept_nothing_grows) {
  buffer b;
  b.kernel("a", 1, 2);
  read_in(b);
  take(true);
  for (int i = 0; i < 100; ++i) {
    const std::string name = "new" + std::to_string(i);
    buffer more;
    more.kernel(name.c_str(), 1, 2).set(kernel::grid_x, i).set(kernel::graph_node_id, std::uint64_t(i) + 1);
    read_in(more);
  }
  take(true);
  EXPECT_EQ(batch.activities.size(), 0U);
  EXPECT_THAT(batch.strings, SizeIs(1));
  EXPECT_THAT(batch.shapes, SizeIs(1));
  EXPECT_THAT(batch.graph_nodes, SizeIs(0));
  EXPECT_EQ(records.counted().not_kept, 100U);
}

TEST_F(decode_test, absurd_sizes_and_times_are_no_sizes_and_stay_times) {
  buffer b;
  b.add(record_kind::memcpy).set(copy::bytes, ~std::uint64_t{0}).set(copy::direction, copy_direction{200});
  b.set(copy::start, ~std::uint64_t{0}).set(copy::end, std::uint64_t{5});
  b.add(record_kind::memory)
      .set(memory::operation, memory_operation::allocation)
      .set(memory::bytes, ~std::uint64_t{0});
  b.add(record_kind::memory).set(memory::operation, memory_operation{77});
  b.add(record_kind::memory)
      .set(memory::operation, memory_operation::release)
      .set(memory::bytes, std::uint64_t{9});
  read_in(b);
  take();
  EXPECT_THAT(batch.activities.detail, ElementsAre(varve::none));
  EXPECT_THAT(names(), ElementsAre("Memcpy"));
  ASSERT_THAT(batch.memory_events, SizeIs(1));
  EXPECT_EQ(batch.memory_events[0].bytes, -9);
}

TEST_F(decode_test, an_overheads_data_is_freed) {
  buffer b;
  b.add(record_kind::overhead).set(overhead::start, std::uint64_t{10}).set(overhead::end, std::uint64_t{30});
  b.set(overhead::what, overhead_kind::cupti_instrumentation).set(overhead::data, std::malloc(64));
  read_in(b);
  EXPECT_EQ(records.counted().overhead, 20);
  EXPECT_EQ(records.counted().loading, 0);
}

TEST_F(decode_test, threads_read_and_hand_over_at_once) {
  constexpr int each = 50;
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([&, i] {
      const std::string name = "thread" + std::to_string(i);
      for (int n = 0; n < each; ++n) {
        buffer b;
        b.kernel(name.c_str(), 1, 2).kernel(name.c_str(), 3, 4);
        read_in(b);
      }
    });
  }
  std::size_t taken = 0;
  while (taken < 2 * 4 * each) {
    taken += take().activities.size();
    static_cast<void>(records.counted());
  }
  for (std::thread& t : all) {
    t.join();
  }
  EXPECT_EQ(taken, 2U * 4 * each);
  EXPECT_THAT(batch.strings, SizeIs(4));
}

TEST_F(decode_test, knows_which_launches_have_been_read_as_far_back_as_it_remembers) {
  buffer b;
  b.kernel("a", 1, 2, 7);
  EXPECT_FALSE(records.has_read(7));
  read_in(b);
  EXPECT_TRUE(records.has_read(7));
  EXPECT_FALSE(records.has_read(8));
  buffer later;
  later.kernel("a", 3, 4, 8 + 4096);  // where 8 would be remembered
  read_in(later);
  EXPECT_TRUE(records.has_read(8)) << "it cannot be told, and nobody is to wait for it";
  EXPECT_FALSE(records.has_read(8 + 2 * 4096)) << "it is newer";
}

TEST_F(decode_test, counts_work_that_began_and_has_no_end) {
  buffer b;
  b.kernel("a", 1, 0).kernel("a", 0, 0).kernel("a", 1, 2);
  read_in(b);
  EXPECT_EQ(records.counted().without_end, 1U);
}

TEST_F(decode_test, counts_activities_that_it_discards) {
  buffer b;
  b.kernel("a", 1, 2).add(record_kind::memset).add(record_kind::overhead);
  EXPECT_EQ(records.discard(b.data(), b.size()), 2U);
  EXPECT_EQ(records.counted().kernels, 0U);
}

}  // namespace

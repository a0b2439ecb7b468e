// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The operator table of traces made by hand: what key_averages() counts.
#include "analyze/trace_builder.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace {

using testing::IsEmpty;
using varve::none;
using varve::operator_row;
using varve::operator_source;
using varve::time_ns;
using varve_test::trace_builder;

class builder : public trace_builder {
 public:
  std::uint32_t op(std::string_view name, time_ns begin, time_ns end, std::uint16_t thread = 0,
                   operator_source source = operator_source::operation, std::string_view shapes = {},
                   varve::work work = {}) {
    varve::operator_kind kind;
    kind.name = t.strings.intern(name);
    kind.shapes = shapes.empty() ? none : t.strings.intern(shapes);
    kind.source = source;
    kind.declared = work;
    t.operator_kinds.push_back(kind);
    t.operators.begin.push_back(begin);
    t.operators.end.push_back(end);
    t.operators.kind.push_back(static_cast<std::uint32_t>(t.operator_kinds.size() - 1));
    t.operators.parent.push_back(none);
    t.operators.range.push_back(none);
    t.operators.thread.push_back(thread);
    return static_cast<std::uint32_t>(t.operators.size() - 1);
  }
  std::uint32_t mark(std::string_view name, time_ns begin, time_ns end, std::uint16_t thread = 0) {
    return op(name, begin, end, thread, operator_source::annotation);
  }
  std::uint32_t call_of(std::uint32_t op, std::string_view name, time_ns begin, time_ns end,
                        std::uint16_t thread = 0) {
    t.operator_of_call.push_back(op);
    t.call_names.push_back(t.strings.intern(name));
    return launch(none, begin, end, thread);
  }
  void kernel_of(std::uint32_t op, time_ns begin, time_ns end, std::string_view name = "k") {
    t.operator_of_activity.push_back(op);
    kernel(0, begin, end, name);
  }
  void memory(time_ns at, std::int64_t bytes, bool on_device = true) {
    t.memory_events.push_back({at, bytes, on_device});
  }
};

const operator_row& find(const std::vector<operator_row>& rows, std::string_view name, bool on_device = false,
                         std::string_view shapes = {}) {
  static const operator_row nothing;
  const operator_row* found = nullptr;
  for (const operator_row& r : rows) {
    if (r.name == name && r.on_device == on_device && r.shapes == shapes) {
      EXPECT_EQ(found, nullptr) << "two rows: " << name;
      found = &r;
    }
  }
  EXPECT_NE(found, nullptr) << "no row: " << name;
  return found != nullptr ? *found : nothing;
}

bool has(const std::vector<operator_row>& rows, std::string_view name) {
  for (const operator_row& r : rows) {
    if (r.name == name) {
      return true;
    }
  }
  return false;
}

TEST(operators_test, total_and_self_times_of_host_and_device) {
  // linear [0,100) calls addmm [10,60), which calls cudaLaunchKernel [20,25) and waits [30,50).
  // Its kernels take 40 + 7; a copy that linear itself launched takes 3.
  builder b;
  const std::uint32_t linear = b.op("linear", 0, 100);
  const std::uint32_t addmm = b.op("addmm", 10, 60);
  b.call_of(addmm, "cudaLaunchKernel", 20, 25);
  b.call_of(addmm, "cudaStreamSynchronize", 30, 50);
  b.kernel_of(addmm, 200, 240);
  b.kernel_of(addmm, 220, 227);  // they overlap: sums all the same
  b.kernel_of(linear, 300, 303, "copy");
  const auto rows = b.analyze().operators.by_name;
  const operator_row& outer = find(rows, "linear");
  EXPECT_EQ(outer.calls, 1);
  EXPECT_EQ(outer.cpu_total, 100);
  EXPECT_EQ(outer.cpu_self, 50);  // 100 − addmm's 50
  EXPECT_EQ(outer.gpu_total, 50);
  EXPECT_EQ(outer.gpu_self, 3);
  const operator_row& inner = find(rows, "addmm");
  EXPECT_EQ(inner.cpu_total, 50);
  EXPECT_EQ(inner.cpu_self, 25);  // 50 − 5 − 20
  EXPECT_EQ(inner.gpu_total, 47);
  EXPECT_EQ(inner.gpu_self, 47);
  EXPECT_EQ(find(rows, "cudaStreamSynchronize").cpu_self, 20);
  EXPECT_EQ(find(rows, "cudaStreamSynchronize").gpu_total, 0);
  const operator_row& kernels = find(rows, "k", true);
  EXPECT_EQ(kernels.calls, 2);
  EXPECT_EQ(kernels.gpu_total, 47);
  EXPECT_EQ(kernels.gpu_self, 47);
  EXPECT_EQ(kernels.cpu_total, 0);
  // By falling GPU time.
  EXPECT_EQ(rows.front().name, "linear");
}

TEST(operators_test, calls_and_overhead_lie_on_the_thread_of_what_made_them) {
  // A call on thread 1 for an operator of thread 0 counts as that thread's. One that no operator made, and
  // overhead, count as of the thread with the steps.
  builder b;
  b.t.intern_thread(101);
  b.mark("ProfilerStep#1", 0, 100);
  const std::uint32_t inner = b.op("inner", 10, 50);
  b.op("elsewhere", 0, 100, 1);
  b.op("busy", 1, 99, 1);
  b.op("busier", 2, 98, 1);
  b.call_of(inner, "cudaLaunchKernel", 20, 25, 1);
  b.call_of(none, "cudaDeviceSynchronize", 60, 90, 1);
  b.op("Buffer Request", 30, 40, varve::narrow_none, operator_source::overhead);
  const auto rows = b.analyze().operators.by_name;
  EXPECT_EQ(find(rows, "inner").cpu_self, 25);          // 40 − 5 − 10
  EXPECT_EQ(find(rows, "ProfilerStep*").cpu_self, 30);  // 100 − 40 − 30
  EXPECT_EQ(find(rows, "busier").cpu_self, 96);
}

TEST(operators_test, steps_are_one_row_and_some_names_none) {
  builder b;
  b.mark("ProfilerStep#1", 0, 10);
  b.mark("ProfilerStep#2", 10, 30);
  b.op("aten::is_leaf", 1, 3);
  b.op("profiler::_record_function_enter_new", 12, 13);
  const auto rows = b.analyze().operators.by_name;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].name, "ProfilerStep*");
  EXPECT_TRUE(rows[0].annotation);
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].cpu_total, 30);
  EXPECT_EQ(rows[0].cpu_self, 30);  // what is not listed is not subtracted either
}

TEST(operators_test, an_annotation_and_an_operator_of_one_name_are_two_rows) {
  builder b;
  b.mark("forward", 0, 10);
  b.op("forward", 20, 25);
  const auto rows = b.analyze().operators.by_name;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].cpu_total + rows[1].cpu_total, 15);
}

TEST(operators_test, an_only_child_of_the_same_name_is_no_call_of_its_own) {
  // div_ > div_ > { div_ > launch } : a chain of three is one call, with the innermost's launch and kernels.
  builder b;
  b.op("div_", 0, 100);
  b.op("div_", 10, 90);
  const std::uint32_t last = b.op("div_", 20, 80);
  b.call_of(last, "cudaLaunchKernel", 30, 40);
  b.kernel_of(last, 200, 207);
  const auto rows = b.analyze().operators.by_name;
  const operator_row& div = find(rows, "div_");
  EXPECT_EQ(div.calls, 1);
  EXPECT_EQ(div.cpu_total, 100);
  EXPECT_EQ(div.cpu_self, 90);
  EXPECT_EQ(div.gpu_total, 7);
  EXPECT_EQ(div.gpu_self, 7);
}

TEST(operators_test, two_children_of_the_same_name_are_calls_of_their_own) {
  builder b;
  b.op("a", 0, 100);
  const std::uint32_t first = b.op("a", 10, 20);
  b.op("a", 30, 50);
  b.kernel_of(first, 200, 205);
  const operator_row a = find(b.analyze().operators.by_name, "a");
  EXPECT_EQ(a.calls, 3);
  EXPECT_EQ(a.cpu_total, 130);  // 100 + 10 + 20: what nests counts twice
  EXPECT_EQ(a.cpu_self, 100);
  EXPECT_EQ(a.gpu_total, 10);  // of the outer and of the inner
  EXPECT_EQ(a.gpu_self, 5);
}

TEST(operators_test, what_touches_the_end_or_crosses_it_is_no_child) {
  builder b;
  b.op("a", 0, 10);
  b.op("at the end", 10, 10);
  b.op("b", 20, 30);
  b.op("crossing", 25, 35);
  const auto rows = b.analyze().operators.by_name;
  EXPECT_EQ(find(rows, "a").cpu_self, 10);
  EXPECT_EQ(find(rows, "b").cpu_self, 10);
  EXPECT_EQ(find(rows, "crossing").cpu_self, 10);
}

TEST(operators_test, shapes_make_rows_of_their_own) {
  const varve::work small{100, 0, 0, 10};
  const varve::work large{300, 5, 0, 20};
  builder b;
  b.op("mm", 0, 10, 0, operator_source::operation, "[[2, 2]]", small);
  b.op("mm", 10, 30, 0, operator_source::operation, "[[4, 4]]", large);
  b.op("mm", 30, 60, 0, operator_source::operation, "[[2, 2]]", small);
  b.op("mm", 60, 100);
  const varve::operator_tables tables = b.analyze().operators;
  ASSERT_EQ(tables.by_shape.size(), 3U);
  const operator_row& two = find(tables.by_shape, "mm", false, "[[2, 2]]");
  EXPECT_EQ(two.calls, 2);
  EXPECT_EQ(two.cpu_total, 40);
  EXPECT_EQ(two.declared, (varve::work{200, 0, 0, 20}));
  EXPECT_EQ(two.calls_with_work, 2);
  ASSERT_EQ(tables.by_name.size(), 1U);
  EXPECT_EQ(tables.by_name[0].calls, 4);
  EXPECT_EQ(tables.by_name[0].cpu_total, 100);
  EXPECT_EQ(tables.by_name[0].declared, (varve::work{500, 5, 0, 40}));
  EXPECT_EQ(tables.by_name[0].calls_with_work, 3);
  EXPECT_EQ(tables.by_name[0].shapes, "");
}

TEST(operators_test, memory_of_an_operator_is_what_changed_while_it_ran) {
  // Both ends count, of any thread; 99 lies in nothing.
  builder b;
  b.op("outer", 0, 50);
  b.op("inner", 10, 20);
  for (const auto& [at, bytes] :
       std::vector<std::pair<time_ns, std::int64_t>>{{50, -8}, {0, 1}, {10, 2}, {20, 4}}) {
    b.memory(at, bytes);
  }
  b.memory(15, 100, false);
  b.memory(99, 7);
  const auto rows = b.analyze().operators.by_name;
  EXPECT_EQ(find(rows, "outer").gpu_memory, -1);       // 1 + 2 + 4 − 8
  EXPECT_EQ(find(rows, "outer").gpu_memory_self, -7);  // without inner's 6
  EXPECT_EQ(find(rows, "inner").gpu_memory, 6);
  EXPECT_EQ(find(rows, "inner").gpu_memory_self, 6);
  EXPECT_EQ(find(rows, "outer").cpu_memory, 100);
  EXPECT_EQ(find(rows, "outer").cpu_memory_self, 0);
  EXPECT_EQ(find(rows, "inner").cpu_memory_self, 100);
  const operator_row& rest = find(rows, "[memory]");
  EXPECT_EQ(rest.calls, 1);
  EXPECT_EQ(rest.gpu_memory, 7);
  EXPECT_EQ(rest.cpu_total, 0);
}

TEST(operators_test, spans_of_annotations_on_devices_are_rows_of_devices) {
  builder b;
  b.op("a", 0, 1);
  b.op("step", 5, 25, varve::narrow_none, operator_source::device_annotation);
  const operator_row r = find(b.analyze().operators.by_name, "step", true);
  EXPECT_TRUE(r.annotation);
  EXPECT_EQ(r.gpu_total, 20);
  EXPECT_EQ(r.cpu_total, 0);
}

TEST(operators_test, the_share_of_time_with_known_work_counts_inner_operators) {
  builder b;
  const std::uint32_t linear = b.op("linear", 0, 100, 0, operator_source::operation, "", {1, 0, 0, 1});
  const std::uint32_t inner = b.op("inner", 10, 60);
  b.t.operators.parent[inner] = linear;
  const std::uint32_t other = b.op("other", 200, 210);
  b.kernel_of(inner, 300, 330);
  b.kernel_of(other, 330, 350);
  b.kernel_of(none, 350, 360);
  EXPECT_EQ(b.analyze().operators.work_share, 0.5);  // 30 of 60
}

TEST(operators_test, a_trace_without_operators_has_no_rows) {
  builder b;
  b.launched_kernel(none, 0, 1, 2, 3);
  const varve::operator_tables tables = b.analyze().operators;
  EXPECT_THAT(tables.by_name, IsEmpty());
  EXPECT_THAT(tables.by_shape, IsEmpty());
  EXPECT_EQ(tables.work_share, 0);
}

TEST(operators_test, nothing_that_a_trace_says_is_believed) {
  constexpr time_ns most = std::numeric_limits<time_ns>::max();
  constexpr time_ns least = std::numeric_limits<time_ns>::min();
  builder b;
  b.op("reversed", 10, 0);
  const std::uint32_t endless =
      b.op("endless", least, most, 0, operator_source::operation, "", {most, most, most, most});
  b.op("endless", least, most, 0, operator_source::operation, "", {most, most, most, most});
  b.t.operators.kind.back() = 77;  // not there
  b.t.operators.parent[0] = 55;    // likewise
  b.call_of(1234, "call", most, least);
  b.t.call_names[0] = 9999;
  b.kernel_of(endless, least, most);
  b.kernel_of(endless, least, most);
  b.kernel_of(4321, 0, 10);
  b.memory(most, most);
  b.memory(most, most);
  b.memory(least, least);
  const varve::operator_tables tables = b.analyze().operators;
  EXPECT_EQ(find(tables.by_name, "reversed").cpu_total, 0);
  EXPECT_EQ(find(tables.by_name, "endless").calls, 1);
  EXPECT_EQ(find(tables.by_name, "endless").gpu_total, most);  // no more fits
  EXPECT_TRUE(has(tables.by_name, "(unnamed)"));
  // Columns of different lengths: no table.
  b.t.operators.end.pop_back();
  EXPECT_THAT(b.analyze().operators.by_name, IsEmpty());
}

TEST(operators_test, records_in_a_random_order_keep_their_operators) {
  // The analysis sorts calls and activities that are as scattered as these. 9973 is prime, so that every time
  // from 0 to 9972 occurs twice, as 7919·i modulo 9973.
  constexpr time_ns prime = 9973;
  builder b;
  const std::uint32_t even = b.op("even", 0, 1);
  const std::uint32_t odd = b.op("odd", 1, 2);
  for (time_ns i = 0; i < 2 * prime; ++i) {
    const time_ns at = 100 + 7919 * i % prime * 10;
    b.call_of(none, i % 2 == 0 ? "even call" : "odd call", at, at + 1 + i % 2);
    b.kernel_of(i % 2 == 0 ? even : odd, at, at + 1 + i % 2);
  }
  const auto rows = b.analyze().operators.by_name;
  EXPECT_EQ(find(rows, "even").gpu_self, prime);
  EXPECT_EQ(find(rows, "odd").gpu_self, 2 * prime);
  EXPECT_EQ(find(rows, "even call").calls, prime);
  EXPECT_EQ(find(rows, "even call").cpu_total, prime);
  EXPECT_EQ(find(rows, "odd call").cpu_total, 2 * prime);
}

TEST(operators_test, deep_nests_need_no_deep_stack) {
  constexpr time_ns depth = 200'000;
  builder b;
  b.op("a", 0, 2 * depth);
  b.op("b", 0, 2 * depth);
  for (time_ns i = 1; i < depth; ++i) {
    b.t.operators.begin.push_back(i);
    b.t.operators.end.push_back(2 * depth - i);
    b.t.operators.kind.push_back(static_cast<std::uint32_t>((i + 1) % 2));
    b.t.operators.parent.push_back(none);
    b.t.operators.range.push_back(none);
    b.t.operators.thread.push_back(0);
  }
  const auto rows = b.analyze().operators.by_name;
  EXPECT_EQ(find(rows, "a").calls + find(rows, "b").calls, depth + 1);
  // Σ self is the length of the outermost.
  EXPECT_EQ(find(rows, "a").cpu_self + find(rows, "b").cpu_self, 2 * depth);
}

}  // namespace

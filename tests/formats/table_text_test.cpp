// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "formats/table/kernel_name.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

namespace {

using namespace varve::table;

TEST(table_units, chooses_the_unit_of_each_duration) {
  EXPECT_EQ(duration(std::int64_t{0}), "0");
  EXPECT_EQ(duration(std::int64_t{1}), "1 ns");
  EXPECT_EQ(duration(std::int64_t{999}), "999 ns");
  EXPECT_EQ(duration(std::int64_t{1000}), "1.00 µs");
  EXPECT_EQ(duration(std::int64_t{1005}), "1.01 µs");  // 1.005 is half way and goes up
  EXPECT_EQ(duration(std::int64_t{9994}), "9.99 µs");
  EXPECT_EQ(duration(std::int64_t{9996}), "10.0 µs");
  EXPECT_EQ(duration(std::int64_t{123456}), "123 µs");
  EXPECT_EQ(duration(std::int64_t{999499}), "999 µs");
  EXPECT_EQ(duration(std::int64_t{999500}), "1.00 ms");  // 999.5 µs rounds to 1000 µs
  EXPECT_EQ(duration(std::int64_t{12345678}), "12.3 ms");
  EXPECT_EQ(duration(std::int64_t{1234567890}), "1.23 s");
  EXPECT_EQ(duration(std::int64_t{7200} * 1000000000), "7,200 s");
  EXPECT_EQ(duration(std::int64_t{-1500}), "-1.50 µs");
  EXPECT_EQ(duration(std::numeric_limits<std::int64_t>::min()), "-9,223,372,037 s");
  EXPECT_EQ(duration(1499.6), "1.50 µs");  // a mean is rounded to whole nanoseconds first
}

TEST(table_units, groups_thousands_and_keeps_three_digits) {
  EXPECT_EQ(count(std::int64_t{0}), "0");
  EXPECT_EQ(count(std::int64_t{999}), "999");
  EXPECT_EQ(count(std::int64_t{1000}), "1,000");
  EXPECT_EQ(count(std::int64_t{-1234567}), "-1,234,567");
  EXPECT_EQ(number(0), "0");
  EXPECT_EQ(number(0.0001), "<0.001");
  EXPECT_EQ(number(0.00123456), "0.00123");
  EXPECT_EQ(number(0.0512), "0.0512");
  EXPECT_EQ(number(0.99951), "1.00");
  EXPECT_EQ(number(1.236), "1.24");
  EXPECT_EQ(number(9.996), "10.0");
  EXPECT_EQ(number(12.34), "12.3");
  EXPECT_EQ(number(123.4), "123");
  EXPECT_EQ(number(12345.6), "12,346");
  EXPECT_EQ(bytes(999), "999 B");
  EXPECT_EQ(bytes(1536), "1.54 kB");
  EXPECT_EQ(bytes(33554432), "33.6 MB");
}

TEST(table_units, tells_little_from_nothing) {
  EXPECT_EQ(percent(0, 10), "0");
  EXPECT_EQ(percent(1, 10000), "<0.1");
  EXPECT_EQ(percent(1, 8), "12.5");
  EXPECT_EQ(percent(1, 1), "100.0");
  EXPECT_EQ(percent(1, 0), "0");
}

TEST(table_text, leaves_nothing_that_a_terminal_obeys) {
  EXPECT_EQ(printable("plain µ 層 😀"), "plain µ 層 😀");
  EXPECT_EQ(printable("a\x1b[31mb"), "a\uFFFD[31mb");
  EXPECT_EQ(printable(std::string_view{"a\0b\nc\td\x7F", 8}), "a\uFFFDb\uFFFDc\uFFFDd\uFFFD");
  EXPECT_EQ(printable("csi \xC2\x9B"), "csi \uFFFD");  // U+009B, a C1 control
  EXPECT_EQ(printable("\xE2\x80\xAE"
                      "evil"),
            "\uFFFDevil");  // U+202E, right-to-left override
  EXPECT_EQ(printable("\xE2\x81\xA6"
                      "x\xE2\x80\xA8"),
            "\uFFFDx\uFFFD");  // U+2066 isolate, U+2028 line
}

TEST(table_text, repairs_each_kind_of_invalid_utf8) {
  EXPECT_EQ(printable("a\xFFz"), "a\uFFFDz");                            // no lead byte
  EXPECT_EQ(printable("a\x80z"), "a\uFFFDz");                            // continuation alone
  EXPECT_EQ(printable("a\xE2\x82"), "a\uFFFD");                          // cut off: one damaged character
  EXPECT_EQ(printable("a\xE2\x82z"), "a\uFFFDz");                        // broken off
  EXPECT_EQ(printable("\xC0\xAF"), "\uFFFD\uFFFD");                      // overlong '/'
  EXPECT_EQ(printable("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond U+10FFFF
}

TEST(table_text, measures_columns_and_not_bytes) {
  EXPECT_EQ(columns("abc"), 3U);
  EXPECT_EQ(columns("µs"), 2U);
  EXPECT_EQ(columns("層"), 2U);         // wide
  EXPECT_EQ(columns("e\xCC\x81"), 1U);  // e and a combining accent
  EXPECT_EQ(columns("😀"), 2U);
  EXPECT_EQ(columns("\x1b[1mab\x1b[0m"), 2U);
}

TEST(table_text, shortens_in_the_middle) {
  EXPECT_EQ(shortened("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(shortened("abcdefgh", 5), "ab…gh");
  EXPECT_EQ(shortened("abcdefgh", 4), "ab…h");
  EXPECT_EQ(shortened("層層層層", 5), "層…層");  // 2 + 1 + 2 columns
  EXPECT_EQ(shortened("層層層層", 4), "層…");    // the last one has no room
  EXPECT_EQ(shortened("abc", 1), "…");
  EXPECT_EQ(shortened("abc", 0), "");
}

TEST(table_text, breaks_lines_between_pieces) {
  EXPECT_EQ(flow({"aaa", "bbb", "ccc"}, " · ", 2, 0), "aaa · bbb · ccc");
  // With 2 columns before: "aaa · bbb" ends in column 11, "ccc" would end in 17.
  EXPECT_EQ(flow({"aaa", "bbb", "ccc"}, " · ", 2, 16), "aaa · bbb\n  ccc");
  // A piece longer than a line is broken at spaces, but not before its unit.
  EXPECT_EQ(flow({"took about 34 ms, or so"}, " ", 2, 14), "took about\n  34 ms, or so");
  // One without spaces is shortened.
  EXPECT_EQ(flow({"aaa", "abcdefghijklmn"}, " · ", 2, 9), "aaa\n  abc…lmn");
}

TEST(table_text, names_kernels_by_what_tells_them_apart) {
  EXPECT_EQ(kernel_name("nvjet_hsh_128x64_TNT"), "nvjet_hsh_128x64_TNT");
  EXPECT_EQ(kernel_name("void vllm::rms_norm_kernel<c10::Half, 8>(c10::Half*, float, int)"),
            "vllm::rms_norm_kernel<Half, 8>");
  EXPECT_EQ(kernel_name("void (anonymous namespace)::softmax_warp<float, 7>(float*, int)"),
            "softmax_warp<float, 7>");
  EXPECT_EQ(kernel_name("void at::native::elementwise_kernel<4, at::native::copy(at::Iter&)::{lambda()#3}::"
                        "operator()() const::{lambda(c10::Half)#1}, std::array<char*, 2ul> >(int, char*)"),
            "elementwise_kernel<4, copy[Half]>");
  EXPECT_EQ(kernel_name(
                "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::Binary<"
                "float, at::native::binary_internal::Mul<float> > >(at::Iter&)::{lambda(int)#1}>(int)"),
            "elementwise_kernel<128, 2, Binary<float, Mul<float>>>");
  EXPECT_EQ(kernel_name("std::enable_if<(((8)>(0)))&&is<c10::Half>::value, void>::type f<8>(int)"), "f<8>");
  EXPECT_EQ(kernel_name("void bin_bcast<&(op_add(float, float)), (ggml_type)2>(float*)"),
            "bin_bcast<&op_add, 2>");
  EXPECT_EQ(kernel_name("ncclDevKernel_AllGather_RING_LL(ncclArgs<4096ul>)"),
            "ncclDevKernel_AllGather_RING_LL");
}

TEST(table_text, leaves_names_alone_that_are_no_cpp) {
  EXPECT_EQ(kernel_name("Memcpy HtoD (Pinned -> Device)"), "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(kernel_name("rms norm (fused)"), "rms norm (fused)");
  EXPECT_EQ(kernel_name(""), "");
  EXPECT_EQ(kernel_name("((((("), "(((((");
  EXPECT_EQ(kernel_name("f(((())"), "f");
  EXPECT_EQ(kernel_name(")(}{lambda(<>"), ")(}{lambda(<>");
  EXPECT_EQ(kernel_name("()"), "()");
}

}  // namespace

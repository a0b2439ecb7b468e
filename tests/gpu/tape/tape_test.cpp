// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "gpu/tape/tape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::Throws;
using testing::ThrowsMessage;

/// One launch in layer 3 and its kernel, made up: 16 bytes of a record whose name is at byte 8.
const std::string launch =
    R"(varve-tape version=1 name=one_launch origin=belief cupti=130001 device=NVIDIA%20H200 capability=90
begin at=100 layer=layer index=3
enter at=110 runtime=cudaLaunchKernel_v7000 id=211 symbol=_Z5saxpyv correlation=7 context=1 data=5
request at=111 buffer=1 size=32
leave at=120 runtime=cudaLaunchKernel_v7000 id=211 correlation=7 context=1 data=5 result=-1 params=00ff
end at=130
resource at=140 thread=1 event=node_cloned graph=4096 graph_id=2 node=18446744073709551615 node_id=8589934593 type=memset
buffer at=150 thread=1 buffer=1 context=1 size=24 walked=12
record kind=kernel name=_Z5saxpyv name_at=8 data=0a000000000000001122334455667788
record offset=16 data=ffffffffffffffff
expect at=160 label=layer:3 count=1
step at=170 text=100%25%0adone
finish left_out=12
)";

const std::string first = "varve-tape version=1 origin=recorded\n";

template <class What>
const What& event_of(const varve_tape::tape& t, std::size_t i) {
  return std::get<What>(t.events.at(i).what);
}

TEST(tape, holds_what_its_lines_say) {
  const varve_tape::tape t = varve_tape::parse(launch);
  EXPECT_EQ(t.head.name, "one_launch");
  EXPECT_TRUE(t.by_hand());
  EXPECT_EQ(t.head.cupti, 130001U);
  EXPECT_EQ(t.head.device, "NVIDIA H200");
  ASSERT_THAT(t.events, SizeIs(9));  // 13 lines without the first, the last and two records
  EXPECT_EQ(t.events[0].at, 100U);
  EXPECT_EQ(event_of<varve_tape::begin>(t, 0).index, 3);
  EXPECT_TRUE(event_of<varve_tape::call>(t, 1).enter);
  EXPECT_EQ(event_of<varve_tape::call>(t, 1).symbol, "_Z5saxpyv");
  EXPECT_FALSE(event_of<varve_tape::call>(t, 3).enter);
  EXPECT_EQ(event_of<varve_tape::call>(t, 3).result, -1);
  EXPECT_THAT(event_of<varve_tape::call>(t, 3).params, ElementsAre(std::byte{0}, std::byte{255}));
  EXPECT_EQ(t.events[5].thread, 1U);
  EXPECT_EQ(event_of<varve_tape::resource>(t, 5).event, 20U);
  EXPECT_EQ(event_of<varve_tape::resource>(t, 5).type, 2U);
  EXPECT_EQ(event_of<varve_tape::resource>(t, 5).node, UINT64_MAX);
  EXPECT_EQ(event_of<varve_tape::resource>(t, 5).node_id, (std::uint64_t{2} << 32U) + 1);
  EXPECT_EQ(event_of<varve_tape::expect>(t, 7).count, 1U);
  EXPECT_EQ(event_of<varve_tape::step>(t, 8).text, "100%\ndone");
  EXPECT_TRUE(t.finished);
  EXPECT_EQ(t.left_out, 12U);
}

TEST(tape, is_written_as_it_was_read) { EXPECT_EQ(varve_tape::to_text(varve_tape::parse(launch)), launch); }

TEST(tape, gives_a_buffer_whose_names_can_be_followed) {
  const varve_tape::tape t = varve_tape::parse(launch);
  const varve_tape::bytes memory = varve_tape::memory_of(event_of<varve_tape::buffer>(t, 6));
  ASSERT_THAT(memory, SizeIs(24));  // the record's 16 bytes and 8 that nothing could walk over
  EXPECT_EQ(memory[0], std::byte{10});
  EXPECT_EQ(memory[23], std::byte{255});
  const char* name = nullptr;
  std::memcpy(&name, &memory[8], sizeof name);
  EXPECT_STREQ(name, "_Z5saxpyv");
}

TEST(tape, may_end_early_and_says_so) {
  const varve_tape::tape t = varve_tape::parse(first + "end at=1 thread=2 later=7\n");
  EXPECT_FALSE(t.finished);
  EXPECT_THAT(t.events, SizeIs(1));  // a key that a later version adds is skipped
}

TEST(tape, that_is_damaged_is_refused_with_the_line) {
  const auto error_of = [](const std::string& lines) {
    try {
      (void)varve_tape::parse(first + lines);
    } catch (const std::runtime_error& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_THAT(error_of("end at=1\n"), IsEmpty());
  EXPECT_EQ(error_of("end at=1\nfoo at=1\n"), "line 3: 'foo' is no line of a tape");
  EXPECT_EQ(error_of("end at\n"), "line 2: 'at' is no key=value");
  EXPECT_EQ(error_of("end at=1x\n"), "line 2: '1x' is no number of this field");
  EXPECT_EQ(error_of("end thread=4294967296\n"), "line 2: '4294967296' is no number of this field");
  EXPECT_EQ(error_of("end thread=64\n"), "line 2: a thread beyond the 64th");
  EXPECT_EQ(error_of("resource null=2\n"), "line 2: '2' is no number of this field");
  EXPECT_EQ(error_of("resource event=node_born\n"), "line 2: 'node_born' is no number of this field");
  EXPECT_EQ(error_of("enter params=0g\n"), "line 2: '0g' are no two hexadecimal digits");
  EXPECT_EQ(error_of("enter params=abc\n"), "line 2: 'c' are no two hexadecimal digits");
  EXPECT_EQ(error_of("enter words=1,x\n"), "line 2: 'x' is no number of this field");
  EXPECT_EQ(error_of("enter correlation=1\n"), "line 2: a call is one of the runtime or of the driver");
  EXPECT_EQ(error_of("leave\n"), "line 2: leaves a call that was not entered");
  EXPECT_EQ(error_of("step text=5%\n"), "line 2: '' are no two hexadecimal digits");
  EXPECT_EQ(error_of("record kind=kernel\n"), "line 2: a record outside a buffer");
  EXPECT_EQ(error_of("buffer size=16777217\n"), "line 2: a buffer of more than 16 MiB");
  EXPECT_EQ(error_of("finish\nend\n"), "line 3: a line after the last");

  const std::string outside = "a record that lies outside its buffer or in another record";
  EXPECT_EQ(error_of("buffer size=2\nrecord offset=1 data=0000\n"), "line 3: " + outside);
  EXPECT_EQ(error_of("buffer size=2\nrecord offset=18446744073709551615 data=0000\n"), "line 3: " + outside);
  EXPECT_EQ(error_of("buffer size=2\nrecord data=0000\nrecord offset=1 data=00\n"), "line 4: " + outside);
  EXPECT_EQ(error_of("buffer size=9\nrecord name_at=2 data=000000000000000000\n"),
            "line 3: a name that lies outside its record");
}

TEST(tape, of_another_version_or_none_is_refused) {
  for (const char* text : {"", "varve-tape version=2\n", "call version=1\n", "\n"}) {
    EXPECT_THAT([&] { (void)varve_tape::parse(text); },
                ThrowsMessage<std::runtime_error>(HasSubstr("line 1: no tape of version 1")));
  }
  EXPECT_THAT([] { (void)varve_tape::parse("varve-tape version=1 origin=hearsay\n"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("neither 'recorded' nor 'belief'")));
  EXPECT_THAT([] { (void)varve_tape::read("/does/not/exist"); }, Throws<std::runtime_error>());
}

/// One line for each callback of an API: "enter 7", "leave 7 result 2".
std::vector<std::string> calls_of(const varve_tape::tape& t) {
  std::vector<std::string> out;
  for (const varve_tape::event& e : t.events) {
    const auto& c = std::get<varve_tape::call>(e.what);
    out.push_back((c.enter ? "enter " : "leave ") + c.name() + " " + std::to_string(c.correlation) +
                  (c.result != 0 ? " result " + std::to_string(c.result) : ""));
  }
  return out;
}

TEST(tape, has_short_forms_for_who_writes_by_hand) {
  const varve_tape::tape t = varve_tape::parse(first + R"(
# A comment, and a line that is empty.
call  runtime=cudaA driver=cuA  correlation=7 inner=8 result=2
enter thread=1 driver=cuB correlation=9 words=1,258
leave thread=1
)");
  EXPECT_THAT(calls_of(t), ElementsAre("enter cudaA 7", "enter cuA 8", "leave cuA 8 result 2",
                                       "leave cudaA 7 result 2", "enter cuB 9", "leave cuB 9"));
  // 1 and 258 = 0x102, each in 8 bytes, the lowest first.
  EXPECT_THAT(event_of<varve_tape::call>(t, 5).params,
              ElementsAre(std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},
                          std::byte{0}, std::byte{0}, std::byte{2}, std::byte{1}, std::byte{0}, std::byte{0},
                          std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}));
}

}  // namespace

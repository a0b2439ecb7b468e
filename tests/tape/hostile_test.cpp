// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Tapes that cannot be played: each says why, and where. Those that can and are nonsense harm nobody.
#include "tape/session_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

namespace varve_tape {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string first = "varve-tape version=1 origin=belief cupti=130001\n";

/// Why it cannot be played; empty where it can.
std::string refusal(const std::string& lines, const std::string& head = first) {
  try {
    (void)prepare(parse(head + lines));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

std::string zeros(std::size_t bytes) { return std::string(2 * bytes, '0'); }

TEST(hostile_tapes, that_are_cut_or_of_no_use_say_so) {
  EXPECT_EQ(refusal("start\nstop\nfinish\n"), "");
  EXPECT_EQ(refusal("start\nstop\n"), "the tape is cut: it has no 'finish'");
  EXPECT_EQ(refusal("finish\n"), "the tape never starts");
  EXPECT_EQ(refusal("start\nfinish\n"), "the tape starts and does not stop");
  EXPECT_EQ(refusal("start\nstart\nfinish\n"), "line 3: starts twice");
  EXPECT_EQ(refusal("stop\nfinish\n"), "line 2: stops what was not started");
  EXPECT_EQ(refusal("start thread=1\nfinish\n"), "line 2: starts or stops on another thread than the first");
  EXPECT_EQ(refusal("begin phase=decode\nend thread=1\nfinish\n"), "line 3: ends a range that was not begun");
  EXPECT_EQ(refusal("start\nstop\nfinish\n", "varve-tape version=1 origin=belief cupti=18\n"),
            "the tape is of CUPTI 18, older than 12.0");
}

TEST(hostile_tapes, whose_calls_are_unknown_say_so) {
  const auto with = [](const std::string& lines) { return refusal("start\n" + lines + "stop\nfinish\n"); };
  EXPECT_EQ(with("call runtime=cudaLaunchNothing\n"),
            "line 3: nothing says what the callback id of 'cudaLaunchNothing' is: give it as id=");
  EXPECT_EQ(with("call runtime=cudaLaunchNothing id=5\n"), "");
  EXPECT_EQ(with("call runtime=cudaA id=5\ncall driver=cuB id=5\ncall runtime=cudaC id=5\n"),
            "line 5: the callback id 5 has two names");
}

TEST(hostile_tapes, whose_records_have_sizes_that_no_libcupti_gives_say_so) {
  const auto with = [](const std::string& lines) { return refusal("start\nstop\n" + lines + "finish\n"); };
  // A kernel's record of 13.0 has 216 bytes.
  EXPECT_EQ(with("buffer size=16\nrecord data=0a00000000000000\nrecord offset=8 data=0a00000000000000\n"),
            "line 4: a record of kind 10 has 8 bytes, that of CUPTI 130001 has 216");
  EXPECT_EQ(with("buffer\nrecord kind=kernel data=0a000000\n"),
            "line 4: a record of kind 10 has 4 bytes, that of CUPTI 130001 has 216");
  const std::string unknown = "record kind=9000 data=28230000" + zeros(12) + "\n";
  const std::string longer = "record kind=9000 data=28230000" + zeros(20) + "\n";
  EXPECT_EQ(with("buffer\n" + unknown + unknown + "record kind=kernel\n"), "");
  EXPECT_EQ(with("buffer\n" + unknown + longer + "record kind=kernel\n"),
            "line 4: records of kind 9000 have 16 bytes and 24");
  EXPECT_EQ(with("buffer\nrecord kind=kernel\nrecord data=00\nrecord kind=kernel\n"),
            "line 4: a record without a kind");
  EXPECT_EQ(with("buffer\nrecord kind=9000\n"),
            "line 4: a record of kind 9000 is not laid out: give its bytes as data=");
}

/// Played under a session; one in a process, as ctest runs them.
std::vector<std::string> complaints_of(const std::string& lines, session_program& engine) {
  static std::vector<std::unique_ptr<prepared>> kept;  // the session may look at names to the end
  kept.push_back(std::make_unique<prepared>(prepare(parse(first + lines))));
  return play(*kept.back(), engine);
}

TEST(hostile_tapes, of_pointers_that_lead_nowhere_are_played_without_following_them) {
  session_program engine;
  // Kernel names at 104, the memory of an overhead at 48 and the name of an allocation at 64, all of another
  // process; and behind the last record what a reader may take for one more overhead, and for one that is
  // cut.
  const std::string wild = "efbeaddeefbeadde";
  const std::string overhead = "11000000" + zeros(44) + wild;              // 4 + 44 + 8 = 56
  const std::string kernel = "0a000000" + zeros(100) + wild + zeros(104);  // 216
  const std::string memory = "31000000" + zeros(60) + wild + zeros(56);    // 128
  EXPECT_THAT(
      complaints_of("start\nstop\nbuffer\nrecord kind=overhead data=" + overhead +
                        "\nrecord kind=memory data=" + memory + "\nrecord kind=kernel data=" + kernel +
                        "\nrecord kind=overhead data=" + overhead + overhead + "11000000\nfinish\n",
                    engine),
      IsEmpty());
  EXPECT_EQ(engine.problem(), "");
  ASSERT_THAT(engine.traces(), SizeIs(1));
  EXPECT_THAT(work_in(engine.traces().front()), SizeIs(1));  // the kernel, which has neither name nor times
}

TEST(hostile_tapes, of_events_that_make_no_sense_are_played_to_the_end) {
  session_program engine;
  EXPECT_THAT(complaints_of("resource event=node_created\n"
                            "leave runtime=cudaLaunchKernel_v7000 id=211 correlation=9\n"
                            "start\n"
                            "resource event=cu_init_finished null=1\n"
                            "resource event=node_created null=1\n"
                            "resource event=exec_destroy_starting graph=1 exec=77\n"
                            "resource event=node_cloned graph=1 node=5 original_node=6\n"
                            "call runtime=cudaGraphExecUpdate_v10020 words=77\n"
                            "leave runtime=cudaLaunchKernel_v7000 id=211 correlation=9\n"
                            "enter thread=3 runtime=cudaLaunchKernel_v7000 correlation=9\n"
                            "enter thread=3 runtime=cudaGraphInstantiate_v12000 correlation=10\n"
                            "resource thread=3 event=exec_created graph=1 exec=8\n"
                            "buffer buffer=44\n"
                            "request\nrequest\n"
                            "stop\n"
                            "call runtime=cudaLaunchKernel_v7000 correlation=9\n"
                            "finish\n",
                            engine),
              // It is gone when it is updated; the second word of the parameters is no handle, which nobody
              // asks about.
              IsEmpty());
  EXPECT_EQ(engine.problem(), "");
  ASSERT_THAT(engine.traces(), SizeIs(1));
  EXPECT_THAT(work_in(engine.traces().front()), IsEmpty());
}

TEST(hostile_tapes, that_do_not_fit_are_complained_of) {
  session_program engine;
  // Sessions give buffers of 4 MiB; and an update names an executable that was never told of.
  EXPECT_THAT(
      complaints_of("start\ncall runtime=cudaGraphExecUpdate_v10020 words=77,78\nstop\n"
                    "buffer size=4194305\nfinish\n",
                    engine),
      ElementsAre(HasSubstr("asks for the id of a graph that the tape tells nothing of (78)"),
                  HasSubstr("line 5: the subscriber's buffer has 4194304 bytes, the tape's 4194305")));
}

}  // namespace
}  // namespace varve_tape

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// An engine with a session of its own, the example engine on the processor, under `varve run` and `varve
// calibrate-layers`, whose session comes first.
#include "inject/run_fixture.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::outcome;

class run_of_decoder : public varve_test::over_run {
 protected:
  const std::vector<std::string> engine{VARVE_DECODER, "--preset", "tiny", "--tokens", "6"};
};

constexpr const char* goes_without = "decoder: goes without a report of its own: another session is running";

// Two engines, one launched one by one and one replayed, of five decode passes each.
TEST_F(run_of_decoder, is_recorded_and_goes_without_a_session_of_its_own) {
  const outcome o = run_command(engine);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("sequence 3:"), Not(HasSubstr("==="))));
  EXPECT_THAT(o.err, HasSubstr(goes_without));
  const auto calls = varve_test::calls_of(report());
  EXPECT_EQ(calls.at("prefill: layer 0"), 2);
  EXPECT_EQ(calls.at("decode: layer 1 / mlp"), 10);
}

TEST_F(run_of_decoder, fails_where_it_is_to_write_a_report_of_its_own) {
  std::vector<std::string> with_json = engine;
  with_json.insert(with_json.end(), {"--eager", "--json", files.path("own.json")});
  const outcome o = run_command(with_json);
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, AllOf(HasSubstr(goes_without), HasSubstr("--json and --trace have nothing to write")));
}

// On the processor there is nothing to count with, which the tool says.
TEST_F(run_of_decoder, runs_where_it_is_counted) {
  std::vector<std::string> words{"calibrate-layers", "--output", files.path("counted.json"), "--"};
  words.insert(words.end(), engine.begin(), engine.end());
  words.insert(words.end(), {"--eager", "--repeat", "2"});
  testing_support::surroundings around;
  around.variables = {"TMPDIR=" + scratch};
  const outcome o = testing_support::run(words, around);
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.out, HasSubstr("sequence 3:"));
  EXPECT_THAT(o.err,
              AllOf(HasSubstr(goes_without), HasSubstr("passes not counted: the process has no CUDA")));
}

}  // namespace

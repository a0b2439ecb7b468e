// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// `varve run` on engines that mark their work with NVTX, on a machine without a GPU.
#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include "cli/process.hpp"

namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;
using testing_support::content_of;
using testing_support::folder;
using testing_support::outcome;
using testing_support::surroundings;

using calls = std::map<std::string, std::int64_t>;

class run : public testing::Test {
 protected:
  /// varve run OPTIONS --json … -- COMMAND
  outcome run_command(const std::vector<std::string>& command, const std::vector<std::string>& options = {},
                      std::vector<std::string> variables = {}) {
    std::vector<std::string> words{"run", "--json", json};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    surroundings around;
    around.variables = std::move(variables);
    around.variables.push_back("TMPDIR=" + scratch);
    return testing_support::run(words, around);
  }
  outcome run_engine(const std::string& what, const std::vector<std::string>& options = {},
                     std::vector<std::string> variables = {}) {
    return run_command({VARVE_NVTX_ENGINE, what}, options, std::move(variables));
  }

  /// One a process, in the order of the tables.
  std::vector<varve::report> reports() {
    std::vector<varve::report> out;
    std::ifstream lines{json};
    for (std::string line; std::getline(lines, line);) {
      out.push_back(varve::read_report(files.write("line.json", line)));
    }
    return out;
  }
  varve::report report() {
    const std::vector<varve::report> all = reports();
    EXPECT_THAT(all, SizeIs(1));
    return all.empty() ? varve::report{} : all[0];
  }

  static std::string make_folder(const std::string& path) {
    std::filesystem::create_directory(path);
    return path;
  }

  folder files;
  std::string json = files.path("report.json");
  std::string scratch = make_folder(files.path("scratch"));

  void TearDown() override { EXPECT_TRUE(std::filesystem::is_empty(scratch)) << "something was left behind"; }
};

/// "decode: layer 1" and how often it was called, of all rows.
calls calls_of(const varve::report& r) {
  calls out;
  for (const varve::row& row : r.layers) {
    if (!row.path.empty()) {
      out[row.phase + ": " + row.path] += row.inclusive.calls;
    }
  }
  return out;
}

std::uint64_t lost(const varve::report& r, const std::string& part) {
  std::uint64_t sum = 0;
  for (const varve::loss& l : r.quality.losses) {
    sum += l.what.find(part) != std::string::npos ? l.count : 0;
  }
  return sum;
}

/// What `passes` of the engine does.
const calls two_passes{
    {"prefill: layer 0", 1}, {"prefill: layer 1", 1}, {"decode: layer 0", 1}, {"decode: layer 1", 1}};

TEST_F(run, prints_the_table_of_an_engine_beside_its_output) {
  const outcome o = run_engine("passes");
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.out, "the engine's output\n");
  EXPECT_THAT(o.err, AllOf(StartsWith("nvtx_engine (process "), HasSubstr("prefill · 1 pass\n"),
                           HasSubstr("decode · 1 pass\n"), HasSubstr("layer    calls  host time"),
                           HasSubstr("layer 0      1"), Not(HasSubstr("varve:"))));
  EXPECT_EQ(calls_of(report()), two_passes);
  EXPECT_THAT(report().quality.losses, IsEmpty());
}

TEST_F(run, names_ranges_by_text_registered_string_payload_and_domain) {
  EXPECT_EQ(run_engine("names").code, 0);
  const varve::report r = report();
  EXPECT_EQ(calls_of(r), (calls{{": registered 7", 1},
                                {": wide_r\u00E9gistr\u00E9 12", 1},
                                {": payload 3", 1},
                                {": rate", 1},
                                {": \u5C42 5", 1},
                                {": outer", 1},
                                {": outer / inner", 1},
                                {": (no name)", 1}}));
  EXPECT_THAT(r.quality.losses, IsEmpty());
  ASSERT_THAT(r.phases, SizeIs(1));
  EXPECT_EQ(r.phases[0].phase, "decode");
  EXPECT_EQ(r.phases[0].passes, 1);
  EXPECT_EQ(r.phases[0].decode_tokens, 4);  // execute_context_0(0)_generation_4(4)
}

TEST_F(run, ends_ranges_in_any_order_and_on_any_thread) {
  EXPECT_EQ(run_engine("starts").code, 0);
  const varve::report r = report();
  EXPECT_EQ(calls_of(r), (calls{{"(trace): first", 1},
                                {"(trace): first / second", 1},
                                {"(trace): elsewhere", 1},
                                {"(trace): after", 1}}));
  EXPECT_THAT(r.quality.losses, IsEmpty());
  EXPECT_EQ(r.quality.clipped_ranges, 0);
}

TEST_F(run, keeps_threads_apart) {
  EXPECT_EQ(run_engine("threads").code, 0);
  calls expected;
  for (const std::string name : {"a", "b", "c", "d"}) {
    expected["(trace): " + name] = 100;
    expected["(trace): " + name + " / part"] = 100;
  }
  EXPECT_EQ(calls_of(report()), expected);
}

TEST_F(run, counts_what_is_too_deep_and_stays_balanced) {
  EXPECT_EQ(run_engine("deep").code, 0);
  const varve::report r = report();
  EXPECT_EQ(lost(r, "nested deeper than 512"), 600U - 512U);
  EXPECT_THAT(calls_of(r), Contains(Pair("(trace): after", 1)));
}

TEST_F(run, follows_the_rules_that_it_is_given) {
  EXPECT_EQ(run_engine("passes", {"--phase-rule", "^prefill$=embed", "--layer-rule", "^layer_(1)=block",
                                  "--ignore-rule", "_0$"})
                .code,
            0);
  EXPECT_EQ(calls_of(report()), (calls{{"embed: block 1", 1}, {"decode: block 1", 1}}));
}

TEST_F(run, writes_the_table_to_a_file) {
  const std::string table = files.path("table.txt");
  const outcome o = run_engine("passes", {"--output", table, "--by", "label"});
  EXPECT_EQ(o.err, "");
  EXPECT_THAT(content_of(table), HasSubstr("decode · 1 pass"));
  struct stat about {};
  ASSERT_EQ(::stat(table.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(run, writes_a_trace_of_each_process_that_varve_reads) {
  const std::string trace = files.path("trace.json");
  EXPECT_EQ(run_engine("fork", {"--trace", trace}).code, 0);
  const std::vector<varve::report> both = reports();
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(calls_of(varve::analyze(varve::read_pytorch(trace))), calls_of(both[0]));
  const std::size_t number = both[1].source.find_first_of("0123456789");  // "nvtx_engine (process 12)"
  const std::string childs =
      files.path("trace." + std::to_string(std::stoi(both[1].source.substr(number))) + ".json");
  EXPECT_EQ(calls_of(varve::analyze(varve::read_pytorch(childs))), (calls{{"(trace): child", 1}}));
  struct stat about {};
  ASSERT_EQ(::stat(childs.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(run, passes_the_engines_arguments_and_exit_code_on) {
  const outcome o = run_command({"sh", "-c", "echo \"$@\"; exit 42", "sh", "--json", "--", "run"});
  EXPECT_EQ(o.code, 42);
  EXPECT_EQ(o.out, "--json -- run\n");
}

TEST_F(run, says_when_there_was_nothing_to_record) {
  const outcome o = run_engine("nothing");
  EXPECT_EQ(o.code, 5);
  EXPECT_EQ(o.err, "varve: nothing was recorded: the engine made no NVTX range and no CUDA call\n");
}

TEST_F(run, says_what_cannot_be_started) {
  outcome o = run_command({files.path("nothing")});
  EXPECT_EQ(o.code, 127);
  EXPECT_THAT(o.err, HasSubstr("nothing: cannot be started: No such file"));
  o = run_command({files.write("text", "no program")});
  EXPECT_EQ(o.code, 126);
}

TEST_F(run, needs_an_engine_after_two_dashes) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"run"}, {"run", "--"}, {"run", "engine"}, {"run", "--json"}}) {
    EXPECT_EQ(testing_support::run(words).code, 2) << words.back();
  }
  EXPECT_THAT(testing_support::run({"run", "--help"}).out, HasSubstr("varve run [OPTIONS] -- ENGINE"));
}

TEST_F(run, tells_a_report_that_cannot_be_written) {
  const outcome o = run_engine("passes", {"--output", files.path("nowhere/table.txt")});
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.err, HasSubstr("nowhere/table.txt: cannot be written"));
  EXPECT_EQ(run_engine("_exit", {"--output", files.path("nowhere/table.txt")}).code, 7);  // the engine's
}

TEST_F(run, leaves_another_tool_in_its_place) {
  const outcome o = run_engine("passes", {}, {"NVTX_INJECTION64_PATH=/somewhere/libtool.so"});
  EXPECT_EQ(o.out, "the engine's output\n");
  EXPECT_THAT(o.err, AllOf(HasSubstr("NVTX_INJECTION64_PATH is set to /somewhere/libtool.so"),
                           HasSubstr("nothing was recorded"), Not(HasSubstr("CUDA_INJECTION64_PATH"))));
}

TEST_F(run, serves_the_libraries_of_nvtx_1_and_2) {
  const outcome o = run_engine("old");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(calls_of(report()), (calls{{"prefill: layer 0", 1}}));
}

TEST_F(run, starts_with_the_cuda_driver_too) {
  EXPECT_EQ(run_engine("driver").code, 0);
  EXPECT_EQ(calls_of(report()), two_passes);
  const outcome o = run_engine("driver-alone");
  EXPECT_EQ(o.code, 0);
  EXPECT_THAT(o.err, Not(HasSubstr("nothing was recorded")));
  EXPECT_THAT(calls_of(report()), IsEmpty());
}

struct ending {
  const char* what;
  int code;
};

class run_that_ends : public run, public testing::WithParamInterface<ending> {};

TEST_P(run_that_ends, loses_nothing) {
  const outcome o = run_engine(GetParam().what);
  EXPECT_EQ(o.code, GetParam().code);
  EXPECT_EQ(calls_of(report()), two_passes);
  EXPECT_THAT(o.err, Not(HasSubstr("missing")));
}

INSTANTIATE_TEST_SUITE_P(somehow, run_that_ends,
                         testing::Values(ending{"segv", 128 + SIGSEGV}, ending{"abort", 128 + SIGABRT},
                                         ending{"term", 128 + SIGTERM}, ending{"ignored", 6},
                                         ending{"alarm", 128 + SIGALRM}, ending{"handled", 9},
                                         ending{"_exit", 7}, ending{"quick_exit", 8},
                                         ending{"to-parent", 128 + SIGTERM}, ending{"fork-quiet", 0}));

TEST_F(run, tells_what_a_killed_engine_may_have_done_after_its_last_snapshot) {
  const outcome o = run_engine("kill", {"--snapshots", "10ms"});
  EXPECT_EQ(o.code, 128 + SIGKILL);
  EXPECT_EQ(calls_of(report()), two_passes);
  EXPECT_THAT(o.err, AllOf(HasSubstr("was ended by signal 9 (Killed)"), HasSubstr("after its last snapshot"),
                           HasSubstr("ms before its end, is missing")));
}

TEST_F(run, reports_each_program_that_a_process_has_been) {
  const outcome o = run_engine("exec");
  EXPECT_EQ(o.out, "the engine's output\n");
  const std::vector<varve::report> both = reports();
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(calls_of(both[0]), two_passes);
  EXPECT_EQ(calls_of(both[1]), two_passes);
  EXPECT_EQ(both[0].source, both[1].source);  // one process
}

TEST_F(run, reports_a_forked_child_that_marks_ranges_apart) {
  EXPECT_EQ(run_engine("fork").code, 0);
  const std::vector<varve::report> both = reports();
  ASSERT_THAT(both, SizeIs(2));
  calls parents = two_passes;
  parents[": parent"] = 1;
  EXPECT_EQ(calls_of(both[0]), parents);
  EXPECT_EQ(calls_of(both[1]), (calls{{"(trace): child", 1}}));
}

// The engine marks a phase and a layer with varve, and an NVTX range inside.
TEST_F(run, counts_the_engines_markers_of_varve_once) {
  for (const char* const engine : {VARVE_MARKED_ENGINE, VARVE_STATIC_ENGINE}) {
    const outcome o = run_command({engine});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(calls_of(report()), (calls{{"decode: layer 4", 3}, {"decode: layer 4 / inside", 3}})) << engine;
  }
}

// A copy of its own records in its own session. Its markers are NVTX ranges for the injected one.
TEST_F(run, says_that_an_engine_holds_a_copy_of_varve) {
  run_command({VARVE_STATIC_ENGINE});
  std::vector<std::string> names;
  for (const varve::collector_status& c : report().quality.collectors) {
    names.push_back(c.name);
  }
  EXPECT_THAT(names, Contains("second copy of varve"));
}

}  // namespace

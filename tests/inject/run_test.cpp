// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// `varve run` on engines that mark their work with NVTX, on a machine without a GPU.
#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>

#include "inject/run_fixture.hpp"

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
using testing_support::outcome;
using varve_test::calls;
using varve_test::calls_of;
using varve_test::lost;

class run : public varve_test::over_run {
 protected:
  outcome run_engine(const std::string& what, const std::vector<std::string>& options = {},
                     std::vector<std::string> variables = {}) {
    return run_command({VARVE_NVTX_ENGINE, what}, options, std::move(variables));
  }
};

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

// The engine's own pass of 4 tokens, and no other batch.
TEST_F(run, analyses_as_it_is_asked) {
  EXPECT_EQ(run_engine("names", {"--by-batch", "--steady", "--unprofiled-wall", "20ms"}).code, 0);
  const varve::report r = report();
  ASSERT_THAT(r.phases, SizeIs(1));
  EXPECT_NE(r.phases[0].batch, "");
  EXPECT_TRUE(r.quality.steady);
  EXPECT_EQ(r.unprofiled_wall, 20'000'000);
}

class run_with_model : public run {
 protected:
  /// Two prompts of 3 tokens for each pass of two layers, of which NVTX tells nothing.
  std::vector<std::string> asked(std::vector<std::string> more = {}) {
    const std::string config = files.write("config.json", R"({"model_type": "llama", "hidden_size": 8,
        "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
        "vocab_size": 32, "tie_word_embeddings": false})");
    more.insert(more.end(), {"--model", config, "--batch-tokens", "6x2", "--batch-context", "3"});
    return more;
  }
  /// Of each token queries, keys and values of 2 · 8 · (8 + 4 + 4) FLOPs, output of 2 · 8 · 8, three matrices
  /// of 2 · 8 · 16; of 1 + 2 + 3 keys of each prompt 2 · 2 · 2 · 4. Decode has a token of each, and 3 keys.
  static constexpr std::int64_t prefill_flops = 6 * (256 + 128 + 768) + 12 * 32;
  static constexpr std::int64_t decode_flops = 2 * (256 + 128 + 768) + 6 * 32;
  static constexpr std::int64_t head_flops = 2 * 2 * 8 * 32;  // one token of each prompt

  static void expect_work(const varve::report& r) {
    for (const char* const phase : {"prefill", "decode"}) {
      for (const int index : {0, 1}) {
        const varve::row* const layer = r.find({"layer", index, phase});
        ASSERT_NE(layer, nullptr);
        EXPECT_EQ(layer->inclusive.declared.flops, flops_in(phase)) << phase << index;
      }
    }
    for (const varve::phase_row& p : r.phases) {
      EXPECT_EQ(p.total.declared.flops, 2 * flops_in(p.phase) + head_flops) << p.phase;
    }
  }
  static std::int64_t flops_in(std::string_view phase) {
    return phase == "prefill" ? prefill_flops : decode_flops;
  }
};

TEST_F(run_with_model, tells_the_work_of_layers) {
  const std::string trace = files.path("trace.json");
  EXPECT_EQ(run_engine("passes", asked({"--trace", trace})).code, 0);
  varve::report r = report();
  expect_work(r);
  EXPECT_THAT(r.quality.losses, IsEmpty());
  r.source = "session";  // before the tool named the process
  EXPECT_EQ(to_json(varve::analyze(varve::read_pytorch(trace))), to_json(r));
}

// Of which the tool makes the report. 5 layers: of 3 there are no labels in either pass.
TEST_F(run_with_model, tells_the_work_of_what_a_trace_alone_is_left_of) {
  const std::string trace = files.path("trace.json");
  const std::string taller = files.write("taller.json", R"({"model_type": "llama", "hidden_size": 8,
      "intermediate_size": 16, "num_hidden_layers": 5, "num_attention_heads": 2, "num_key_value_heads": 1,
      "vocab_size": 32, "tie_word_embeddings": false})");
  EXPECT_EQ(run_engine("trace-alone",
                       {"--trace", trace, "--model", taller, "--batch-tokens", "6x2", "--batch-context", "3"})
                .code,
            128 + SIGKILL);
  const varve::report r = report();
  const varve::row* const layer = r.find({"layer", 1, "decode"});
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->inclusive.declared.flops, decode_flops);
  EXPECT_EQ(lost(r, "without a label in a pass"), 2U * 3U);  // once, though both have told it
}

TEST_F(run_with_model, follows_rules_and_says_what_is_missing) {
  EXPECT_EQ(run_engine("passes", asked({"--model-rule", "layer=mlp"})).code, 0);
  const varve::report r = report();
  ASSERT_THAT(r.phases, SizeIs(2));
  EXPECT_EQ(r.phases[0].total.declared.flops, 2 * prefill_flops + head_flops);
  const varve::row* const layer = r.find({"layer", 0, "prefill"});
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->inclusive.declared.flops, 6 * 768);
  EXPECT_EQ(testing_support::run({"run", "--model", files.path("none.json"), "--", "true"}).code, 2);
  std::vector<std::string> no_batch = asked();
  no_batch.resize(2);
  EXPECT_EQ(run_engine("passes", no_batch).code, 0);
  EXPECT_EQ(lost(report(), "(--batch-tokens)"), 2U);
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
  std::vector<varve::report> both = reports();
  ASSERT_THAT(both, SizeIs(2));
  const std::size_t number = both[1].source.find_first_of("0123456789");  // "nvtx_engine (process 12)"
  const std::string childs =
      files.path("trace." + std::to_string(std::stoi(both[1].source.substr(number))) + ".json");
  EXPECT_EQ(calls_of(both[1]), (calls{{"(trace): child", 1}}));
  for (const auto& [file, r] : {std::pair{trace, &both[0]}, {childs, &both[1]}}) {
    r->source = "session";  // before the tool named the process
    EXPECT_EQ(to_json(varve::analyze(varve::read_pytorch(file))), to_json(*r));
  }
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

TEST_F(run, keeps_what_was_recorded_where_a_report_cannot_be_written) {
  const std::string nowhere = files.path("nowhere/file");
  const auto check = [&](const outcome& o) {
    EXPECT_EQ(o.code, 3);
    EXPECT_THAT(o.err, HasSubstr("nowhere/file: cannot be written"));
    const auto kept = take_kept();
    ASSERT_THAT(kept, SizeIs(1));
    EXPECT_THAT(o.err, HasSubstr(kept.begin()->first + " is kept\n"));
    EXPECT_EQ(calls_of(varve::read_report(files.write("kept.json", kept.begin()->second))), two_passes);
  };
  check(run_engine("passes", {"--output", nowhere}));
  json = nowhere;
  check(run_engine("passes"));
  EXPECT_EQ(run_engine("quick_exit").code, 8);  // the engine's
  EXPECT_THAT(take_kept(), SizeIs(1));
}

TEST_F(run, keeps_a_trace_that_cannot_be_written_where_it_shall_be) {
  const outcome o = run_engine("passes", {"--trace", files.path("nowhere/trace.json")});
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.err, HasSubstr("nowhere/trace.json: cannot be written"));
  EXPECT_EQ(calls_of(report()), two_passes);
  const auto kept = take_kept();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_THAT(o.err, HasSubstr(kept.begin()->first + " is kept\n"));
  EXPECT_EQ(calls_of(varve::analyze(varve::read_pytorch(files.write("kept.json", kept.begin()->second)))),
            two_passes);
}

TEST_F(run, writes_a_trace_into_a_pipe_or_a_device) {
  const outcome o = run_engine("passes", {"--trace", "/dev/stdout"});  // which is a pipe here
  EXPECT_EQ(o.code, 0) << o.err;
  const std::string output = "the engine's output\n";
  ASSERT_THAT(o.out, StartsWith(output + '{'));
  EXPECT_EQ(calls_of(varve::analyze(varve::read_pytorch(files.write("t", o.out.substr(output.size()))))),
            two_passes);
  EXPECT_EQ(run_engine("passes", {"--trace", "/dev/null"}).code, 0);
}

// The engine writes over its own report, and is killed.
TEST_F(run, keeps_a_report_that_cannot_be_read) {
  const outcome o = run_engine("spoil");
  EXPECT_EQ(o.code, 128 + SIGKILL);
  EXPECT_THAT(reports(), IsEmpty());
  const auto kept = take_kept();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept.begin()->second, "{\"varve_report\": 1, \"spoilt");
  EXPECT_THAT(o.err, HasSubstr(kept.begin()->first + " is kept\n"));
}

// As processes leave it that have no memory for a report.
TEST_F(run, analyses_a_trace_that_came_without_a_report) {
  const outcome o = run_engine(
      "trace-alone", {"--snapshots", "10ms", "--trace", files.path("trace.json"), "--unprofiled-wall", "1s"});
  EXPECT_EQ(o.code, 128 + SIGKILL);
  EXPECT_EQ(calls_of(report()), two_passes);
  EXPECT_EQ(report().unprofiled_wall, 1'000'000'000);
  EXPECT_THAT(o.err, Not(HasSubstr("could not")));
}

// It may write files of 16 bytes at most: the name of a program, and no report.
TEST_F(run, says_that_an_engine_could_not_write) {
  const outcome o = run_engine("full");
  EXPECT_EQ(o.code, 0);
  EXPECT_THAT(o.err, AllOf(HasSubstr(".0.report.json: cannot be written: File too large\n"),
                           HasSubstr(") could not write what it recorded\n")));
  EXPECT_THAT(reports(), IsEmpty());
}

TEST_F(run, reports_the_last_snapshot_of_an_engine_that_could_not_write_more) {
  const outcome o = run_engine("full-late", {"--snapshots", "10ms"});
  EXPECT_EQ(o.code, 0);
  EXPECT_THAT(o.err, HasSubstr("could not write all that it recorded: what it did after its last snapshot"));
  EXPECT_EQ(calls_of(report()), two_passes);  // and not what came after
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
                         testing::Values(ending{"abort", 128 + SIGABRT}, ending{"term", 128 + SIGTERM},
                                         ending{"ignored", 6}, ending{"alarm", 128 + SIGALRM},
                                         ending{"handled", 9}, ending{"quick_exit", 8},
                                         ending{"to-parent", 128 + SIGTERM}, ending{"fork-quiet", 0}));

// All others whose default is to end the process, the first and the last real-time one among them.
class run_that_a_signal_ends : public run, public testing::WithParamInterface<int> {};

TEST_P(run_that_a_signal_ends, loses_nothing) {
  const outcome o = run_engine("raise-" + std::to_string(GetParam()), {"--snapshots", "0"});
  EXPECT_EQ(o.code, 128 + GetParam());
  EXPECT_EQ(calls_of(report()), two_passes);
  EXPECT_THAT(o.err, Not(HasSubstr("missing")));
}

INSTANTIATE_TEST_SUITE_P(somehow, run_that_a_signal_ends,
                         testing::Values(SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
                                         SIGVTALRM, SIGIO, SIGPWR, SIGSTKFLT, SIGRTMIN, SIGRTMAX));

// Of two ends at once the second waits for the report that the first has asked for.
class run_that_ends_twice : public run, public testing::WithParamInterface<const char*> {};

TEST_P(run_that_ends_twice, loses_nothing) {
  const outcome o = run_engine(GetParam(), {"--snapshots", "0"});
  const calls all = calls_of(report());
  EXPECT_EQ(all.size(), two_passes.size() + 5000);
  EXPECT_THAT(all, Contains(Pair("decode: layer 1", 1)));
  EXPECT_THAT(o.err, Not(HasSubstr("left no records")));
}

INSTANTIATE_TEST_SUITE_P(somehow, run_that_ends_twice, testing::Values("term-hup", "return-term"));

// Sanitizers' runtimes handle faults, set signal stacks and call _exit() themselves.
#ifndef VARVE_SANITIZED
INSTANTIATE_TEST_SUITE_P(by_fault, run_that_ends,
                         testing::Values(ending{"segv", 128 + SIGSEGV}, ending{"overflow", 128 + SIGSEGV},
                                         ending{"overflow-thread", 128 + SIGSEGV}, ending{"_exit", 7}));

INSTANTIATE_TEST_SUITE_P(by_fault, run_that_ends_twice,
                         testing::Values("return-segv", "return-exec", "return-exit"));

// The range "last" came after its last snapshot.
TEST_F(run, loses_nothing_where_a_module_that_came_later_calls_exit) {
  calls all = two_passes;
  all[": later"] = 2;
  all[": last"] = 1;
  for (const std::string plugin : {VARVE_PLUGIN_NOW, VARVE_PLUGIN_LAZY}) {
    const outcome o = run_engine("_exit-later", {"--snapshots", "10ms"}, {"ENGINE_PLUGIN=" + plugin});
    EXPECT_EQ(o.code, 7);
    EXPECT_EQ(calls_of(report()), all) << plugin;
    EXPECT_THAT(o.err, Not(HasSubstr("missing"))) << plugin;
  }
}

// 3 threads pass twice, each of 3 others once.
TEST_F(run, leaves_signal_stacks_of_the_engines_own_in_place) {
  EXPECT_EQ(run_engine("own-stack").code, 0);
  calls expected;
  for (const auto& [row, count] : two_passes) {
    expected[row] = (3 * 2 + 3 * 1) * count;
  }
  EXPECT_EQ(calls_of(report()), expected);
}

#endif

TEST_F(run, tells_what_a_killed_engine_may_have_done_after_its_last_snapshot) {
  const outcome o = run_engine("kill", {"--snapshots", "10ms"});
  EXPECT_EQ(o.code, 128 + SIGKILL);
  EXPECT_EQ(calls_of(report()), two_passes);
  EXPECT_THAT(o.err, AllOf(HasSubstr("was ended by signal 9 (Killed)"), HasSubstr("after its last snapshot"),
                           HasSubstr("ms before its end, is missing")));
}

class run_that_becomes_another : public run, public testing::WithParamInterface<const char*> {};

TEST_P(run_that_becomes_another, reports_each_program_that_a_process_has_been) {
  const outcome o = run_engine(GetParam(), {"--snapshots", "0"});
  EXPECT_EQ(o.out, "the engine's output\n");
  const std::vector<varve::report> both = reports();
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(calls_of(both[0]), two_passes);
  EXPECT_EQ(calls_of(both[1]), two_passes);
  EXPECT_EQ(both[0].source, both[1].source);  // one process
}

INSTANTIATE_TEST_SUITE_P(by, run_that_becomes_another, testing::Values("exec", "exec-at"));

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

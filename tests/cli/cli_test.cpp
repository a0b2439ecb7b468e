// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>

#include "cli/process.hpp"
#include "formats/report_fields.hpp"
#include "formats/small_report.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing_support::content_of;
using testing_support::dump;
using testing_support::folder;
using testing_support::outcome;
using testing_support::run;
using testing_support::small_report;
using testing_support::surroundings;

class cli : public testing::Test {
 protected:
  folder files;
  std::string report = files.write("small.json", varve::to_json(small_report()));
};

varve::table_options in(int width) {
  varve::table_options options;
  options.width = width;
  return options;
}

mode_t mode_of(const std::string& path) {
  struct stat about {};
  EXPECT_EQ(::stat(path.c_str(), &about), 0) << path;
  return about.st_mode & 0777U;
}

TEST_F(cli, prints_the_table_of_a_report) {
  const outcome o = run({"report", report});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.out, varve::to_table(small_report()));
  EXPECT_EQ(o.err, "");
}

TEST_F(cli, passes_its_options_to_the_table) {
  varve::table_options options = in(90);
  options.by = varve::view::layer;
  options.sort = varve::sort_key::launch_time;
  options.top = 3;
  options.fold_below = 0.005;
  EXPECT_EQ(run({"report", report, "--by", "layer", "--sort", "launch-time", "--top", "3", "--fold", "0.5%",
                 "--width", "90"})
                .out,
            varve::to_table(small_report(), options));
  options = in(0);
  options.by = varve::view::phase;
  EXPECT_EQ(run({"report", "--by", "phase", report}).out, varve::to_table(small_report(), options));
  options = in(0);
  options.filter = "mlp";
  EXPECT_EQ(run({"report", "--filter=mlp", report}).out, varve::to_table(small_report(), options));
  options = in(0);
  options.depth = 1;
  EXPECT_EQ(run({"report", "--depth", "1", report}).out, varve::to_table(small_report(), options));
  options = in(0);
  options.layers = "^(mlp|layer 1)$";
  EXPECT_EQ(run({"report", "--layers", "^(mlp|layer 1)$", report}).out,
            varve::to_table(small_report(), options));
}

TEST_F(cli, writes_json_that_gives_the_same_table) {
  const outcome json = run({"report", "--json", report});
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(json.out, varve::to_json(small_report()) + '\n');
  const std::string again = files.write("again.json", json.out);
  EXPECT_EQ(run({"report", again}).out, run({"report", report}).out);
  EXPECT_EQ(dump(varve::read_report(again)), dump(small_report()));
}

TEST_F(cli, writes_one_line_of_json_a_file) {
  const std::string line = varve::to_json(small_report()) + '\n';
  EXPECT_EQ(run({"report", "--json", report, report}).out, line + line);
}

TEST_F(cli, heads_each_of_several_files_with_its_name) {
  const std::string other = files.write("other.json", varve::to_json(small_report()));
  const std::string table = varve::to_table(small_report());
  EXPECT_EQ(run({"report", report, other}).out, report + ":\n" + table + "\n" + other + ":\n" + table);
}

TEST_F(cli, ends_several_ranks_with_a_table_of_them_side_by_side) {
  varve::report first = small_report();
  varve::report second = small_report();
  first.rank = 0;
  second.rank = 1;
  const std::string a = files.write("a.json", varve::to_json(first));
  const std::string b = files.write("b.json", varve::to_json(second));
  const std::string together = varve::to_ranks_table({first, second});
  EXPECT_THAT(together, StartsWith("Ranks side by side"));
  EXPECT_EQ(run({"report", a, b}).out, a + ":\n" + varve::to_table(first) + "\n" + b + ":\n" +
                                           varve::to_table(second) + "\n" + together);
  const std::string made = files.path("made.txt");
  EXPECT_EQ(run({"report", a, b, "--output", made}).code, 0);
  EXPECT_EQ(content_of(made), run({"report", a, b}).out);
  EXPECT_EQ(run({"report", "--json", a, b}).out,
            varve::to_json(first) + '\n' + varve::to_json(second) + '\n');  // one line a file
  EXPECT_THAT(run({"report", a, a}).out, Not(HasSubstr("side by side")));
}

TEST_F(cli, compares_with_the_wall_of_an_unprofiled_run) {
  for (const char* eight_milliseconds : {"8ms", "0.008s", "8000us", "8e6 ns"}) {
    const outcome o = run({"report", "--json", "--unprofiled-wall", eight_milliseconds, report});
    EXPECT_THAT(o.out, HasSubstr("\"unprofiled_wall\":8000000,")) << o.err;
  }
}

TEST_F(cli, says_that_a_report_cannot_be_split_by_batch) {
  const outcome o = run({"report", "--by-batch", report});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "varve: " + report + ": is a report already, so --by-batch changes nothing\n");
}

TEST_F(cli, names_passes_and_layers_by_rules) {
  const auto event = [](const char* name, int ts, int dur) {
    return R"({"ph": "X", "cat": "user_annotation", "name": ")" + std::string{name} +
           R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) +
           "}";
  };
  const std::string trace =
      files.write("trace.json",
                  R"({"traceEvents": [)" + event("go=1", 0, 90) + "," + event("part 7", 10, 20) + "," +
                      event("part 8", 40, 20) + "," + event("go noise", 70, 10) +
                      R"(, {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                             "ts": 12, "dur": 2, "args": {"correlation": 1}},
                            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 14, "dur": 5,
                             "args": {"device": 0, "stream": 7, "correlation": 1}}]})");
  // Of "go=?=my pass" only the last "=" begins a name. "go noise" is ignored, though it fits --phase-rule
  // too.
  const std::string json = files.path("out.json");
  const outcome o = run({"report", "--json", "--phase-rule", "^go=?=my pass", "--layer-rule", "(part) (\\d+)",
                         "--ignore-rule", "noise", trace, "--output", json});
  ASSERT_EQ(o.code, 0) << o.err;
  const varve::report r = varve::read_report(json);
  ASSERT_EQ(r.phases.size(), 1U);
  EXPECT_EQ(r.phases[0].phase, "my pass");
  EXPECT_EQ(r.phases[0].passes, 1);
  EXPECT_NE(r.find({"part", 7, "my pass"}), nullptr);
  EXPECT_NE(r.find({"part", 8, "my pass"}), nullptr);
  EXPECT_EQ(r.find({"go noise"}), nullptr);
}

TEST_F(cli, takes_traces_of_captures_before_or_after_the_files) {
  const auto event = [](const char* cat, const char* name, int ts, int dur, const char* args) {
    return R"({"ph": "X", "cat": ")" + std::string{cat} + R"(", "name": ")" + name +
           R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) +
           R"(, "args": {)" + args + "}}";
  };
  const std::string replay = files.write(
      "replay.json",
      R"({"traceEvents": [)" + event("cuda_runtime", "cudaGraphLaunch", 0, 2, R"("correlation": 1)") + "," +
          event("kernel", "gemm", 5, 9, R"("correlation": 1, "device": 0, "stream": 7)") + "]}");
  const std::string capture = files.write(
      "capture.json", R"({"traceEvents": [)" + event("user_annotation", "capture_1_FULL", 0, 90, "") + "," +
                          event("python_function", "nn.Module: Attention_3", 10, 50, "") + "," +
                          event("cuda_runtime", "cudaLaunchKernel", 20, 2, R"("correlation": 1)") + "]}");
  for (const auto& arguments : {std::vector<std::string>{"report", "--captures", capture, replay},
                                {"report", replay, "--captures", capture, capture}}) {
    EXPECT_THAT(run(arguments).out, HasSubstr("Attention 3"));
  }
  EXPECT_THAT(run({"report", replay}).out, HasSubstr("graph 1 (1 node)"));
  const outcome missing = run({"report", replay, "--captures", files.path("none.json")});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.json"));
  EXPECT_THAT(
      run({"report", "--captures", capture, "--layers-count", "3", report}).err,
      AllOf(HasSubstr("so --captures changes nothing"), HasSubstr("so --layers-count changes nothing")));
}

TEST_F(cli, puts_what_another_run_counted_beside_the_times) {
  const auto trace_of = [](bool counts) {
    varve::trace t;
    const std::uint32_t decode =
        t.labels.intern({varve::none, t.strings.intern("decode"), varve::no_index, varve::range_kind::phase});
    const std::uint32_t mlp =
        t.labels.intern({decode, t.strings.intern("mlp"), varve::no_index, varve::range_kind::layer});
    t.ranges = {{0, 1000, decode, varve::none, t.intern_thread(1), varve::range_kind::phase},
                {0, 900, mlp, 0, t.intern_thread(1), varve::range_kind::layer}};
    if (counts) {
      t.counts = {{1, 0, 3'000'000, varve::count_kind::dram_read}};
    }
    return t;
  };
  const std::string timed = files.path("timed.json");
  const std::string counted = files.path("counted.json");
  varve::write_chrome_trace(trace_of(false), timed);
  varve::write_chrome_trace(trace_of(true), counted);
  EXPECT_THAT(run({"report", timed}).out, Not(HasSubstr("DRAM read")));
  EXPECT_THAT(run({"report", timed, "--counters", counted}).out,
              AllOf(HasSubstr("DRAM read"), HasSubstr("3.00 MB")));
  const std::string report_of_counts = files.write("counts.json", run({"report", counted, "--json"}).out);
  const outcome both = run({"report", timed, "--counters", report_of_counts, "--steady", "--by-batch"});
  EXPECT_THAT(both.out, HasSubstr("3.00 MB"));
  EXPECT_EQ(both.err, "");  // the options are for the trace
  const outcome missing = run({"report", timed, "--counters", files.path("none.json")});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.json"));
}

TEST_F(cli, tells_the_work_of_layers_from_the_description_of_a_model) {
  const auto event = [](const char* cat, const char* name, int ts, int dur, const char* args) {
    return R"({"ph": "X", "cat": ")" + std::string{cat} + R"(", "name": ")" + name +
           R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) +
           R"(, "args": {)" + args + "}}";
  };
  const std::string trace =
      files.write("described.json",
                  R"({"traceEvents": [)" + event("user_annotation", "ProfilerStep#1", 0, 90, "") + "," +
                      event("python_function", "nn.Module: LlamaDecoderLayer_0", 10, 30, "") + "," +
                      event("python_function", "nn.Module: Mixer_0", 12, 20, "") + "," +
                      event("cuda_runtime", "cudaLaunchKernel", 20, 2, R"("correlation": 1)") + "," +
                      event("kernel", "gemm", 25, 9, R"("correlation": 1, "device": 0, "stream": 7)") + "]}");
  const std::string config = files.write("config.json", R"({"model_type": "llama", "hidden_size": 8,
      "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
      "vocab_size": 32, "tie_word_embeddings": false})");
  const std::string json = files.path("described.out.json");
  const outcome o = run({"report", trace, "--model", config, "--batch-tokens", "6x2", "--batch-logits", "0",
                         "--model-rule", "mixer=attention", "--json", "--output", json});
  ASSERT_EQ(o.code, 0) << o.err;
  const varve::report r = varve::read_report(json);
  const varve::row* const mixer = r.find({"Mixer", 0, "ProfilerStep"});
  ASSERT_NE(mixer, nullptr);
  // 6 tokens of projections of 2 · 8 · (16 + 8) FLOPs; 1 + 2 + 3 keys of two prompts, 2 · 2 · 2 · 4 FLOPs
  // each
  EXPECT_EQ(mixer->inclusive.declared.flops, 6 * 384 + 12 * 32);

  EXPECT_THAT(run({"report", trace, "--model", config}).out, HasSubstr("(--batch-tokens)"));
  // One of two ranks has a head of each kind: 2 · 8 · (4 + 4 + 4 + 4) FLOPs a token, 2 · 2 · 4 a key.
  EXPECT_EQ(run({"report", trace, "--tensor-parallel", "2", "--model", config, "--batch-tokens", "6x2",
                 "--model-rule", "mixer=attention", "--json", "--output", json})
                .code,
            0);
  const varve::report half = varve::read_report(json);
  ASSERT_NE(half.find({"Mixer", 0, "ProfilerStep"}), nullptr);
  EXPECT_EQ(half.find({"Mixer", 0, "ProfilerStep"})->inclusive.declared.flops, 6 * 256 + 12 * 16);
  EXPECT_THAT(run({"report", "--model", config, report}).err, HasSubstr("so --model changes nothing"));
  // The clock that it was measured at scales what the device is held against.
  EXPECT_THAT(run({"report", trace, "--model", config, "--batch-tokens", "6x2", "--device", "h100-sxm",
                   "--clock", "1980"})
                  .out,
              HasSubstr("scaled to the clock given, 1.98 GHz"));
  EXPECT_THAT(run({"report", "--clock", "1980", report}).err, HasSubstr("so --clock changes nothing"));
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"--model", files.path("none.json")}, "none.json"},
      {{"--model", config, "--model-rule", "mixer=mixing"}, "is no part of a model"},
      {{"--model", config, "--model-rule", "mixer"}, "is not PATTERN=PART"},
      {{"--model", config, "--batch-tokens", "2x6"}, "is no batch"},
      {{"--model", config, "--batch-tokens", "-1"}, "is no batch"},
      {{"--batch-tokens", "6x2"}, "--model"},
      {{"--tensor-parallel", "2"}, "--model"},
      {{"--tensor-parallel", "3", "--model", config}, "3 ranks do not divide the 2 attention heads"},
      {{"--model", config, "--tensor-parallel", "two"}, "is no number of ranks"}};
  for (const auto& [options, said] : wrong) {
    std::vector<std::string> words{"report", trace};
    words.insert(words.end(), options.begin(), options.end());
    const outcome bad = run(words);
    EXPECT_EQ(bad.code, 2) << said;
    EXPECT_THAT(bad.err, HasSubstr(said));
  }
}

TEST_F(cli, says_that_rules_and_the_steady_view_come_too_late_for_a_report) {
  const outcome o = run({"report", "--steady", "--ignore-rule", "a", report});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err,
            "varve: " + report + ": is a report already, so --steady changes nothing\nvarve: " + report +
                ": is a report already, so --phase-rule, --layer-rule or --ignore-rule changes nothing\n");
}

TEST_F(cli, prints_its_version_and_its_help) {
  const outcome version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, "varve " + std::to_string(VARVE_VERSION_MAJOR) + '.' +
                             std::to_string(VARVE_VERSION_MINOR) + '.' + std::to_string(VARVE_VERSION_PATCH) +
                             '\n');
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"}, {"report", "--help"}}) {
    const outcome help = run(words);
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("Exit codes:"));
    EXPECT_EQ(help.err, "");
  }
  EXPECT_THAT(run({"report", "--help"}).out, AllOf(HasSubstr("host wait"), HasSubstr("\"Queue\""),
                                                   HasSubstr("Self CUDA"), HasSubstr("--unprofiled-wall")));
}

TEST_F(cli, calls_a_wrong_command_line_by_its_name) {
  struct example {
    std::vector<std::string> words;
    const char* message;
  };
  const example examples[] = {
      {{}, "Usage: varve"},
      {{"frobnicate"}, "frobnicate"},
      {{"report"}, "FILE is required"},
      {{"report", "--frob", report}, "--frob"},
      {{"report", "--by", "colour", report}, "\"colour\" is none of layer, label"},
      {{"report", "--sort", "time", report}, "\"time\" is none of gpu-time"},
      {{"report", "--top", "-1", report}, "--top: \"-1\" is no number"},
      {{"report", "--top", "many", report}, "--top: \"many\" is no number"},
      {{"report", "--depth", "-1", report}, "--depth: \"-1\" is no number of levels"},
      {{"report", "--layers", "[a", report}, "--layers: \"[a\" is no expression"},
      {{"report", "--width", "9999999", report}, "--width: \"9999999\" is no number"},
      {{"report", "--fold", "101", report}, "--fold: \"101\" is no percentage"},
      {{"report", "--fold", "1x", report}, "--fold: \"1x\" is no percentage"},
      {{"report", "--unprofiled-wall", "5", report}, "\"5\" is no duration"},
      {{"report", "--unprofiled-wall", "-5ms", report}, "\"-5ms\" is no duration"},
      {{"report", "--unprofiled-wall", "5msec", report}, "\"5msec\" is no duration"},
      {{"report", "--phase-rule", "(", report}, "--phase-rule: naming rule \"(\": is not a reg"},
      {{"report", "--ignore-rule", std::string(513, 'a'), report}, "is longer than 512 bytes"},
      {{"report", report, "--layer-rule"}, "--layer-rule"},
      {{"report", "--clock", "2", report}, "--clock: \"2\" is no clock from 100 to 5000 MHz"},
      {{"run", "--clock", "2", "--", "true"}, "--clock: \"2\" is no clock from 100 to 5000 MHz"},
      {{"report", "--color", "blue", report}, "\"blue\" is none of auto"}};
  for (const example& e : examples) {
    const outcome o = run(e.words);
    EXPECT_EQ(o.code, 2) << e.message;
    EXPECT_THAT(o.err, HasSubstr(e.message));
    EXPECT_EQ(o.out, "") << e.message;
  }
}

TEST_F(cli, names_each_file_that_it_cannot_read_and_reports_the_others) {
  const std::string damaged = files.write("damaged.json", R"({"varve_report": 1, "source": )");
  const std::string strange = files.write("strange.txt", "hello");
  const std::string missing = files.path("missing.json");
  const outcome o = run({"report", missing, report, damaged, strange});
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.out, report + ":\n" + varve::to_table(small_report()));
  EXPECT_THAT(o.err,
              AllOf(HasSubstr("varve: " + missing + ": cannot be opened"),
                    HasSubstr("varve: " + damaged + ": byte 30: "),
                    HasSubstr("varve: " + strange + ": is neither a PyTorch profiler trace nor a report")));
}

TEST_F(cli, writes_a_file_that_only_its_owner_reads) {
  const std::string made = files.path("made.txt");
  EXPECT_EQ(run({"report", report, "--output", made}).code, 0);
  EXPECT_EQ(content_of(made), varve::to_table(small_report()));
  EXPECT_EQ(mode_of(made), 0600U);

  const std::string open_to_all = files.write("open.txt", std::string(100000, 'x'));
  ::chmod(open_to_all.c_str(), 0644);
  const outcome o = run({"report", report, "--output", open_to_all});
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(content_of(open_to_all), varve::to_table(small_report()));
  EXPECT_EQ(mode_of(open_to_all), 0600U);
}

TEST_F(cli, can_write_over_its_input) {
  EXPECT_EQ(run({"report", "--json", report, "--output", report}).code, 0);
  EXPECT_EQ(content_of(report), varve::to_json(small_report()) + '\n');
}

TEST_F(cli, leaves_the_output_alone_when_nothing_could_be_read) {
  const std::string kept = files.write("kept.txt", "kept");
  EXPECT_EQ(run({"report", files.path("missing.json"), "--output", kept}).code, 1);
  EXPECT_EQ(content_of(kept), "kept");
}

TEST_F(cli, says_why_the_output_cannot_be_written) {
  const std::string nowhere = files.path("no/such/folder/out.txt");
  const outcome file = run({"report", report, "--output", nowhere});
  EXPECT_EQ(file.code, 3);
  EXPECT_EQ(file.err, "varve: " + nowhere + ": cannot be written: No such file or directory\n");

  surroundings full;
  full.output_file = "/dev/full";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"report", report}, {"report", "--json", report}, {"--help"}}) {
    const outcome device = run(words, full);
    EXPECT_EQ(device.code, 3);
    EXPECT_EQ(device.err, "varve: standard output: cannot be written: No space left on device\n");
  }
}

TEST_F(cli, ends_quietly_when_its_reader_has_gone) {
  surroundings gone;
  gone.reader_gone = true;
  const outcome killed = run({"report", report}, gone);
  EXPECT_EQ(killed.signal, SIGPIPE);
  EXPECT_EQ(killed.err, "");
  gone.ignore_sigpipe = true;
  const outcome told = run({"report", report}, gone);
  EXPECT_EQ(told.code, 3);
  EXPECT_EQ(told.err, "");
}

constexpr const char* bold = "\x1b[1m";

TEST_F(cli, colours_on_a_terminal_alone) {
  EXPECT_THAT(run({"report", report}).out, Not(HasSubstr("\x1b")));
  surroundings terminal;
  terminal.terminal = true;
  terminal.variables = {"TERM=xterm"};
  EXPECT_THAT(run({"report", report}, terminal).out, HasSubstr(bold));
  EXPECT_THAT(run({"report", report, "--color", "never"}, terminal).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run({"report", report, "--json"}, terminal).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run({"report", report, "--color", "always"}).out, HasSubstr(bold));
}

TEST_F(cli, obeys_no_color_and_dumb_terminals) {
  surroundings terminal;
  terminal.terminal = true;
  terminal.variables = {"TERM=xterm", "NO_COLOR=1"};
  EXPECT_THAT(run({"report", report}, terminal).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run({"report", report, "--color=always"}, terminal).out,
              HasSubstr(bold));                      // asked for in so many words
  terminal.variables = {"TERM=xterm", "NO_COLOR="};  // empty is as if it were not there
  EXPECT_THAT(run({"report", report}, terminal).out, HasSubstr(bold));
  terminal.variables = {"TERM=dumb"};
  EXPECT_THAT(run({"report", report}, terminal).out, Not(HasSubstr("\x1b")));
}

TEST_F(cli, does_not_colour_a_file_unless_told_to) {
  surroundings terminal;
  terminal.terminal = true;
  terminal.variables = {"TERM=xterm"};
  const std::string out = files.path("out.txt");
  run({"report", report, "--output", out}, terminal);
  EXPECT_EQ(content_of(out), varve::to_table(small_report()));
}

/// A terminal turns line ends into carriage return and line feed.
std::string on_terminal(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '\n' ? "\r\n" : std::string(1, c);
  }
  return out;
}

TEST_F(cli, takes_its_width_from_the_terminal_then_from_columns) {
  surroundings around;
  around.variables = {"COLUMNS=52"};
  EXPECT_EQ(run({"report", report}, around).out, varve::to_table(small_report(), in(52)));
  EXPECT_EQ(run({"report", report, "--width", "70"}, around).out, varve::to_table(small_report(), in(70)));
  around.variables = {"COLUMNS=wide"};
  EXPECT_EQ(run({"report", report}, around).out, varve::to_table(small_report(), in(0)));
  around.variables = {"COLUMNS=52", "NO_COLOR=1"};
  around.terminal = true;  // of 100 columns
  EXPECT_EQ(run({"report", report}, around).out, on_terminal(varve::to_table(small_report(), in(100))));
}

TEST_F(cli, passes_nothing_on_that_a_terminal_obeys) {
  varve::report bad = small_report();
  bad.layers[1].label = "\x1b]0;owned\x07";
  const std::string path = files.write("bad\x1b[31m.json", varve::to_json(bad));
  EXPECT_THAT(run({"report", path, path}).out, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07"))));
  const outcome o = run({"report", files.path("missing\x1b[31m")});
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, AllOf(StartsWith("varve: "), Not(HasSubstr("\x1b"))));
}

}  // namespace

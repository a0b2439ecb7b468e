// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// varve calibrate --gpu with a program in the place of the one that measures. The tool is a copy, in a folder
// of the test's own, since it may lie beside the real one.
#include <varve/device.hpp>
#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "cli/process.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing_support::content_of;
using testing_support::folder;
using testing_support::outcome;
using testing_support::run;
using testing_support::surroundings;

namespace fs = std::filesystem;

constexpr const char* program = "varve-calibrate-gpu";

class calibrate_gpu : public testing::Test {
 protected:
  folder files;

  /// A copy of the tool in this folder, below the test's.
  [[nodiscard]] surroundings tool_in(const std::string& where) const {
    fs::create_directories(files.path(where));
    fs::copy_file(VARVE_TOOL_PATH, files.path(where + "/varve"), fs::copy_options::skip_existing);
    surroundings out;
    out.tool = files.path(where + "/varve");
    return out;
  }

  /// A script that leaves what it was given in "words", then does `what`.
  void put(const std::string& where, const std::string& what, mode_t mode = 0700) const {
    fs::create_directories(files.path(where));
    const std::string file =
        files.write(where + '/' + program,
                    "#!/bin/sh\necho \"$0\" \"$@\" > '" + files.path("words") + "'\n" + what + '\n');
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
  }

  /// Of the last script that ran: itself below the test's folder, then what it was given.
  [[nodiscard]] std::string words() const {
    const std::string all = content_of(files.path("words"));
    const std::string base = files.path("");
    return all.compare(0, base.size(), base) == 0 ? all.substr(base.size()) : all;
  }
};

TEST_F(calibrate_gpu, hands_over_options_and_what_comes_back) {
  const surroundings around = tool_in("bin");
  put("bin", "echo a table; echo a warning >&2; exit 0");
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--gpu"}, ""},
      {{"--gpu", "--output", "x.json", "--json"}, " --output x.json --json"},
      {{"--name", "my box", "--gpu", "1", "--samples", "3"}, " --name my box --gpu 1 --samples 3"},
      {{"--gpu=2", "--order=4096"}, " --gpu=2 --order=4096"},
      {{"--gpu", "--help"}, " --help"},
      {{"--gpu", "--unknown", "7"}, " --unknown 7"}};
  for (const auto& [given, handed] : cases) {
    std::vector<std::string> all{"calibrate"};
    all.insert(all.end(), given.begin(), given.end());
    const outcome o = run(all, around);
    EXPECT_EQ(o.code, 0);
    EXPECT_EQ(o.out, "a table\n");
    EXPECT_EQ(o.err, "a warning\n");
    EXPECT_EQ(words(), std::string{"bin/"} + program + handed + '\n');
  }
}

TEST_F(calibrate_gpu, ends_as_the_program_does) {
  const surroundings around = tool_in("bin");
  for (const int code : {1, 2, 3, 5}) {  // 5: there is no GPU
    put("bin", "echo why >&2; exit " + std::to_string(code));
    const outcome o = run({"calibrate", "--gpu"}, around);
    EXPECT_EQ(o.code, code);
    EXPECT_EQ(o.err, "why\n");
  }
  put("bin", "kill -9 $$");
  const outcome killed = run({"calibrate", "--gpu"}, around);
  EXPECT_EQ(killed.code, 128 + 9);
  EXPECT_THAT(killed.err, HasSubstr("was ended by signal 9 (Killed)"));
}

TEST_F(calibrate_gpu, finds_the_program_beside_the_tool_then_where_both_are_built_then_by_path) {
  const surroundings built = tool_in("src/cli");
  surroundings by_path = tool_in("bin");
  by_path.variables = {"PATH=relative::" + files.path("none") + ':' + files.path("elsewhere") +
                       ":/usr/bin:/bin"};
  put("cuda/ceilings", "exit 0");
  put("elsewhere", "exit 0");
  EXPECT_EQ(run({"calibrate", "--gpu"}, by_path).code, 0);
  EXPECT_THAT(words(), StartsWith("elsewhere/"));
  put("bin", "exit 0", 0600);  // no program
  EXPECT_EQ(run({"calibrate", "--gpu"}, by_path).code, 0);
  EXPECT_THAT(words(), StartsWith("elsewhere/"));
  put("bin", "exit 0");
  EXPECT_EQ(run({"calibrate", "--gpu"}, by_path).code, 0);
  EXPECT_THAT(words(), StartsWith("bin/"));
  EXPECT_EQ(run({"calibrate", "--gpu"}, built).code, 0);
  EXPECT_THAT(words(), StartsWith("cuda/ceilings/"));
}

TEST_F(calibrate_gpu, says_what_is_missing_and_what_to_build) {
  put("cuda/ceilings", "exit 0");  // of nobody's build: the tool does not lie in src/cli
  surroundings around = tool_in("other/cli");
  const outcome missing = run({"calibrate", "--gpu", "--output", files.path("x.json")}, around);
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.out, "");
  EXPECT_THAT(missing.err,
              AllOf(StartsWith("varve: varve-calibrate-gpu, which measures GPUs, is neither beside"),
                    HasSubstr(files.path("other/cli")), HasSubstr("$PATH"), HasSubstr("nvcc and cuBLAS"),
                    HasSubstr("--target varve_calibrate_gpu")));
  EXPECT_FALSE(fs::exists(files.path("words")));
  fs::create_directories(files.path("broken"));
  ASSERT_EQ(::chmod(files.write(std::string{"broken/"} + program, "#!/none/such\n").c_str(), 0700), 0);
  around.variables = {"PATH=" + files.path("broken")};
  const outcome broken = run({"calibrate", "--gpu"}, around);
  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(broken.err, HasSubstr("broken/varve-calibrate-gpu: cannot be started: No such file"));
}

TEST_F(calibrate_gpu, leaves_a_file_that_a_report_takes) {
  const surroundings around = tool_in("bin");
  varve::ceilings measured;
  measured.name = "lab GPU";
  measured.bandwidth = 4.25e12;
  measured.flops[static_cast<std::size_t>(varve::math_pipe::fp16_tensor)] = 7e14;
  measured.clock = 1.755e9;
  measured.measured = true;
  measured.source = "varve-calibrate-gpu: of a test";
  put("bin",
      "[ \"$1\" = --output ] && cp '" + files.write("made.json", varve::to_json(measured)) + "' \"$2\"");
  const std::string file = files.path("gpu.json");
  ASSERT_EQ(run({"calibrate", "--gpu", "--output", file}, around).code, 0);

  const auto event = [](const char* cat, const char* name, int ts, int dur, const char* args) {
    return R"({"ph": "X", "cat": ")" + std::string{cat} + R"(", "name": ")" + name +
           R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) +
           R"(, "args": {)" + args + "}}";
  };
  const std::string trace =
      files.write("trace.json",
                  R"({"traceEvents": [)" + event("user_annotation", "ProfilerStep#1", 0, 90, "") + "," +
                      event("python_function", "nn.Module: LlamaDecoderLayer_0", 10, 30, "") + "," +
                      event("cuda_runtime", "cudaLaunchKernel", 20, 2, R"("correlation": 1)") + "," +
                      event("kernel", "gemm", 25, 9, R"("correlation": 1, "device": 0, "stream": 7)") + "]}");
  const std::string config = files.write("config.json", R"({"model_type": "llama", "hidden_size": 8,
      "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
      "vocab_size": 32, "tie_word_embeddings": false, "torch_dtype": "float16"})");
  const outcome o = run({"report", trace, "--model", config, "--batch-tokens", "6x2", "--device", file});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("Roofs are those of lab GPU, 4.25 TB/s of its memory, measured: "
                               "varve-calibrate-gpu: of a test"));
}

TEST_F(calibrate_gpu, is_what_the_option_alone_asks_for) {
  const surroundings around = tool_in("bin");
  put("bin", "exit 0");
  const outcome o = run({"calibrate", "--samples", "3", "--memory", "2", "--order", "48", "--output",
                         files.path("machine.json"), "--json"},
                        around);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_FALSE(fs::exists(files.path("words")));
  EXPECT_EQ(o.out, content_of(files.path("machine.json")));
  EXPECT_THAT(varve::read_ceilings(files.path("machine.json")).source, StartsWith("varve calibrate: "));
  const outcome help = run({"calibrate", "--help"}, around);
  EXPECT_THAT(help.out, AllOf(HasSubstr("--gpu [N]"), HasSubstr("varve-calibrate-gpu"),
                              HasSubstr("5 there is no GPU")));
}

}  // namespace

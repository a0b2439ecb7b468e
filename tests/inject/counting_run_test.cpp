// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// `varve calibrate-layers` on an engine whose GPU and counters the stand-in libcupti simulates: four decode
// passes, in which layer 0 reads 1000 bytes and layer 1 reads 2000, each writes 10 and does 640 BF16
// operations.
#include <sys/stat.h>

#include "inject/run_fixture.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing_support::outcome;

class calibrate_layers : public varve_test::over_run {
 protected:
  /// varve calibrate-layers OPTIONS --output … -- ENGINE CASE
  outcome count(const std::string& what, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words{"calibrate-layers", "--output", counted};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", VARVE_COUNTING_ENGINE, what});
    return testing_support::run(words, around());
  }
  [[nodiscard]] testing_support::surroundings around() const {
    testing_support::surroundings out;
    out.variables = {"VARVE_CUPTI_LIBRARY=" VARVE_STANDIN_CUPTI, "TMPDIR=" + scratch};
    return out;
  }
  /// Nothing was counted: the tool says so, and leaves no file.
  void expect_nothing(const std::string& what, const std::string& why, const std::string& step) {
    const outcome o = count(what);
    EXPECT_EQ(o.code, 1) << what;
    EXPECT_THAT(o.err, AllOf(HasSubstr("counting_engine (process "), HasSubstr("nothing is counted: "),
                             HasSubstr(why), HasSubstr(step), Not(HasSubstr("counts are in"))));
    EXPECT_FALSE(std::filesystem::exists(counted)) << what;
  }

  std::string counted = files.path("counted.json");
};

const varve::row* layer_of(const varve::report& r, int index) { return r.find({"layer", index, "decode"}); }

TEST_F(calibrate_layers, writes_what_the_outermost_layers_moved_and_did) {
  const outcome o = count("passes");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_THAT(o.err, AllOf(HasSubstr("8 ranges counted in 4 passes on a GH100"),
                           HasSubstr("counts are in " + counted),
                           HasSubstr("varve report TIMES.json --counters " + counted)));
  struct stat about {};
  ASSERT_EQ(::stat(counted.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  const varve::report r = varve::analyze(varve::read_pytorch(counted));
  for (const int i : {0, 1}) {
    const varve::row* const layer = layer_of(r, i);
    ASSERT_NE(layer, nullptr);
    ASSERT_TRUE(layer->counted);
    EXPECT_EQ(layer->counted->dram_read, 1000 * (i + 1));
    EXPECT_EQ(layer->counted->dram_written, 10);
    EXPECT_EQ(layer->counted->tensor_ops, 640);
    EXPECT_TRUE(layer->counted->all_operations);
  }
}

TEST_F(calibrate_layers, counts_what_it_is_asked_for) {
  EXPECT_EQ(count("passes", {"--depth", "2", "--bytes-only"}).code, 0);
  varve::report r = varve::analyze(varve::read_pytorch(counted));
  const varve::row* mlp = r.find({.path = "layer 1 / mlp"});
  ASSERT_TRUE(mlp != nullptr && mlp->counted);
  EXPECT_EQ(mlp->counted->dram_read, 2000);
  EXPECT_EQ(mlp->counted->calls, 4);  // each pass has all that is counted
  EXPECT_EQ(mlp->counted->tensor_ops, -1);
  EXPECT_FALSE(layer_of(r, 1)->counted);
  EXPECT_EQ(count("passes", {"--label", "mlp", "--label", "other"}).code, 0);
  r = varve::analyze(varve::read_pytorch(counted));
  mlp = r.find({.path = "layer 0 / mlp"});
  ASSERT_TRUE(mlp != nullptr && mlp->counted);
  EXPECT_EQ(mlp->counted->dram_read, 1000);
  EXPECT_EQ(count("passes", {"--phase-rule", "^decode$=step"}).code, 0);
  r = varve::analyze(varve::read_pytorch(counted));
  ASSERT_FALSE(r.phases.empty());
  EXPECT_EQ(r.phases[0].phase, "step");
}

// The times of the one beside the counts of the other: 2010 bytes and 640 operations in 1000 ns.
TEST_F(calibrate_layers, gives_another_run_its_counts) {
  const std::string times = files.path("times.json");
  ASSERT_EQ(run_command({VARVE_COUNTING_ENGINE, "passes"}, {"--trace", times},
                        {"VARVE_CUPTI_LIBRARY=" VARVE_STANDIN_CUPTI})
                .code,
            0);
  ASSERT_EQ(count("passes").code, 0);
  const outcome o =
      testing_support::run({"report", times, "--counters", counted, "--device", "h100-sxm5-80gb", "--json"});
  EXPECT_EQ(o.code, 0) << o.err;
  const varve::report r = varve::read_report(files.write("with.json", o.out));
  const varve::row* const layer = layer_of(r, 1);
  ASSERT_TRUE(layer != nullptr && layer->rated);
  EXPECT_EQ(layer->inclusive.gpu_time, 4 * 1000);
  EXPECT_DOUBLE_EQ(layer->rated->bytes, 4 * 2010);
  EXPECT_DOUBLE_EQ(layer->rated->flops, 4 * 640);
  EXPECT_DOUBLE_EQ(layer->verdict.memory_share, layer->rated->roof.memory / 4000);
  EXPECT_DOUBLE_EQ(r.quality.work_known[static_cast<std::size_t>(varve::work_source::counters)], 1);
}

TEST_F(calibrate_layers, says_which_setting_forbids_it) {
  expect_nothing("no permission", "CUPTI error 35", "NVreg_RestrictProfilingToAdminUsers=0");
}

TEST_F(calibrate_layers, says_that_there_is_no_gpu) {
  expect_nothing("no driver", "no GPU in reach", "nvidia-smi");
}

TEST_F(calibrate_layers, says_which_chip_has_no_metrics) {
  expect_nothing("other chip", "XX999", "newer CUDA");
}

TEST_F(calibrate_layers, says_that_there_are_no_markers) {
  expect_nothing("no markers", "marks nothing", "NVTX");
}

TEST_F(calibrate_layers, says_that_there_are_no_passes) {
  expect_nothing("no passes", "none of its 5 ranges is a pass", "--phase-rule");
}

TEST_F(calibrate_layers, says_that_passes_have_no_context) {
  expect_nothing("no context", "none of its passes could be counted",
                 "4 passes not counted: their thread had no");
}

TEST_F(calibrate_layers, says_that_an_engine_uses_no_gpu) {
  const outcome o = testing_support::run(
      {"calibrate-layers", "--output", counted, "--", VARVE_NVTX_ENGINE, "passes"}, around());
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.out, "the engine's output\n");
  EXPECT_THAT(o.err, AllOf(HasSubstr("none of its passes could be counted"),
                           HasSubstr("2 passes not counted: the process has no CUDA driver"),
                           HasSubstr("nvidia-smi")));
}

TEST_F(calibrate_layers, says_that_nothing_lies_so_deep) {
  const outcome o = count("passes", {"--depth", "5"});
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("no range lies 5 levels below its passes: count with another --depth"));
}

// In the first DRAM bytes and BF16: two parts of FP16, and FP32, FP16 and FP64 of threads are left.
TEST_F(calibrate_layers, says_what_there_were_too_few_passes_for) {
  const outcome o = count("one pass");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.err, AllOf(HasSubstr("5 quantities not counted"), HasSubstr("more passes of each kind"),
                           HasSubstr("--bytes-only"), HasSubstr("counts are in")));
  EXPECT_THAT(count("one pass", {"--bytes-only"}).err, Not(HasSubstr("not counted")));
}

TEST_F(calibrate_layers, ends_as_the_engine_does) {
  EXPECT_EQ(count("code 7").code, 7);
  EXPECT_TRUE(std::filesystem::exists(counted));
  EXPECT_EQ(testing_support::run({"calibrate-layers", "--", files.path("nothing")}, around()).code, 127);
  EXPECT_EQ(testing_support::run({"calibrate-layers"}, around()).code, 2);
  EXPECT_EQ(count("passes", {"--depth", "1", "--label", "mlp"}).code, 2);
  EXPECT_EQ(count("passes", {"--depth", "-1"}).code, 2);
}

TEST_F(calibrate_layers, says_where_it_cannot_write) {
  counted = files.path("nowhere/counted.json");
  const outcome o = count("passes");
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.err, AllOf(HasSubstr(counted + ": cannot be written"), HasSubstr(" is kept")));
  EXPECT_THAT(take_kept(), Not(IsEmpty()));
}

// As without the run of varve's: it has nothing to count with.
TEST_F(calibrate_layers, says_when_nothing_ran) {
  const outcome o = testing_support::run({"calibrate-layers", "--output", counted, "--", "true"}, around());
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("nothing was recorded: the engine made no NVTX range and no CUDA call"));
}

}  // namespace

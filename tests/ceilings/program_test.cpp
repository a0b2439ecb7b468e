// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The program where there is nothing to measure: GPUs are hidden from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace {

using testing::AnyOf;
using testing::HasSubstr;

struct outcome {
  int code;
  std::string output;  ///< both streams
};

outcome run(const std::string& options) {
  std::FILE* const pipe =
      popen(("CUDA_VISIBLE_DEVICES= " VARVE_CALIBRATE_GPU " " + options + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    return {-1, "popen failed"};
  }
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

TEST(calibrate_gpu, names_what_is_missing_and_ends_with_5) {
  const outcome o = run("--output /nowhere/x.json");
  EXPECT_EQ(o.code, 5);
  EXPECT_THAT(o.output,
              AnyOf(HasSubstr("no NVIDIA driver on this machine"), HasSubstr("CUDA_VISIBLE_DEVICES")));
}

TEST(calibrate_gpu, names_what_is_wrong_and_ends_with_2) {
  for (const char* options : {"--frob", "--samples", "--samples 0", "--samples=0", "--samples 1x",
                              "--order 100", "--order 65536", "--gpu x", "--gpu -1", "--gpu=", "--json=1"}) {
    const outcome o = run(options);
    EXPECT_EQ(o.code, 2) << options;
    EXPECT_THAT(o.output,
                HasSubstr(std::string{options}.substr(0, std::string{options}.find_first_of(" ="))));
  }
}

TEST(calibrate_gpu, takes_values_behind_an_equals_sign_and_every_gpu) {
  for (const char* options : {"--samples=3 --name=a=b --gpu=0", "--gpu 7 --json"}) {
    EXPECT_EQ(run(options).code, 5) << options;
  }
}

TEST(calibrate_gpu, explains_its_options) {
  const outcome o = run("--help");
  EXPECT_EQ(o.code, 0);
  for (const char* text : {"--output FILE", "--order N", "--gpu N", "--json", "5 no GPU"}) {
    EXPECT_THAT(o.output, HasSubstr(text));
  }
}

}  // namespace

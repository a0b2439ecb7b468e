// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "predict/ncu.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using varve::predict::profile_command;

std::string filter_of(std::string_view kernel) {
  const std::string command = profile_command(kernel, {});
  const std::string before = "ncu --set full --launch-count 1";
  const std::string after = " ENGINE";
  if (command.size() < before.size() + after.size()) {
    return command;
  }
  EXPECT_EQ(command.substr(0, before.size()), before);
  EXPECT_EQ(command.substr(command.size() - after.size()), after);
  return command.substr(before.size(), command.size() - before.size() - after.size());
}

TEST(ncu, kernels_are_named_by_their_function_alone) {
  const std::string gemm = " --kernel-name 'regex:(^|:)gemm$'";
  EXPECT_EQ(filter_of("gemm"), gemm);
  EXPECT_EQ(filter_of("gemm(float const*, int)"), gemm);
  EXPECT_EQ(filter_of("void gemm<float, (int)4>(float*)"), gemm);
  EXPECT_EQ(filter_of("void a::b<c::d>::gemm<e<f<1>>>(g::h<i>)"), gemm);
  EXPECT_EQ(filter_of("void (anonymous namespace)::gemm<x>(int)"), gemm);
  EXPECT_EQ(filter_of("std::enable_if<(a > b), void>::type n::gemm<int>(int)"), gemm);
  EXPECT_EQ(filter_of("void gemm<a, b, c"), gemm);  // cut off
  EXPECT_EQ(filter_of("ampere_sgemm_128x64_tn"), " --kernel-name 'regex:(^|:)ampere_sgemm_128x64_tn$'");
}

TEST(ncu, what_a_regular_expression_or_the_shell_would_read_is_escaped) {
  EXPECT_EQ(filter_of("kernel.1$2"), " --kernel-name 'regex:(^|:)kernel\\.1\\$2$'");
}

TEST(ncu, mangled_names_are_looked_for_among_such) {
  EXPECT_EQ(filter_of("_Z4gemmPfi"), " --kernel-name-base mangled --kernel-name 'regex:^_Z4gemmPfi$'");
}

TEST(ncu, of_long_names_the_begin_will_do) {
  EXPECT_EQ(filter_of(std::string(200, 'a')), " --kernel-name 'regex:(^|:)" + std::string(120, 'a') + "'");
  EXPECT_EQ(filter_of(std::string(120, 'a')), " --kernel-name 'regex:(^|:)" + std::string(120, 'a') + "$'");
}

TEST(ncu, what_is_no_functions_name_has_no_command) {
  for (const char* name :
       {"", " ", "::", "<int>", "it's", "a;b", "a\nb", "gemm [clone .kd]", "caf\xC3\xA9", "$(x)`y`", ">>>"}) {
    EXPECT_EQ(profile_command(name, "layer"), "") << name;
  }
}

TEST(ncu, layers_are_selected_by_scopes_and_by_handles) {
  EXPECT_EQ(
      profile_command("gemm", "self attention"),
      "ncu --set full --launch-count 1 --kernel-name 'regex:(^|:)gemm$' --nvtx --nvtx-include 'varve@self "
      "attention/' --nvtx-include 'varve@self attention' ENGINE");
  // Signs of ncu's own, of the shell's, and none at all.
  for (const char* label :
       {"", "a/b", "a@b", "a,b", "[a", "a]", "a+b", "a*", "$a", "a'b", "a\\b", "a\nb", " a", "a "}) {
    EXPECT_EQ(profile_command("gemm", label), profile_command("gemm", {})) << label;
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Findings as the table shows them.
#include "predict/decode_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using testing_support::add_layer;
using testing_support::decode;
using varve::finding;

/// From the title of the findings on, in so many columns.
std::string findings_in(const varve::report& r, const std::string& title, int width = 120) {
  varve::table_options options;
  options.width = width;
  const std::string table = to_table(r, options);
  const std::size_t begin = std::min(table.find(title), table.size());
  return table.substr(begin, table.find("\n\n", begin) - begin);
}

varve::report report_with(finding::kind what, const std::string& next_step) {
  varve::report r = decode(1, 1000, 0);
  add_layer(r, "layer", 0, 1, 900);
  r.findings.push_back({what, 0, 0, 1, 1, "layer 0 in decode is odd", next_step});
  return r;
}

TEST(findings_table, what_looks_closer_stands_below_a_finding) {
  EXPECT_EQ(findings_in(report_with(finding::kind::stands_out, "ncu --set full ENGINE"), "Findings"),
            "Findings\n"
            "  - layer 0 in decode is odd\n"
            "    ncu --set full ENGINE");
  EXPECT_EQ(findings_in(report_with(finding::kind::warming_up, ""), "Findings"),
            "Findings\n"
            "  - layer 0 in decode is odd");
}

TEST(findings_table, a_long_command_stays_one_when_it_is_pasted) {
  const std::string command =
      "ncu --set full --launch-count 1 --kernel-name 'regex:(^|:)gemm$' --nvtx --nvtx-include 'varve@a --b/' "
      "ENGINE";
  EXPECT_EQ(findings_in(report_with(finding::kind::drift, command), "Findings", 60),
            "Findings\n"
            "  - layer 0 in decode is odd\n"
            "    ncu --set full --launch-count 1 --kernel-name \\\n"
            "      'regex:(^|:)gemm$' --nvtx --nvtx-include \\\n"
            "      'varve@a --b/' ENGINE");
}

TEST(findings_table, a_name_that_is_too_long_for_a_line_is_joined_again_by_the_shell) {
  // 24 columns: 6 before the word, "'\" after it; 16 of the word's 40 then; and 22 of the next line's, which
  // has a quote of its own and no space before it.
  EXPECT_EQ(findings_in(report_with(finding::kind::drift, "ncu '" + std::string(38, 'a') + "' ENGINE"),
                        "Findings", 24),
            "Findings\n"
            "  - layer 0 in decode is\n"
            "    odd\n"
            "    ncu \\\n"
            "      'aaaaaaaaaaaaaaa'\\\n"
            "'aaaaaaaaaaaaaaaaaaaaa'\\\n"
            "'aa' ENGINE");
}

TEST(findings_table, of_the_slowest_one_a_phase_is_shown) {
  varve::report r = report_with(finding::kind::slowest, "");
  r.phases.push_back(r.phases[0]);
  r.phases[1].phase = "prefill";
  for (std::uint32_t phase : {0U, 0U, 1U}) {
    r.findings.push_back({finding::kind::slowest, phase, varve::none, 1, 0,
                          "number " + std::to_string(r.findings.size()), "ncu ENGINE"});
  }
  EXPECT_EQ(findings_in(r, "Slowest"),
            "Slowest, and what looks closer\n"
            "  - number 1\n"
            "    ncu ENGINE\n"
            "  - number 3\n"
            "    ncu ENGINE");
}

// 20 layers of 50 in a pass of 1000: 5 % of it would help, and 40 of 25 gain half as much.
TEST(findings_table, one_line_a_phase_says_what_a_layer_less_brings) {
  for (const int layers : {20, 40}) {
    varve::report r = decode(1, 1000, 0);
    for (int i = 0; i < layers; ++i) {
      add_layer(r, "layer", i, 1, 1000 / layers);
    }
    r.predictions = predictions_of(r);
    EXPECT_EQ(findings_in(r, "What if"),
              std::string{"What if\n"} +
                  (layers == 20
                       ? "  - decode with one layer of 20 left out: 1.00 µs to 950 ns (950 ns to 950 ns)\n"
                       : "  - decode with one layer of 40 left out gains little: 1.00 µs to 975 ns (975 ns "
                         "to 975 ns)\n") +
                  "    expected (at best to at worst) for a pass; --json says what each rests on");
  }
}

// Of one phase three, but for those that an earlier command looks at already.
TEST(findings_table, the_slowest_have_a_command_for_each_kernel) {
  varve::report r = report_with(finding::kind::slowest, "");
  for (const char* const kernel : {"a", "a", "b", "c", "d"}) {
    r.findings.push_back({finding::kind::slowest, 0, varve::none, 1, 0,
                          "number " + std::to_string(r.findings.size()), std::string{"ncu "} + kernel});
  }
  EXPECT_EQ(findings_in(r, "Slowest"),
            "Slowest, and what looks closer\n"
            "  - number 1\n"
            "    ncu a\n"
            "  - number 3\n"
            "    ncu b\n"
            "  - number 4\n"
            "    ncu c");
}

TEST(findings_table, nothing_in_a_command_reaches_the_terminal) {
  const std::string table =
      to_table(report_with(finding::kind::drift, "ncu --set full \x1b[2J --x '\r ENGINE"));
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
  EXPECT_EQ(table.find('\r'), std::string::npos);
}

}  // namespace

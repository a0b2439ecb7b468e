// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Each tape below tests/data/tapes, played to the collector in a session: what the report holds is what the
// tape expects. A tape that is marked as belief tests the collector against what we think of CUPTI, no more.
#include "tape/session_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>

namespace varve_tape {
namespace {

using testing::IsEmpty;

/// "belief/threads"
std::vector<std::string> all_tapes() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{VARVE_TAPES}) {
    if (entry.path().extension() == ".tape") {
      out.push_back(entry.path().lexically_relative(VARVE_TAPES).replace_extension());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

template <class Line>
std::vector<Line> lines(const tape& t) {
  std::vector<Line> out;
  for (const event& e : t.events) {
    if (const auto* const line = std::get_if<Line>(&e.what)) {
      out.push_back(*line);
    }
  }
  return out;
}

/// Of layers alone, where the tape tells no more.
bool by_label(const std::vector<expect>& expected) {
  return !expected.empty() && !expected.front().label.empty();
}

work_counts expected_work(const std::vector<expect>& expected) {
  work_counts out;
  for (const expect& e : expected) {
    out[by_label(expected) ? e.label : line_of(e)] += e.count;
  }
  return out;
}

work_counts work_found(const std::vector<varve::trace>& traces, bool labels) {
  work_counts out;
  for (const varve::trace& t : traces) {
    for (const expect& e : work_in(t)) {
      if (!labels) {
        ++out[line_of(e)];
      } else if (e.kind == expect{}.kind) {
        ++out[e.label];
      }
    }
  }
  return out;
}

/// Kernels of layers that have a number, by the innermost step of their path, in the reports' rows.
work_counts kernels_reported(const std::vector<varve::trace>& traces) {
  work_counts out;
  for (const varve::trace& t : traces) {
    const varve::report r = varve::analyze(t);
    for (const varve::row& row : r.layers) {
      const auto kernels = static_cast<std::uint64_t>(row.exclusive.kernels);
      if (kernels != 0 && row.index != varve::no_index) {
        out[row.label + ":" + std::to_string(row.index)] += kernels;
      }
    }
  }
  return out;
}

class tapes : public testing::TestWithParam<std::string> {};

TEST_P(tapes, is_reported_as_it_expects) {
  const prepared p = prepare(read(std::string{VARVE_TAPES} + "/" + GetParam() + ".tape"));
  EXPECT_EQ(p.t.head.origin + "/" + p.t.head.name, GetParam());
  const std::vector<expect> expected = lines<expect>(p.t);
  ASSERT_FALSE(expected.empty());

  session_program engine;
  EXPECT_THAT(play(p, engine), IsEmpty());
  EXPECT_EQ(engine.problem(), "");

  EXPECT_EQ(work_found(engine.traces(), by_label(expected)), expected_work(expected));
  std::vector<loss> expected_losses = lines<loss>(p.t);
  for (const varve::trace& t : engine.traces()) {
    for (const varve::loss& lost : t.losses) {
      const auto found = std::find_if(expected_losses.begin(), expected_losses.end(), [&](const loss& l) {
        return l.count == lost.count && lost.what.find(l.what) != std::string::npos;
      });
      if (found == expected_losses.end()) {
        ADD_FAILURE() << "lost " << lost.count << ": " << lost.what;
      } else {
        expected_losses.erase(found);
      }
    }
  }
  EXPECT_THAT(expected_losses, IsEmpty());
  work_counts layers;
  for (const varve::trace& t : engine.traces()) {
    for (const expect& e : work_in(t)) {
      if (e.kind == expect{}.kind && e.label.find(':') != std::string::npos) {
        ++layers[e.label];
      }
    }
  }
  EXPECT_EQ(kernels_reported(engine.traces()), layers);
}

INSTANTIATE_TEST_SUITE_P(each, tapes, testing::ValuesIn(all_tapes()), [](const auto& of) {
  std::string name = of.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace varve_tape

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// For tests of an engine's speed with GoogleTest: matchers over a report, run_passes(), and the fixture
// passes_test, whose tests share measured passes. Link varve::testing. docs/testing.md starts from a first
// test.
//
//     const varve::measured_passes run = varve::run_passes([&] { engine.decode_step(); });
//     EXPECT_THAT(varve::layer_of(run.report, {"attention", 3, varve::decode}),
//     varve::gpu_time_below(200us)); EXPECT_THAT(varve::phase_of(run.report, varve::decode),
//     varve::launches_at_most(12)); EXPECT_THAT(run, varve::no_allocations());
//
// The matchers take
//   a layer   layer_of(report, query), or a `const row*` or row, as report.find() gives one
//   a phase   phase_of(report, kind), or a `const phase_row*` or phase_row
//   a report  or measured_passes: each of its phases but load, capture, warm-up and ramps is to match
// What is found with its report fails with more to say. What is not there, was not recorded or cannot be
// known fails. So `Not(…)` of a matcher holds of what is not there too: see first that it is.
#ifndef VARVE_TESTING_HPP
#define VARVE_TESTING_HPP

#include <varve/report.hpp>
#include <varve/testing/find.hpp>
#include <varve/testing/fixture.hpp>
#include <varve/testing/judges.hpp>
#include <varve/testing/kernels.hpp>
#include <varve/testing/passes.hpp>
#include <varve/testing/subject.hpp>
#include <varve/testing/text.hpp>
#include <varve/trace_builder.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <cstddef>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {

namespace testing_detail {

/// Judges each subject of a value, or all at once where Judge takes them all.
template <class Judge>
class judging {
 public:
  explicit judging(Judge judge) : judge_{std::move(judge)} {}

  template <class Value>
  bool MatchAndExplain(const Value& value, ::testing::MatchResultListener* listener) const {
    const judgement found = judge(subjects_of(value), is_whole(value));
    *listener << found.text;
    return found.holds;
  }
  void DescribeTo(std::ostream* out) const { *out << judge_.what(); }
  void DescribeNegationTo(std::ostream* out) const { *out << "not " << judge_.what(); }

 private:
  [[nodiscard]] judgement judge(const std::vector<subject>& subjects, bool whole) const {
    for (const subject& s : subjects) {
      if (!s.problem.empty()) {
        return {false, prefix(s, whole) + s.problem};
      }
    }
    if constexpr (std::is_invocable_v<Judge, const std::vector<subject>&, bool>) {
      return judge_(subjects, whole);
    } else {
      judgement all{true, {}};
      for (const subject& s : subjects) {
        judgement one = judge_(s);
        if (one.holds == all.holds) {
          all.text += (all.text.empty() ? "" : "; ") + prefix(s, whole) + one.text;
        } else if (all.holds) {
          all = {false, prefix(s, whole) + one.text};
        }
      }
      return all;
    }
  }
  static std::string prefix(const subject& s, bool whole) {
    return whole && (s.layer != nullptr || s.phase != nullptr) ? s.name() + ": " : std::string{};
  }

  Judge judge_;
};

template <class Judge>
using matcher = ::testing::PolymorphicMatcher<judging<Judge>>;

template <class Judge>
matcher<Judge> matching(Judge judge) {
  return ::testing::MakePolymorphicMatcher(judging<Judge>{std::move(judge)});
}

/// Of a whole report.
class least_attributed {
 public:
  explicit least_attributed(double share) : share_{share} {}

  bool MatchAndExplain(const report& r, ::testing::MatchResultListener* listener) const {
    if (!is_recorded(r)) {
      *listener << "nothing that ran on a device was recorded" << sources_text(r);
      return false;
    }
    const bool holds = r.quality.attributed >= share_;
    *listener << percent_text(r.quality.attributed) << " of the GPU time belongs to a layer";
    if (!holds) {
      std::string out;
      for (const row& outside : r.layers) {
        if (outside.path.empty() && outside.exclusive.gpu_time > 0) {
          out += (out.empty() ? "\n    in none: " : ", ") + phase_text(outside.phase, outside.model) + ' ' +
                 time_text(outside.exclusive.gpu_time);
        }
      }
      *listener << out;
      if (r.quality.unmatched > 0) {
        *listener << "\n    launched where nobody saw: " << r.quality.unmatched << " activities";
      }
      *listener << next_text("mark what runs outside of layers; varve::arm() before graphs are captured");
    }
    return holds;
  }
  bool MatchAndExplain(const measured_passes& m, ::testing::MatchResultListener* listener) const {
    if (!m.error.empty()) {
      *listener << "nothing was recorded: " << m.error;
      return false;
    }
    return MatchAndExplain(m.report, listener);
  }
  void DescribeTo(std::ostream* out) const {
    *out << "at least " << percent_text(share_) << " of the GPU time in a layer";
  }
  void DescribeNegationTo(std::ostream* out) const {
    *out << "not ";
    DescribeTo(out);
  }

 private:
  double share_;
};

}  // namespace testing_detail

/// GPU time of a layer's call, of a phase's pass: the median. (The mean where a report has no samples of
/// passes; the message says which.)
[[nodiscard]] inline auto gpu_time_below(std::chrono::nanoseconds limit) {
  return testing_detail::matching(testing_detail::gpu_time_limit{limit, false});
}
/// The same of all of a layer's calls in a pass together. For a row without samples of passes it needs the
/// report: layer_of().
[[nodiscard]] inline auto gpu_time_per_pass_below(std::chrono::nanoseconds limit) {
  return testing_detail::matching(testing_detail::gpu_time_limit{limit, true});
}
/// Launching calls of a layer's call, of a phase's pass, on average. A graph's launch counts one, and belongs
/// to where it is made: a layer inside of a graph has none.
[[nodiscard]] inline auto launches_at_most(double count) {
  return testing_detail::matching(testing_detail::launch_limit{count});
}
/// No copy between or on devices. Sets (memset) are none.
[[nodiscard]] inline auto no_copies() {
  return testing_detail::matching(testing_detail::none_of{
      &measures::copies, "copy", "copies", "keep the data on the device, or copy before the passes"});
}
/// No call that allocates or frees memory of the device.
[[nodiscard]] inline auto no_allocations() {
  return testing_detail::matching(testing_detail::none_of{&measures::allocations, "allocation", "allocations",
                                                          "allocate before the passes, or from a pool"});
}
/// No call that waits for the device.
[[nodiscard]] inline auto no_synchronisation() {
  return testing_detail::matching(
      testing_detail::none_of{&measures::synchronisations, "synchronisation", "synchronisations",
                              "order streams by events, and wait once after the pass"});
}
/// The verdict of the row.
[[nodiscard]] inline auto bound_by(bound what) {
  return testing_detail::matching(testing_detail::expected_bound{what});
}
/// Roof time ÷ GPU time (verdict::roof_share), 0.6 for 60 %.
[[nodiscard]] inline auto efficiency_at_least(double share) {
  return testing_detail::matching(testing_detail::least_efficiency{share});
}
/// Wall ÷ busy. Of phases and reports.
[[nodiscard]] inline auto overhead_ratio_below(double ratio) {
  return testing_detail::matching(testing_detail::overhead_limit{ratio});
}
/// Share of the GPU time that belongs to a layer, 0.99 for 99 %. Of reports.
[[nodiscard]] inline auto attributed_at_least(double share) {
  return ::testing::MakePolymorphicMatcher(testing_detail::least_attributed{share});
}
/// The kernels' names and how often each runs in a pass, phase by phase; their grids, which grow with the
/// context, don't count. Of a layer: the number of its kernels in a call and, where known, the main kernels.
[[nodiscard]] inline auto same_kernels_as(report base) {
  return testing_detail::matching(testing_detail::expected_kernels{std::move(base)});
}

}  // namespace v0
}  // namespace varve

#endif  // VARVE_TESTING_HPP

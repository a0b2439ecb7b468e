// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// compare(): two reports in, or two sets of repeated runs, and out what changed between them, how sure that
// is, and what made it. Pure and deterministic. docs/compare.md has the rules and where they come from.
#ifndef VARVE_COMPARE_HPP
#define VARVE_COMPARE_HPP

#include <varve/report.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace varve {
inline namespace v0 {

struct compare_options {
  double confidence = 0.95;  ///< of all intervals; taken as 0.5 at least and 0.999 at most
  /// Relative changes that are of no interest, or that two runs of the same may show: a change within is
  /// `same`. Where both sides are single runs, a change counts only beyond it.
  double noise = 0.02;
  /// Of the bootstrap; taken as 99 at least, as many as leave two beyond each end of an interval, and 9999 at
  /// most.
  int resamples = 999;
  std::uint64_t seed = 1;  ///< of its generator
};

/// What a change of a time is. `inconclusive` is what the samples allow no word on.
enum class outcome : std::uint8_t { inconclusive, same, better, worse };

/// A time a pass on both sides, in nanoseconds, and how it changed. Relative changes are new ÷ base − 1.
struct time_change {
  outcome verdict = outcome::inconclusive;
  /// Median over passes; of several runs the geometric mean of their medians; mean where there are no
  /// samples, and of what runs in other passes of each side and in half of them at most.
  double base = 0;
  double fresh = 0;
  double base_mean = 0;  ///< over all passes
  double fresh_mean = 0;
  /// Of `base` and `fresh`; where `paired`, the median over passes of new ÷ base, pass by pass. 0 where
  /// either is 0.
  double relative = 0;
  bool has_interval = false;  ///< false: totals alone are known
  double low = 0;             ///< of the interval of `relative`
  double high = 0;
  double mean_relative = 0;  ///< of the means, which is what adds up
  double mean_low = 0;
  double mean_high = 0;
  double p = 1;  ///< of no change, or none beyond the noise of single runs, by the median; 1 where two single
                 ///< runs have fewer than 16 passes, which name no change
  double mean_p = 1;  ///< by the mean
  /// Of both tests together, after Benjamini and Hochberg over all layers, labels, or phases' steps or GPU
  /// times.
  double q = 1;
  std::int64_t base_runs = 0;   ///< with samples
  std::int64_t fresh_runs = 0;  ///< likewise
  std::int64_t base_passes = 0;
  std::int64_t fresh_passes = 0;
  bool paired = false;  ///< two runs of as many passes, which rise together
  /// How many times more passes it takes to know as much as if they did not depend on the ones before; what
  /// drifts has as many as there are passes or more.
  double inflation = 1;
};

/// Work of a pass.
struct pass_work {
  double flops = 0;
  double weight_bytes = 0;
  double kv_bytes = 0;
  double activation_bytes = 0;
};

/// One part of the change of a phase's time. Parts of a phase add up to its change.
struct contribution {
  enum class kind : std::uint8_t {
    layer,         ///< GPU time of `row` in which nothing inside it that has a row of its own ran
    other_work,    ///< on the device, outside any layer or of other passes
    starved,       ///< idle, nothing submitted
    device_gap,    ///< idle, work submitted
    unrecorded,    ///< idle as far as the trace tells
    outside_layer  ///< host time outside any layer, where no device was seen
  };
  kind what = kind::layer;
  std::uint32_t row = none;  ///< in comparison::rows
  double base = 0;           ///< nanoseconds a pass
  double fresh = 0;

  [[nodiscard]] double change() const noexcept { return fresh - base; }
};

/// All passes of one kind, on one device.
struct phase_change {
  std::string phase;
  std::string model;
  std::string batch;
  std::uint32_t base_phase = none;  ///< in the first base report; none: only the new side has it
  std::uint32_t fresh_phase = none;
  std::uint32_t device = 0;  ///< in which order its report names it, not its number
  double base_passes = 0;    ///< mean over runs
  double fresh_passes = 0;
  double base_tokens = 0;  ///< a pass
  double fresh_tokens = 0;
  time_change step;      ///< how long a pass lasts
  time_change gpu_time;  ///< union of what ran on the device
  double base_wall = 0;  ///< wall ÷ passes, which the contributions add up to
  double fresh_wall = 0;
  std::vector<contribution> contributions;  ///< largest change first
};

/// A layer in a phase.
struct row_change {
  enum class kind : std::uint8_t { matched, renamed, added, removed };
  kind what = kind::matched;
  std::uint32_t phase = none;  ///< in comparison::phases
  std::string path;            ///< in the base, else in the new report
  std::string fresh_path;      ///< where it is another one
  std::string label;
  std::uint32_t base_row = none;  ///< in layers of the first base report
  std::uint32_t fresh_row = none;
  std::uint32_t parent = none;  ///< in comparison::rows
  time_change gpu_time;         ///< with what ran in the layers inside; host time where no device was seen
  double base_calls = 0;        ///< a pass
  double fresh_calls = 0;
  double base_launches = 0;
  double fresh_launches = 0;
  double base_kernels = 0;
  double fresh_kernels = 0;
  std::string base_kernel;  ///< main ones, where they differ
  std::string fresh_kernel;
  bool work_changed = false;  ///< by a thousandth at least
  pass_work base_work;
  pass_work fresh_work;
  /// Layers inside that have no counterpart while the other side has some too: they are compared as a whole
  /// in this row. Names of the first few, of the base and of the new report.
  std::int64_t base_inside = 0;
  std::int64_t fresh_inside = 0;
  std::string inside;
};

/// All layers of one label in a phase together: 32 times a change too small to tell is one that shows.
struct label_change {
  std::uint32_t phase = none;
  std::string label;
  std::int64_t rows = 0;
  time_change gpu_time;
  bool work_changed = false;
  pass_work base_work;
  pass_work fresh_work;
};

/// A kernel that came, went, or runs in another number or shape.
struct kernel_change {
  enum class kind : std::uint8_t { added, removed, count, shape };
  kind what = kind::added;
  std::uint32_t phase = none;  ///< in comparison::phases
  std::string name;
  double base_count = 0;  ///< a pass
  double fresh_count = 0;
  double base_time = 0;  ///< nanoseconds a pass
  double fresh_time = 0;
  launch_shape base_shape;  ///< the commonest
  launch_shape fresh_shape;
};

/// Something that makes the two sides less comparable, or that their numbers rest on differently.
struct comparability_reason {
  bool refuses = false;  ///< a comparison makes no sense unless somebody knows better
  double weight = 0;     ///< by how much the score goes down, as a share of it
  std::string what;      ///< "device", "clock", "model", "batch", "quality", "ranks", "samples", …
  std::string text;      ///< one sentence
};

/// A prediction of the base report whose change the new report shows.
struct prediction_check {
  enum class result : std::uint8_t { undecided, held, faster, slower };
  prediction::change what = prediction::change::graphs;
  std::uint32_t phase = none;  ///< in comparison::phases
  double now = 0;              ///< nanoseconds a pass, as predicted
  double at_best = 0;
  double expected = 0;
  double at_worst = 0;
  double measured = 0;  ///< mean, with its interval where there is one
  double low = 0;
  double high = 0;
  result outcome = result::undecided;
  std::string text;
};

/// Whether what read half the bytes was bound by reading them: it was not where it takes less than 20 % less
/// time.
struct hypothesis_check {
  enum class result : std::uint8_t { undecided, bound, not_bound };
  std::uint32_t phase = none;  ///< in comparison::phases
  std::string label;           ///< of layers; empty: the phase
  bool kv_cache = false;       ///< of these bytes, else of the weights'
  double speedup = 0;          ///< 1 − new ÷ base
  double low = 0;
  double high = 0;
  bound expected = bound::unknown;  ///< verdict of the base report
  result outcome = result::undecided;
  std::string text;
};

struct comparison {
  std::string base;  ///< where the sides come from
  std::string fresh;
  std::int64_t base_runs = 0;
  std::int64_t fresh_runs = 0;
  compare_options options;  ///< as taken
  double score = 1;         ///< how comparable the sides are: 1 entirely, 0 not at all
  std::vector<comparability_reason> reasons;
  std::vector<phase_change> phases;
  std::vector<row_change> rows;  ///< parents before children
  std::vector<label_change> labels;
  std::vector<kernel_change> kernels;
  std::vector<prediction_check> predictions;
  std::vector<hypothesis_check> hypotheses;

  /// No reason refuses.
  [[nodiscard]] VARVE_API bool comparable() const noexcept;
  /// There is a phase on both sides; all phases, layers and labels are the same, none came or went, and no
  /// work or kernel changed.
  [[nodiscard]] VARVE_API bool no_difference() const noexcept;
  /// Nothing is known to differ, and not all is known to be the same.
  [[nodiscard]] VARVE_API bool inconclusive() const noexcept;
};

/// What changed from the runs of one side to those of the other; the first of each names its layers. Reports
/// may be anything that read_report() gives. A side without reports gives an empty comparison that refuses.
/// Throws only std::bad_alloc.
[[nodiscard]] VARVE_API comparison compare(const std::vector<report>& base, const std::vector<report>& fresh,
                                           const compare_options& options = {});
[[nodiscard]] VARVE_API comparison compare(const report& base, const report& fresh,
                                           const compare_options& options = {});

struct comparison_table_options {
  std::size_t top = 20;  ///< rows of each list at most; 0: all
  int width = 0;         ///< columns of the terminal; 0: as wide as the table needs
  bool colour = false;
};

/// The comparison as text, for people. Names are stripped of control characters.
[[nodiscard]] VARVE_API std::string to_table(const comparison& c,
                                             const comparison_table_options& options = {});
/// The same for a pull request.
[[nodiscard]] VARVE_API std::string to_markdown(const comparison& c, std::size_t top = 20);

}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_HPP

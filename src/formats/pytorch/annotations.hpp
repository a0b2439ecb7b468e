// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Annotations and calls of modules as nested ranges.
#ifndef VARVE_FORMATS_PYTORCH_ANNOTATIONS_HPP
#define VARVE_FORMATS_PYTORCH_ANNOTATIONS_HPP

#include "formats/pytorch/losses.hpp"
#include "formats/pytorch/marks.hpp"
#include "formats/pytorch/rules.hpp"

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// What texts of annotations mark; each is read once.
struct annotation_label {
  std::uint32_t name = none;  ///< of the mark, in trace::strings
  mark means;
};

struct annotation {
  time_ns begin = 0;
  time_ns end = 0;
  std::uint32_t label = none;
  std::uint16_t thread = narrow_none;
  bool clipped = false;  ///< was open when recording began
};

struct annotation_list {
  std::vector<annotation> all;
  std::vector<annotation_label> labels;

  /// By thread, outer before inner: by begin, the longer first, then in the order in which they were added.
  void sort();
  [[nodiscard]] const mark& means(const annotation& a) const noexcept { return labels[a.label].means; }
};

/// Whether [begin, end) counts as inside an annotation that began before and ends at `outer`. Rounded times
/// can make it end up to `slack` later.
[[nodiscard]] inline bool is_inside(time_ns begin, time_ns end, time_ns outer, time_ns slack) noexcept {
  return end <= outer || (end - outer <= slack && begin + (end - begin) / 2 < outer);
}

/// How annotations stand to the rest of a trace.
struct annotation_times {
  time_ns shift = 0;  ///< they are so much earlier than `trace::calls`
  time_ns slack = 0;  ///< rounded, one can end so much after the one that holds it, or begin before its
                      ///< predecessor ended
  std::vector<time_ns> frame_ends;  ///< by thread: where the first frame of Python ends that is none of them
};

class annotations {
 public:
  /// Levels of nesting, and bytes of a label path, that are kept. Reports write each path out: without bounds
  /// a small file could ask for any amount of memory.
  static constexpr std::size_t deepest = 128;
  static constexpr std::size_t longest_path = 4096;

  explicit annotations(naming_rules rules) : rules_{std::move(rules)} {}

  /// `name` is in `t.strings`; the rules and read_mark() say what it marks.
  void add(trace& t, std::uint32_t name, bool is_module, std::uint16_t thread, time_ns begin, time_ns end);

  /// Adds all to `t.ranges`, nested by containment on each thread.
  void write(trace& t, const annotation_times& times, loss_counts& losses);

  [[nodiscard]] std::size_t size() const noexcept { return list_.all.size(); }
  /// Steps of the profiler that gave way to passes inferred in them.
  [[nodiscard]] std::uint64_t steps_as_ops() const noexcept { return steps_as_ops_; }
  /// That the rules ignored.
  [[nodiscard]] std::uint64_t ignored() const noexcept { return ignored_; }

 private:
  naming_rules rules_;
  annotation_list list_;
  std::unordered_map<std::uint64_t, std::uint32_t> label_of_name_;
  std::uint64_t ignored_ = 0;
  std::uint64_t steps_as_ops_ = 0;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_ANNOTATIONS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/annotations.hpp"

#include "formats/pytorch/number.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::string_view step = "ProfilerStep";

}  // namespace

void annotations::add(trace& t, std::uint32_t name, std::uint16_t thread, time_ns begin, time_ns end) {
  annotation a{begin, end, name, no_index, thread, range_kind::op};
  const std::string_view text = t.strings[name];
  if (text.size() > step.size() && text.substr(0, step.size()) == step && text[step.size()] == '#') {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
    if (const auto index = whole(text.substr(step.size() + 1), most)) {
      a.name = t.strings.intern(step);
      a.index = static_cast<std::int32_t>(*index);
      a.kind = range_kind::phase;
    }
  }
  all_.push_back(a);
}

void annotations::write(trace& t, time_ns shift, time_ns slack, loss_counts& losses) {
  // Outer before inner: by begin, the longer first, then in the order of the file.
  std::stable_sort(all_.begin(), all_.end(), [](const annotation& a, const annotation& b) {
    return a.thread != b.thread ? a.thread < b.thread
           : a.begin != b.begin ? a.begin < b.begin
                                : a.end > b.end;
  });
  std::vector<std::uint32_t> open;   // each holds the next
  std::vector<std::size_t> lengths;  // of their paths
  std::uint16_t thread = narrow_none;
  for (const annotation& a : all_) {
    if (a.thread != thread || thread == narrow_none) {
      thread = a.thread;
      open.clear();
    }
    range r;
    r.begin = a.begin + shift;
    r.end = a.end + shift;
    r.thread = a.thread;
    r.kind = a.kind;
    // One that ends before `a` does is over, or crosses it; then whatever lies in both belongs to `a`.
    bool crosses = false;
    for (; !open.empty() && t.ranges[open.back()].end < r.end; open.pop_back()) {
      const time_ns end = t.ranges[open.back()].end;
      if (r.end - end <= slack && r.begin + (r.end - r.begin) / 2 < end) {
        r.end = end;
        break;
      }
      crosses |= end - r.begin > slack;
    }
    losses.add(lost::crossing_annotation, crosses ? 1 : 0);
    lengths.resize(open.size());
    const std::size_t length = t.strings[a.name].size() + (open.empty() ? 0 : lengths.back());
    if (open.size() == deepest || (!open.empty() && length > longest_path)) {
      losses.add(lost::deep_annotation);
      continue;
    }
    r.parent = open.empty() ? none : open.back();
    r.label = t.labels.intern({open.empty() ? none : t.ranges[r.parent].label, a.name, a.index, a.kind});
    open.push_back(static_cast<std::uint32_t>(t.ranges.size()));
    lengths.push_back(length);
    t.ranges.push_back(r);
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

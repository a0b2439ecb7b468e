// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/annotations.hpp"

#include "formats/pytorch/inference.hpp"
#include "formats/pytorch/numbered.hpp"

#include <algorithm>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

void count_unknown(mark_form form, loss_counts& losses) noexcept {
  switch (form) {
    case mark_form::unknown_vllm:
      return losses.add(lost::unknown_vllm_pass);
    case mark_form::unknown_sglang:
      return losses.add(lost::unknown_sglang_pass);
    case mark_form::unknown_atom:
      return losses.add(lost::unknown_atom_pass);
    default:
      return;
  }
}

}  // namespace

void annotation_list::sort() {
  std::stable_sort(all.begin(), all.end(), [](const annotation& a, const annotation& b) {
    return a.thread != b.thread ? a.thread < b.thread
           : a.begin != b.begin ? a.begin < b.begin
                                : a.end > b.end;
  });
}

void annotations::add(trace& t, std::uint32_t name, bool is_module, std::uint16_t thread, time_ns begin,
                      time_ns end) {
  const auto [known, added] = label_of_name_.try_emplace(std::uint64_t{name} << 1U | (is_module ? 1U : 0U),
                                                         static_cast<std::uint32_t>(list_.labels.size()));
  if (added) {
    mark means = rules_.read(t.strings[name], is_module);
    list_.labels.push_back({t.strings.intern(means.name), std::move(means)});
  }
  if (list_.labels[known->second].means.form == mark_form::ignored) {
    ++ignored_;
    return;
  }
  list_.all.push_back({begin, end, known->second, thread});
}

void annotations::write(trace& t, const annotation_times& times, loss_counts& losses) {
  const auto [shift, slack] = std::pair{times.shift, times.slack};
  losses.add(lost::slow_rule, rules_.given_up());
  list_.sort();
  settle_passes(t, list_, slack);
  steps_as_ops_ = infer_passes(t, list_, times);
  index_numbered(t, list_, slack);
  std::vector<std::uint32_t> open;   // each holds the next
  std::vector<std::size_t> lengths;  // of their paths
  std::uint16_t thread = narrow_none;
  for (const annotation& a : list_.all) {
    if (a.thread != thread || thread == narrow_none) {
      thread = a.thread;
      open.clear();
    }
    range r;
    r.begin = a.begin + shift;
    r.end = a.end + shift;
    r.thread = a.thread;
    const annotation_label& l = list_.labels[a.label];
    r.kind = l.means.kind;
    r.clipped_begin = a.clipped;
    count_unknown(l.means.form, losses);
    // One that ends before `a` does is over, or crosses it; then whatever lies in both belongs to `a`.
    bool crosses = false;
    for (; !open.empty() && t.ranges[open.back()].end < r.end; open.pop_back()) {
      const time_ns end = t.ranges[open.back()].end;
      if (is_inside(r.begin, r.end, end, slack)) {
        r.end = end;
        break;
      }
      crosses |= end - r.begin > slack;
    }
    losses.add(lost::crossing_annotation, crosses ? 1 : 0);
    lengths.resize(open.size());
    const std::size_t length = t.strings[l.name].size() + (open.empty() ? 0 : lengths.back());
    if (open.size() == deepest || (!open.empty() && length > longest_path)) {
      losses.add(lost::deep_annotation);
      continue;
    }
    r.parent = open.empty() ? none : open.back();
    r.label =
        t.labels.intern({open.empty() ? none : t.ranges[r.parent].label, l.name, l.means.index, r.kind});
    const auto index = static_cast<std::uint32_t>(t.ranges.size());
    open.push_back(index);
    lengths.push_back(length);
    for (const auto& [key, value] : l.means.attributes) {
      t.attributes.push_back({index, key, value});
    }
    t.ranges.push_back(r);
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

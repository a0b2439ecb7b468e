// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/inference.hpp"

#include "formats/pytorch/text_scanner.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

/// Annotations of the framework's own, which are no steps however often they come.
bool is_the_frameworks(const mark& m) noexcept {
  return m.name.starts_with("## Call CompiledFxGraph") || m.name.starts_with("nccl:");
}

/// As more than an annotation of the user's.
bool is_marked(const mark& m) noexcept {
  return m.form != mark_form::plain && m.form != mark_form::generate_frame;
}

bool infer_from_annotations(trace& t, annotation_list& list, const std::vector<std::uint32_t>& parents,
                            time_ns shift) {
  struct sums {
    std::uint64_t count = 0;
    std::uint64_t launches = 0;
  };
  std::unordered_map<std::uint32_t, sums> by_label;
  std::vector<std::uint32_t> tops;  // by thread and begin
  for (std::uint32_t i = 0; i < list.all.size(); ++i) {
    if (parents[i] == none && list.all[i].thread != narrow_none) {
      tops.push_back(i);
      ++by_label[list.all[i].label].count;
    }
  }
  std::uint64_t launches = 0;
  for (std::size_t c = 0; c < t.calls.size(); ++c) {
    if (t.calls.kind[c] != call_kind::launch && t.calls.kind[c] != call_kind::graph_launch) {
      continue;
    }
    ++launches;
    const time_ns at = t.calls.begin[c] + (t.calls.end[c] - t.calls.begin[c]) / 2 - shift;
    const auto after = std::partition_point(tops.begin(), tops.end(), [&](std::uint32_t i) {
      const annotation& a = list.all[i];
      return a.thread != t.calls.thread[c] ? a.thread < t.calls.thread[c] : a.begin <= at;
    });
    if (after != tops.begin()) {
      const annotation& a = list.all[*(after - 1)];
      by_label[a.label].launches += a.thread == t.calls.thread[c] && a.end >= at ? 1U : 0U;
    }
  }
  constexpr std::uint64_t often = 3;
  for (const auto& [label, of] : by_label) {
    const mark& means = list.labels[label].means;
    if (of.count < often || of.launches * 2 <= launches || is_marked(means) || is_the_frameworks(means)) {
      continue;
    }
    // There is no second one: it holds more than half.
    const std::uint32_t repeated = label;
    const std::uint32_t pass = pass_labels{t, list}.of(repeated, std::string{means.name});
    for (const std::uint32_t i : tops) {
      if (list.all[i].label == repeated) {
        list.all[i].label = pass;
      }
    }
    return true;
  }
  return false;
}

}  // namespace

std::vector<std::uint32_t> parents_of(const annotation_list& list, time_ns slack) {
  std::vector<std::uint32_t> parents(list.all.size(), none);
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < parents.size(); ++i) {
    const annotation& a = list.all[i];
    while (!open.empty() && (list.all[open.back()].thread != a.thread || a.thread == narrow_none ||
                             !is_inside(a.begin, a.end, list.all[open.back()].end, slack))) {
      open.pop_back();
    }
    parents[i] = open.empty() ? none : open.back();
    open.push_back(i);
  }
  return parents;
}

void settle_passes(trace& t, annotation_list& list, time_ns slack) {
  const auto is_pass = [&](const annotation& a) {
    return list.means(a).kind == range_kind::phase && list.means(a).form != mark_form::profiler_step;
  };
  if (std::none_of(list.all.begin(), list.all.end(), is_pass)) {
    return;
  }
  bool drafts = false;
  for (annotation_label& label : list.labels) {
    if (label.means.form == mark_form::profiler_step) {
      label.means.kind = range_kind::op;
      label.means.index = no_index;
    }
    drafts |= label.means.name == "draft" || label.means.name == "draft_extend";
  }
  if (!drafts) {
    return;
  }
  const std::vector<std::uint32_t> parents = parents_of(list, slack);
  std::vector<bool> in_draft(list.all.size(), false);
  pass_labels labels{t, list};
  for (std::uint32_t i = 0; i < list.all.size(); ++i) {
    const mark& means = list.means(list.all[i]);
    in_draft[i] = (parents[i] != none && in_draft[parents[i]]) ||
                  (means.kind == range_kind::op && (means.name == "draft" || means.name == "draft_extend"));
    if (in_draft[i] && means.form == mark_form::engine_pass) {
      list.all[i].label = labels.of(list.all[i].label, VARVE_DRAFT);
    }
  }
}

std::uint64_t infer_passes(trace& t, annotation_list& list, const annotation_times& times) {
  std::uint64_t steps = 0;
  bool trains = false;
  for (const annotation& a : list.all) {
    const mark& means = list.means(a);
    const bool is_step = means.form == mark_form::profiler_step;
    if (means.kind == range_kind::phase && !is_step) {
      return 0;
    }
    steps += is_step ? 1U : 0U;
    trains |= means.name.starts_with("Optimizer.step#");
  }
  // A step of training is more than its calls of the model.
  if (list.all.empty() || (steps > 0 && trains)) {
    return 0;
  }
  const std::vector<std::uint32_t> parents = parents_of(list, times.slack);
  if (infer_from_modules(t, list, parents, times.frame_ends)) {
    t.inferred_passes = pass_inference::module_calls;
    settle_passes(t, list, times.slack);
    return steps;
  }
  if (steps == 0 && infer_from_annotations(t, list, parents, times.shift)) {
    t.inferred_passes = pass_inference::repeated_annotations;
  }
  return 0;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

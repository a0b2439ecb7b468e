// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/inference.hpp"

#include "formats/pytorch/text_scanner.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

/// By annotation: the one around it, or none. A parent comes first.
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

/// The label that marks the same as `label`, but is a pass of this kind.
class pass_labels {
 public:
  pass_labels(trace& t, annotation_list& list) : trace_{t}, list_{list} {}

  std::uint32_t of(std::uint32_t label, const std::string& kind) {
    const auto [known, added] = labels_.try_emplace(label, static_cast<std::uint32_t>(list_.labels.size()));
    if (added) {
      mark means = list_.labels[label].means;
      means.kind = range_kind::phase;
      means.name = kind;
      list_.labels.push_back({trace_.strings.intern(kind), std::move(means)});
    }
    return known->second;
  }

 private:
  trace& trace_;
  annotation_list& list_;
  std::unordered_map<std::uint32_t, std::uint32_t> labels_;
};

bool is_module_call(const annotation_list& list, std::uint32_t i) noexcept {
  return list.means(list.all[i]).form == mark_form::module_call;
}

// --- From calls of modules --------------------------------------------------------------------------------

/// What stands around the calls of modules.
struct module_tree {
  std::vector<std::uint32_t> parents;
  std::vector<std::uint32_t> module;  ///< by annotation: innermost call of a module: it, or one around it
  std::vector<std::uint32_t> root;    ///< likewise, the outermost
  std::vector<std::uint32_t> top;     ///< the outermost of all annotations
};

module_tree read_modules(const annotation_list& list, std::vector<std::uint32_t> parents) {
  module_tree tree;
  tree.parents = std::move(parents);
  const std::size_t n = list.all.size();
  for (auto* column : {&tree.module, &tree.root, &tree.top}) {
    column->resize(n, none);
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t parent = tree.parents[i];
    tree.top[i] = parent == none ? i : tree.top[parent];
    tree.root[i] = parent == none ? none : tree.root[parent];
    tree.module[i] = parent == none ? none : tree.module[parent];
    if (is_module_call(list, i)) {
      tree.root[i] = tree.root[i] == none ? i : tree.root[i];
      tree.module[i] = i;
    }
  }
  return tree;
}

/// What the calls of one outermost module of a thread add up to.
struct root_sums {
  std::uint64_t calls = 0;
  std::uint64_t inside = 0;  ///< calls of modules inside
  bool blocks = false;       ///< two modules of one class were called by one module
};

/// The outermost modules of one thread: annotations [first, last).
class thread_roots {
 public:
  thread_roots(const annotation_list& list, const module_tree& tree, std::uint32_t first, std::uint32_t last)
      : list_{list}, tree_{tree} {
    for (std::uint32_t i = first; i < last; ++i) {
      if (tree.root[i] == i) {
        roots_.push_back(i);
        ++sums_[list.all[i].label].calls;
      } else if (is_module_call(list, i)) {
        add_inside(i);
      }
    }
    find_model();
  }

  /// Calls of modules inside the model, 0 where there is none.
  [[nodiscard]] std::uint64_t size() const noexcept { return model_ == none ? 0 : size_; }
  /// The model's class, in trace::strings.
  [[nodiscard]] std::uint32_t model_class() const noexcept {
    return model_ == none ? none : list_.labels[model_].name;
  }

  /// Ends of the passes by the call of the model that begins them.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, time_ns>> passes() const {
    std::vector<std::pair<std::uint32_t, time_ns>> out;
    std::unordered_set<std::uint32_t> before;  // labels that are seen before the model is
    bool ended = true;
    for (const std::uint32_t i : roots_) {
      const annotation& a = list_.all[i];
      if (model_ == none) {
        break;
      }
      if (a.label == model_) {
        out.emplace_back(i, a.end);
        ended = false;
      } else if (out.empty()) {
        before.insert(a.label);
      } else if (!ended) {
        ended = before.count(a.label) != 0 || tree_.parents[i] != tree_.parents[out.back().first];
        out.back().second = ended ? out.back().second : std::max(out.back().second, a.end);
      }
    }
    return out;
  }

 private:
  void add_inside(std::uint32_t i) {
    root_sums& sums = sums_[list_.all[tree_.root[i]].label];
    ++sums.inside;
    if (sums.blocks || tree_.parents[i] == none) {
      return;
    }
    const annotation_label& label = list_.labels[list_.all[i].label];
    const std::uint64_t place = std::uint64_t{tree_.module[tree_.parents[i]]} << 32U | label.name;
    sums.blocks = first_index_.try_emplace(place, label.means.index).first->second != label.means.index;
  }

  /// The outermost module that most calls are inside of, if it repeats or holds what does.
  void find_model() {
    for (const std::uint32_t i : roots_) {  // the first of equals, in every run
      const root_sums& sums = sums_[list_.all[i].label];
      if (sums.inside > size_) {
        size_ = sums.inside;
        model_ = sums.blocks || sums.calls > 1 ? list_.all[i].label : none;
      }
    }
  }

  const annotation_list& list_;
  const module_tree& tree_;
  std::vector<std::uint32_t> roots_;
  std::unordered_map<std::uint32_t, root_sums> sums_;            // by label
  std::unordered_map<std::uint64_t, std::int32_t> first_index_;  // by caller and class
  std::uint32_t model_ = none;                                   // its label
  std::uint64_t size_ = 0;
};

bool infer_from_modules(trace& t, annotation_list& list, const module_tree& tree) {
  std::vector<thread_roots> threads;
  for (std::uint32_t i = 0, first = 0; i < list.all.size(); first = i) {
    while (i < list.all.size() && list.all[i].thread == list.all[first].thread) {
      ++i;
    }
    if (list.all[first].thread != narrow_none) {
      threads.emplace_back(list, tree, first, i);
    }
  }
  // Replicas on several threads are of one class; other threads may well prepare data with modules.
  const auto largest =
      std::max_element(threads.begin(), threads.end(),
                       [](const thread_roots& a, const thread_roots& b) { return a.size() < b.size(); });
  std::vector<std::pair<std::uint32_t, time_ns>> passes;
  for (const thread_roots& thread : threads) {
    if (thread.model_class() == largest->model_class()) {
      const auto more = thread.passes();
      passes.insert(passes.end(), more.begin(), more.end());
    }
  }
  if (passes.empty()) {
    return false;
  }
  // One annotation around each call of the model, all of one name: what the program calls a pass.
  std::unordered_set<std::uint32_t> around;
  const std::uint32_t label = list.all[tree.top[passes.front().first]].label;
  for (const auto& [model, end] : passes) {
    const std::uint32_t top = tree.top[model];
    if (!is_module_call(list, top) && list.all[top].label == label) {
      around.insert(top);
    }
  }
  pass_labels labels{t, list};
  if (passes.size() > 1 && around.size() == passes.size()) {
    for (const std::uint32_t i : around) {
      list.all[i].label = labels.of(label, list.labels[label].means.name);
    }
    return true;
  }
  constexpr const char* kind = "forward";
  list.labels.push_back(
      {t.strings.intern(kind), {kind, no_index, range_kind::phase, {}, mark_form::engine_pass}});
  const auto forward = static_cast<std::uint32_t>(list.labels.size() - 1);
  std::vector<annotation> all;  // the passes first: where one and its model take the same time, it is outside
  all.reserve(passes.size() + list.all.size());
  for (const auto& [model, end] : passes) {
    const annotation& a = list.all[model];
    all.push_back({a.begin, end, forward, a.thread});
  }
  all.insert(all.end(), list.all.begin(), list.all.end());
  list.all.swap(all);
  list.sort();
  return true;
}

// --- From annotations that repeat -------------------------------------------------------------------------

/// Annotations of the framework's own, which are no steps however often they come.
bool is_the_frameworks(const mark& m) noexcept {
  return starts_with(m.name, "## Call CompiledFxGraph") || starts_with(m.name, "nccl:");
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
    if (of.count < often || of.launches * 2 <= launches || means.form != mark_form::plain ||
        is_the_frameworks(means)) {
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

pass_inference infer_passes(trace& t, annotation_list& list, time_ns shift, time_ns slack) {
  const bool marked = std::any_of(list.all.begin(), list.all.end(), [&](const annotation& a) {
    return list.means(a).kind == range_kind::phase;
  });
  if (marked || list.all.empty()) {
    return pass_inference::not_inferred;
  }
  const module_tree tree = read_modules(list, parents_of(list, slack));
  return infer_from_modules(t, list, tree)                      ? pass_inference::module_calls
         : infer_from_annotations(t, list, tree.parents, shift) ? pass_inference::repeated_annotations
                                                                : pass_inference::not_inferred;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

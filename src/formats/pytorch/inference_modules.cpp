// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Passes from calls of modules.
#include "formats/pytorch/inference.hpp"
#include "formats/pytorch/passes.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

bool is_module_call(const annotation_list& list, std::uint32_t i) noexcept {
  return list.means(list.all[i]).form == mark_form::module_call;
}

bool is_generate_call(const annotation_list& list, std::uint32_t i) noexcept {
  const mark& means = list.means(list.all[i]);
  return (means.form == mark_form::plain || means.form == mark_form::generate_frame) &&
         means.kind == range_kind::op && means.name == generate_name;
}

bool is_step(const annotation_list& list, std::uint32_t i) noexcept {
  return list.means(list.all[i]).form == mark_form::profiler_step;
}

/// What stands around the calls of modules.
struct module_tree {
  const std::vector<std::uint32_t>& parents;
  std::vector<std::uint32_t> module;    ///< by annotation: innermost call of a module: it, or one around it
  std::vector<std::uint32_t> root;      ///< likewise, the outermost
  std::vector<std::uint32_t> top;       ///< the outermost of all annotations but steps of the profiler
  std::vector<std::uint32_t> step;      ///< the innermost of those
  std::vector<std::uint32_t> generate;  ///< the outermost call of generate() around it
};

module_tree read_modules(const annotation_list& list, const std::vector<std::uint32_t>& parents) {
  module_tree tree{parents, {}, {}, {}, {}, {}};
  const std::size_t n = list.all.size();
  for (auto* column : {&tree.module, &tree.root, &tree.top, &tree.step, &tree.generate}) {
    column->resize(n, none);
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t parent = tree.parents[i];
    tree.top[i] = parent == none || is_step(list, parent) ? i : tree.top[parent];
    tree.step[i] = is_step(list, i) ? i : parent == none ? none : tree.step[parent];
    tree.root[i] = parent == none ? none : tree.root[parent];
    tree.module[i] = parent == none ? none : tree.module[parent];
    tree.generate[i] = parent == none ? none : tree.generate[parent];
    if (tree.generate[i] == none && is_generate_call(list, i)) {
      tree.generate[i] = i;
    }
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
    if (sums.blocks) {
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

/// Marks the frames of generate() that were open when recording began: on their thread nothing else that is
/// read has begun before, and no frame has ended.
void find_clipped(annotation_list& list, const std::vector<time_ns>& frame_ends) {
  constexpr time_ns never = std::numeric_limits<time_ns>::max();
  std::uint16_t thread = narrow_none;
  time_ns first_end = never;
  for (annotation& a : list.all) {
    if (a.thread == narrow_none) {
      continue;
    }
    if (a.thread != thread) {
      thread = a.thread;
      first_end = thread < frame_ends.size() ? frame_ends[thread] : never;
    }
    a.clipped = list.means(a).form == mark_form::generate_frame && first_end > a.begin;
    first_end = std::min(first_end, a.clipped ? a.end : a.begin);
  }
}

}  // namespace

bool infer_from_modules(trace& t, annotation_list& list, const std::vector<std::uint32_t>& parents,
                        const std::vector<time_ns>& frame_ends) {
  const module_tree tree = read_modules(list, parents);
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
  const bool generates = std::any_of(passes.begin(), passes.end(),
                                     [&](const auto& pass) { return tree.generate[pass.first] != none; });
  const bool stepped = std::any_of(list.all.begin(), list.all.end(), [&](const annotation& a) {
    return list.means(a).form == mark_form::profiler_step;
  });
  std::unordered_set<std::uint32_t> steps;
  const bool several = !std::all_of(passes.begin(), passes.end(), [&](const auto& pass) {
    return tree.step[pass.first] == none || steps.insert(tree.step[pass.first]).second;
  });
  if (stepped && !generates && !several) {
    return false;
  }
  find_clipped(list, frame_ends);
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
  if (!generates && passes.size() > 1 && around.size() == passes.size()) {
    for (const std::uint32_t i : around) {
      list.all[i].label = labels.of(label, list.labels[label].means.name);
    }
    return true;
  }
  const auto pass_label = [&](const char* kind) {
    list.labels.push_back({t.strings.intern(kind), pass_of(kind)});
    return static_cast<std::uint32_t>(list.labels.size() - 1);
  };
  const std::uint32_t forward = pass_label("forward");
  const std::uint32_t prefill = generates ? pass_label(VARVE_PREFILL) : none;
  const std::uint32_t decode = generates ? pass_label(VARVE_DECODE) : none;
  std::vector<annotation> all;  // the passes first: where one and its model take the same time, it is outside
  all.reserve(passes.size() + list.all.size());
  std::uint32_t last = none;  // call of generate() that a pass was in; the passes of a thread are in order
  for (const auto& [model, end] : passes) {
    const annotation& a = list.all[model];
    const std::uint32_t generate = tree.generate[model];
    const bool first = generate != none && generate != last && !list.all[generate].clipped;
    last = generate;
    t.inferred_prefills += first ? 1U : 0U;
    all.push_back({a.begin, end, generate == none ? forward : first ? prefill : decode, a.thread});
  }
  all.insert(all.end(), list.all.begin(), list.all.end());
  list.all.swap(all);
  list.sort();
  return true;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

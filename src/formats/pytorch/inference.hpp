// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What annotations mean together: which of nested marks is the pass, and passes where nothing marks them.
#ifndef VARVE_FORMATS_PYTORCH_INFERENCE_HPP
#define VARVE_FORMATS_PYTORCH_INFERENCE_HPP

#include "formats/pytorch/annotations.hpp"

#include <varve/trace.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Makes steps of torch.profiler ops where anything else is a pass, and passes inside SGLang's annotations
/// "draft" and "draft_extend" drafts. `list` is sorted, and stays so.
void settle_passes(trace& t, annotation_list& list, time_ns slack);

/// Adds passes to a sorted list that has none but the profiler's steps, if calls of modules or annotations
/// repeat (docs/phases.md has the rules), and sets what `t` says of that. `t.calls` have their times.
/// Returns how many steps gave way.
std::uint64_t infer_passes(trace& t, annotation_list& list, const annotation_times& times);

// --- The parts of infer_passes() ---------------------------------------------------------------------------

/// By annotation of a sorted list: the one around it, or none. A parent comes first.
[[nodiscard]] std::vector<std::uint32_t> parents_of(const annotation_list& list, time_ns slack);

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

/// Whether there were any; in steps of the profiler, one that are more than the steps themselves.
/// Invalidates `parents` if so.
bool infer_from_modules(trace& t, annotation_list& list, const std::vector<std::uint32_t>& parents,
                        const std::vector<time_ns>& frame_ends);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_INFERENCE_HPP

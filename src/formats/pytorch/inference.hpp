// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What annotations mean together: which of nested marks is the pass, and passes where nothing marks them.
#ifndef VARVE_FORMATS_PYTORCH_INFERENCE_HPP
#define VARVE_FORMATS_PYTORCH_INFERENCE_HPP

#include "formats/pytorch/annotations.hpp"

#include <varve/trace.hpp>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Makes steps of torch.profiler ops where anything else is a pass, and passes inside SGLang's annotations
/// "draft" and "draft_extend" drafts. `list` is sorted, and stays so.
void settle_passes(trace& t, annotation_list& list, time_ns slack);

/// Adds passes to a sorted list that has none, if calls of modules or annotations repeat (docs/phases.md has
/// the rules). `t.calls` have their times, annotations are `shift` earlier.
pass_inference infer_passes(trace& t, annotation_list& list, time_ns shift, time_ns slack);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_INFERENCE_HPP

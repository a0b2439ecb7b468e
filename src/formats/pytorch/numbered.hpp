// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Annotations that have their layer's number in their name.
#ifndef VARVE_FORMATS_PYTORCH_NUMBERED_HPP
#define VARVE_FORMATS_PYTORCH_NUMBERED_HPP

#include "formats/pytorch/annotations.hpp"

#include <varve/trace.hpp>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Gives siblings that differ by a trailing number alone one label, with that number as its index: "layer 7",
/// "model.layers.7", "LlamaDecoderLayer_7" (docs/phases.md says when). What is inside "model.layers.7" loses
/// that text where its own begins with it. `list` is sorted and has its passes.
void index_numbered(trace& t, annotation_list& list, time_ns slack);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_NUMBERED_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Work launched on threads other than the one whose ranges it belongs to.
#ifndef VARVE_FORMATS_PYTORCH_ELSEWHERE_HPP
#define VARVE_FORMATS_PYTORCH_ELSEWHERE_HPP

#include "formats/pytorch/flows.hpp"
#include "formats/pytorch/operators.hpp"

#include <varve/trace.hpp>

#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Gives ranges to calls and operators that have none, once those are joined to what is on their own thread:
/// 1. a call whose operator is on another thread gets the range around that;
/// 2. what autograd runs in a backward operator belongs to "backward" in the pass that was open meanwhile,
/// and
///    there, where the forward operator is known, to a copy of the label path around that one, each step's
///    name with " (backward)". These ranges are derived; annotations made there move into them;
/// 3. a launching call is otherwise of the pass that was open, when one was on one thread of the process
/// alone. Counts launching calls in `t.elsewhere`.
/// Forward operators are known by sequence numbers, or by flows.
void attribute_elsewhere(trace& t, const std::vector<operators::sequence>& sequences,
                         const std::vector<flows::backward>& backwards);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_ELSEWHERE_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What operators do for the ranges around them.
#ifndef VARVE_FORMATS_PYTORCH_WORK_COUNTS_HPP
#define VARVE_FORMATS_PYTORCH_WORK_COUNTS_HPP

#include "formats/pytorch/losses.hpp"

#include <varve/trace.hpp>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Adds the work of operators whose shapes tell it to the ranges around them, once operators are joined to
/// ranges and activities to operators. Of nested ones the outermost counts. Calls that a range makes of one
/// kind of operator are mostly one entry, and all that computes nothing is: that changes no roof.
void count_work(trace& t, loss_counts& losses);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_WORK_COUNTS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Operators as torch.profiler's key_averages() counts them. Takes 24 bytes a function of the host (operator,
// annotation, call), 8 an operator and 48 a memory event while it runs, and n log n time; nothing where the
// trace has no operators.
#ifndef VARVE_ANALYZE_OPERATORS_HPP
#define VARVE_ANALYZE_OPERATORS_HPP

#include "analyze/activities.hpp"
#include "analyze/rows.hpp"

#include <varve/report.hpp>

#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// By operator: its work is known, or that of one around it.
[[nodiscard]] std::vector<bool> operators_of_known_work(const trace& t);

/// Rows by falling GPU time, then by falling CPU time. `known` is of operators_of_known_work().
[[nodiscard]] operator_tables tabulate_operators(const trace& t, const std::vector<bool>& known,
                                                 const analyze_options& options);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_OPERATORS_HPP

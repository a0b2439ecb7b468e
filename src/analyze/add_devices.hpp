// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_ANALYZE_ADD_DEVICES_HPP
#define VARVE_ANALYZE_ADD_DEVICES_HPP

#include <varve/report.hpp>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Adds the devices of a later window, and the time between its passes and those before.
void add_devices(report& total, const report& next);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_ADD_DEVICES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Devices whose work the program itself reports (collector.hpp).
#ifndef VARVE_RECORD_HOST_HPP
#define VARVE_RECORD_HOST_HPP

#include <varve/trace.hpp>

#include <vector>

namespace varve::record {

/// All host devices of the process so far, one an id, the latest where ids repeat. Thread safe.
std::vector<device_info> host_devices();
/// Whether the work of any of them runs on the host's own cores.
bool host_devices_share_cores() noexcept;

}  // namespace varve::record

#endif  // VARVE_RECORD_HOST_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The one session of the process, as the C interface and the devices see it.
#ifndef VARVE_RECORD_SESSION_STATE_HPP
#define VARVE_RECORD_SESSION_STATE_HPP

#include "record/clock.hpp"

namespace varve::record {

/// Ticks to nanoseconds for the running session, or the last one.
clock_mapping session_clock() noexcept;
/// Reads all logs of a running session and forgets the addresses of names.
void drain_before_unload() noexcept;
/// What the first marker of the process does: looks for an NVTX tool, prepares for fork. Idempotent.
void activate() noexcept;

}  // namespace varve::record

#endif  // VARVE_RECORD_SESSION_STATE_HPP

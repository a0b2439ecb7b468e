// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Recording, of which there is at most one in a process: the store, the thread that reads the logs into it,
// and what happens to them at a fork or when a module is unloaded. Thread safe.
#ifndef VARVE_RECORD_RECORDING_HPP
#define VARVE_RECORD_RECORDING_HPP

#include "record/clock.hpp"

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace varve::record {

/// What was recorded; sources and clock are for the session to add.
struct recorded {
  trace records;
  std::size_t count = 0;  ///< of ranges, calls and activities
};

/// Prepares to record; markers do once the window is open. Returns the cost of a marker in
/// nanoseconds. Throws varve::record::busy when somebody records already, or what the system throws when it
/// has no memory or thread.
struct busy {};
double start_recording(std::size_t marker_memory, std::size_t trace_memory);
/// From here on the built-in source of devices, which was started for this recording, hands its records over,
/// and ticks become times of its clock.
void record_devices() noexcept;
/// Where there is none such: from here on the built-in source of spans hands its spans over.
void record_spans() noexcept;
/// From here on the built-in counter, which was started for this recording, is told of ranges and hands its
/// counts over.
void record_counts() noexcept;
/// All sources have begun: markers record from here on, and the window of what is recorded begins.
void open_window() noexcept;
/// Markers record no more, and the window of what was recorded ends.
void close_window() noexcept;
/// Ends what start_recording() began, once its window is closed, also when it throws for lack of memory.
/// Nothing is handed over unless `keep`.
recorded stop_recording(bool keep);
/// What was recorded until now.
recorded copy_recording();
/// What is finished by now, which is then forgotten. Throws only std::bad_alloc: `at_stake` records are lost
/// by that.
recorded take_recording(std::size_t& at_stake);
/// For tests: how long a replayed graph's further records are waited for; a second unless told.
void settle_after(time_ns interval) noexcept;
/// What was lost so far.
std::vector<loss> recording_losses();
/// For tests: how long what records of the past may need is kept, at least; a minute unless told.
void retire_after(time_ns interval) noexcept;
/// What a session holds.
struct recording_size {
  std::size_t used = 0;       ///< bytes, of those that it may keep
  std::size_t aliases = 0;    ///< of these, for ids of nested calls that are not retired yet
  std::uint32_t retired = 0;  ///< times that retire() was called
};
/// Of the running session.
recording_size size_of_recording();

/// Ticks to nanoseconds for the running session, or the last one.
clock_mapping session_clock() noexcept;
/// Reads all logs of a running session and forgets the addresses of names.
void drain_before_unload() noexcept;
/// What the first marker of the process does: looks for an NVTX tool, prepares for fork. Idempotent.
void activate() noexcept;

}  // namespace varve::record

#endif  // VARVE_RECORD_RECORDING_HPP

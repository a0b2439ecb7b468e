// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a process has of a recording.
#ifndef VARVE_RECORD_PROCESS_STATE_HPP
#define VARVE_RECORD_PROCESS_STATE_HPP

#include "record/clock.hpp"
#include "record/device_clock.hpp"
#include "record/device_source.hpp"
#include "record/store.hpp"

#include <varve/trace.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace varve::record {

/// What there is one of in a process. Leaked: markers may come during static destruction.
struct process_state {
  std::mutex mutex;                // guards what follows; held while draining
  std::unique_ptr<store> records;  // of the running session
  std::unique_ptr<std::thread> reader;
  store* parents_records = nullptr;  // what a forked child has of them, and leaves alone
  std::thread* parents_reader = nullptr;
  clock_anchor started;
  clock_mapping clock;
  device_source* devices = nullptr;  // that records too
  device_clock device_time;          // runs while it does
  trace batch;                       // of what it hands over
  bool spans = false;                // the source of spans records too
  bool counts = false;               // what devices do in ranges is counted
  time_ns retired = 0;               // when, last

  std::mutex window;   // taken after `mutex`, where both are; never held for long
  clock_anchor ended;  // its ticks are UINT64_MAX while the window is open

  std::mutex wake_mutex;
  std::condition_variable wake;
  bool woken = false;
  bool stopping = false;
};

inline process_state& process() noexcept {
  static auto* const leaked = new process_state;
  return *leaked;
}

}  // namespace varve::record

#endif  // VARVE_RECORD_PROCESS_STATE_HPP

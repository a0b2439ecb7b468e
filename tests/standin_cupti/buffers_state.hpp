// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The buffers that the stand-in holds, shared by what fills them (buffers.cpp) and what gives them back
// (delivery.cpp).
#ifndef VARVE_TESTS_STANDIN_CUPTI_BUFFERS_STATE_HPP
#define VARVE_TESTS_STANDIN_CUPTI_BUFFERS_STATE_HPP

#include "standin_cupti/buffers.hpp"

#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>

namespace standin {

struct client_buffer {
  std::uint8_t* data = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  std::size_t records = 0;
  std::size_t most_records = 0;  ///< 0: what fits
  std::size_t running = 0;       ///< records whose work has not ended
  std::set<std::string> names;   ///< of this buffer's kernels
};

struct running_record {
  client_buffer* buffer;
  std::size_t offset;
  cupti::stream_handle stream;
  std::uint32_t device;
};

struct buffer_state {
  std::mutex mutex;
  std::condition_variable changed;
  cupti::buffer_requested_function requested = nullptr;
  cupti::buffer_completed_function completed = nullptr;
  std::map<std::uint64_t, std::unique_ptr<client_buffer>> filling;  ///< by thread, or all under 0
  std::list<std::unique_ptr<client_buffer>> full;
  std::list<running_record> running;
  std::list<record> waiting;
  std::set<std::string> names;  ///< where they outlive buffers
  std::optional<bool> per_thread;
  std::mt19937 random;
  std::size_t outstanding = 0, requests = 0, written = 0, dropped = 0, dropped_in_all = 0;
  std::size_t to_drop = 0, truncate_bytes = 0, truncate_buffers = 0;
  std::size_t delivering = 0;  ///< completion callbacks under way
  std::thread worker;
  bool worker_ends = false;
};

buffer_state& buffers();

/// Under the mutex: the buffer takes no more records.
void retire(buffer_state& all, std::unique_ptr<client_buffer> buffer);
/// Without it: gives back what the worker, or the filling thread, gives back without a flush.
void deliver_retired(buffer_state& all);

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_BUFFERS_STATE_HPP

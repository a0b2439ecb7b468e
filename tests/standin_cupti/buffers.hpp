// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The client's buffers: asked for where a record needs room, filled, given back.
#ifndef VARVE_TESTS_STANDIN_CUPTI_BUFFERS_HPP
#define VARVE_TESTS_STANDIN_CUPTI_BUFFERS_HPP

#include "standin_cupti/layout.hpp"

namespace standin {

cupti::result register_buffers(cupti::buffer_requested_function requested,
                               cupti::buffer_completed_function completed);

/// May call the client's request on this thread; no lock is held then.
void write(record r);
/// With the next flush, synchronising call or deliver().
void write_later(record r);
/// Writes what waits; unless `running_too`, what has not ended goes on waiting.
void write_waiting(bool running_too);

/// Calls the client's completion on this thread, and waits for the worker's.
cupti::result flush(bool forced);

/// Ends running work: of one stream, of one device, or all.
void finish_running(std::optional<std::uint32_t> device, std::optional<cupti::stream_handle> stream);

/// Each thread fills a buffer of its own. By default from 13.0 on.
bool per_thread_buffers();
void set_per_thread_buffers(bool on);

std::size_t take_dropped();

/// Walks a buffer as the library does.
cupti::result next_record(std::uint8_t* buffer, std::size_t valid_size, std::uint8_t** record);

void reset_buffers();

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_BUFFERS_HPP

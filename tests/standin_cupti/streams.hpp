// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Contexts and streams: their ids, their clocks, and the graph that a stream captures into.
#ifndef VARVE_TESTS_STANDIN_CUPTI_STREAMS_HPP
#define VARVE_TESTS_STANDIN_CUPTI_STREAMS_HPP

#include "standin_cupti/control.hpp"

namespace standin {

cupti::context_handle context_handle_of(std::uint32_t device);
std::optional<std::uint32_t> id_of(cupti::context_handle context, cupti::stream_handle stream);

/// When work of `duration` handed in at `entered` runs: after the launch latency and what the stream already
/// has.
interval occupy(stream s, std::uint64_t entered, std::uint64_t duration);

cupti::graph_handle capturing(stream s);  ///< null: it doesn't
void set_capturing(stream s, cupti::graph_handle g);
void end_capturing(cupti::graph_handle g);  ///< on every stream that joined

/// Of the process that initialised CUDA.
bool is_forked_child();

void reset_streams();

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_STREAMS_HPP

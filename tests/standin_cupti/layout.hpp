// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Activity records in the layout of the configured version.
#ifndef VARVE_TESTS_STANDIN_CUPTI_LAYOUT_HPP
#define VARVE_TESTS_STANDIN_CUPTI_LAYOUT_HPP

#include "standin_cupti/control.hpp"

#include <cstring>
#include <string>

namespace standin {

/// 0 for kinds that the library does not know. From 13.1 on kernels' records are longer than anybody
/// declares.
std::size_t size_of(cupti::record_kind kind);

/// A record on its way into a buffer.
struct record {
  std::vector<std::uint8_t> bytes;
  std::optional<std::string> name;        ///< of kernels: the buffer gets a pointer to it
  bool running = false;                   ///< its end is still to come
  cupti::stream_handle stream = nullptr;  ///< of running work
  std::uint32_t device = 0;
};

/// What a stream or a graph's node does.
struct operation {
  cupti::record_kind kind = cupti::record_kind::concurrent_kernel;
  cupti::graph_node_type node = cupti::graph_node_type::kernel;
  std::string name;
  launch_shape shape;
  cupti::copy_direction direction = cupti::copy_direction::unknown;
  std::uint64_t bytes = 0;
  std::uint64_t count = 1;
  std::uint32_t value = 0;
  std::uint32_t to_device = 0;
};

/// When and where it did so.
struct occurrence {
  interval times;
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t graph = 0;
  bool from_device = false;
};

/// Contexts count from 1, one a device.
inline std::uint32_t context_of(std::uint32_t device) { return device + 1; }

record make_work_record(const operation& what, const occurrence& where);
record make_api_record(cupti::record_kind domain, std::uint32_t id, interval times, std::uint32_t thread,
                       std::uint32_t correlation, int result);
record make_memory_record(cupti::memory_operation what, std::uint64_t address, std::uint64_t bytes,
                          std::uint64_t time, std::uint32_t device, std::uint32_t correlation);
record make_graph_record(const occurrence& where);
record make_synchronization_record(cupti::synchronization_type type, interval times, std::uint32_t device,
                                   std::uint32_t stream, std::uint32_t correlation);
record make_overhead_record(cupti::overhead_kind what, interval times, std::uint32_t thread, bool with_data);
record make_external_record(cupti::external_correlation_kind kind, std::uint64_t id,
                            std::uint32_t correlation);

/// Ends a running record in place.
void finish(std::uint8_t* record_bytes, std::uint64_t end);

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_LAYOUT_HPP

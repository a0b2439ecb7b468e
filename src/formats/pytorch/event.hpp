// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// One event of a trace as it stands in the file: raw JSON tokens, empty where absent, not yet believed.
#ifndef VARVE_FORMATS_PYTORCH_EVENT_HPP
#define VARVE_FORMATS_PYTORCH_EVENT_HPP

#include "formats/pytorch/classify.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Three whole numbers of a kernel's launch.
struct extent {
  enum class state : std::uint8_t { absent, good, invalid };
  std::uint32_t size[3] = {0, 0, 0};
  state is = state::absent;
};

struct event {
  std::string_view phase;  // "ph"
  std::string_view cat;
  std::string_view name;
  std::string_view process;
  std::string_view thread;
  std::string_view begin;
  std::string_view duration;
  std::string_view id;  // of a flow

  std::string_view correlation;  // from here on: of "args"
  std::string_view device;
  std::string_view context;
  std::string_view stream;
  std::string_view registers;
  std::string_view shared_memory;
  std::string_view bytes;
  std::string_view node;
  std::string_view graph;           // "graph id"
  std::string_view kernel;          // name of what a call launches, where the profiler says it there
  std::string_view details;         // "kernel_details" or "memcpy_details" of XLA
  std::string_view label;           // "name" of metadata
  std::string_view external;        // "External id", which joins operators to what they launched
  std::string_view shapes;          // "Input Dims", whole
  std::string_view types;           // "Input type", whole
  std::string_view values;          // "Concrete Inputs", whole
  std::string_view order;           // of begin: "Ev Idx", before "Profiler Event Index"
  std::string_view sequence;        // "Sequence number" of autograd
  std::string_view forward_thread;  // "Fwd thread id"
  std::string_view device_type;     // of memory
  std::string_view collective;      // "Collective name"
  std::string_view elements_in;     // "In msg nelems"
  std::string_view elements_out;    // "Out msg nelems"
  std::string_view data_type;       // "dtype"
  std::string_view group_size;      // "Group size"
  std::string_view own;             // "varve", whole: see own_format.hpp
  extent grid;
  extent block;

  category kind = category::unread;  // of `cat`
};

/// What stands beside the events.
struct header {
  std::string base_time;  // baseTimeNanoseconds
  std::string schema;
  std::string cupti;
  std::string runtime;
  std::string driver;
  std::string rank;
  std::string world_size;
  std::string backend;
};

/// One entry of deviceProperties.
struct device_properties {
  std::string_view id;
  std::string_view name;
  std::string_view memory;
  std::string_view major;
  std::string_view minor;
  std::string_view multiprocessors;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_EVENT_HPP

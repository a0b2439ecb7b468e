// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/streams.hpp"

#include "standin_cupti/callbacks.hpp"
#include "standin_cupti/calls.hpp"
#include "standin_cupti/entry.hpp"
#include "standin_cupti/names.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

namespace standin {
namespace {

// Handles are addresses that nobody may read.
constexpr std::uintptr_t contexts_at = 0x100000;
constexpr std::uintptr_t streams_at = 0x200000;
constexpr std::uintptr_t apart = 0x40;
constexpr std::uint32_t default_stream_id = 7;

struct stream_info {
  std::uint32_t id = default_stream_id;
  std::uint64_t free_at = 0;
  cupti::graph_handle captures = nullptr;
};

struct stream_state {
  std::mutex mutex;
  std::map<std::pair<std::uint32_t, cupti::stream_handle>, stream_info>
      streams;  ///< by device: each has a null stream
  std::uintptr_t made = 0;
  std::atomic<std::uint32_t> devices{0};  ///< 0: CUDA is not initialised
  std::atomic<::pid_t> initialised_in{0};
};

stream_state& the_streams() {
  static auto& all = *new stream_state;
  return all;
}

void emit_stream(cupti::resource_event event, stream s) {
  const cupti::resource_data data{context_handle_of(s.device), s.handle, nullptr};
  emit(event, &data);
}

}  // namespace

cupti::context_handle context_handle_of(std::uint32_t device) {
  return reinterpret_cast<cupti::context_handle>(contexts_at + apart * device);
}

std::optional<std::uint32_t> id_of(cupti::context_handle context, cupti::stream_handle handle) {
  if (handle == nullptr) {
    return default_stream_id;
  }
  const auto device =
      static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(context) - contexts_at) / apart);
  const std::lock_guard lock{the_streams().mutex};
  const auto found = the_streams().streams.find({device, handle});
  return found != the_streams().streams.end() ? std::optional{found->second.id} : std::nullopt;
}

std::uint32_t stream_id(stream s) { return id_of(context_handle_of(s.device), s.handle).value_or(0); }

interval occupy(stream s, std::uint64_t entered, std::uint64_t duration) {
  const std::lock_guard lock{the_streams().mutex};
  std::uint64_t& free_at = the_streams().streams[{s.device, s.handle}].free_at;
  const std::uint64_t begin = std::max(entered + settings().launch_latency, free_at);
  free_at = begin + duration;
  return {begin, free_at};
}

cupti::graph_handle capturing(stream s) {
  const std::lock_guard lock{the_streams().mutex};
  const auto found = the_streams().streams.find({s.device, s.handle});
  return found != the_streams().streams.end() ? found->second.captures : nullptr;
}

void set_capturing(stream s, cupti::graph_handle g) {
  const std::lock_guard lock{the_streams().mutex};
  the_streams().streams[{s.device, s.handle}].captures = g;
}

void end_capturing(cupti::graph_handle g) {
  const std::lock_guard lock{the_streams().mutex};
  for (auto& [key, info] : the_streams().streams) {
    if (info.captures == g) {
      info.captures = nullptr;
    }
  }
}

void initialise(std::uint32_t devices, const std::function<void()>& between) {
  std::uint32_t none = 0;
  if (!the_streams().devices.compare_exchange_strong(none, devices)) {
    return;
  }
  the_streams().initialised_in = ::getpid();
  emit(cupti::resource_event::cu_init_finished, nullptr);
  if (between) {
    between();
  }
  for (std::uint32_t device = 0; device < devices; ++device) {
    const cupti::resource_data data{context_handle_of(device), nullptr, nullptr};
    emit(cupti::resource_event::context_created, &data);
  }
}

stream create_stream(std::uint32_t device) {
  stream made;
  made.device = device;
  perform({runtime::stream_create_with_flags, driver::stream_create, device}, {}, [&](call_frame&) {
    {
      const std::lock_guard lock{the_streams().mutex};
      const std::uintptr_t number = the_streams().made++;
      made.handle = reinterpret_cast<cupti::stream_handle>(streams_at + apart * number);
      the_streams().streams[{device, made.handle}].id = static_cast<std::uint32_t>(13 + number);
    }
    emit_stream(cupti::resource_event::stream_created, made);
  });
  return made;
}

void destroy_stream(stream s) {
  perform({runtime::stream_destroy, driver::stream_destroy, s.device}, {}, [&](call_frame&) {
    emit_stream(cupti::resource_event::stream_destroy_starting, s);
    const std::lock_guard lock{the_streams().mutex};
    the_streams().streams.erase({s.device, s.handle});
  });
}

bool is_forked_child() { return the_streams().devices != 0 && the_streams().initialised_in != ::getpid(); }

void reset_streams() {
  const std::lock_guard lock{the_streams().mutex};
  the_streams().streams.clear();
  the_streams().made = 0;
  the_streams().devices = 0;
}

}  // namespace standin

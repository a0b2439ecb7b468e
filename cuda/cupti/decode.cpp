// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/decode.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

namespace varve::cupti {

namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t ahead = 2048;     // bytes: some ten records
constexpr std::size_t at_once = 128;    // records decoded under one lock
constexpr std::size_t most_added = 64;  // bytes that a later CUDA's record may have behind what we know of it

time_ns time_of(std::uint64_t t) noexcept { return static_cast<time_ns>(t); }

/// What becomes a row of a trace.
bool is_kept(record_kind kind) noexcept {
  switch (kind) {
    case record_kind::concurrent_kernel:
    case record_kind::kernel:
    case record_kind::memcpy:
    case record_kind::memcpy_p2p:
    case record_kind::memset:
    case record_kind::graph_trace:
    case record_kind::memory:
      return true;
    default:
      return false;
  }
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from, std::size_t begin) {
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(begin), from.end());
}

}  // namespace

// The library is asked where the record after this one lies; of a buffer's last one that tells nothing.
result record_walk::learn(std::uint8_t* buffer, std::size_t valid, std::size_t at,
                          std::size_t& size) noexcept {
  std::uint8_t* next = buffer + at;
  const result answer = lib_.call.activity_get_next_record(buffer, valid, &next);
  size = answer == result::success && next > buffer + at ? static_cast<std::size_t>(next - (buffer + at)) : 0;
  return answer;
}

record_walk::step record_walk::next(std::uint8_t* buffer, std::size_t valid, std::size_t& at,
                                    const std::uint8_t** records, std::size_t most) noexcept {
  step done;
  while (done.records < most && at < valid) {
    // Where the next record lies is known only when this one has come from memory.
    for (std::size_t line = 0; line < 4 * cache_line; line += cache_line) {
      __builtin_prefetch(buffer + std::min(at + ahead + line, valid));
    }
    const std::size_t rest = valid - at;
    const record_kind kind = rest >= sizeof(record_kind) ? read(buffer + at, kind_of) : record_kind::invalid;
    const auto number = static_cast<std::size_t>(kind);
    const std::size_t least = size_of(kind, lib_.version);
    if (number == 0 || rest < least) {
      done.end = ending::cut;
      at = valid;
      break;
    }
    std::size_t size = number < kinds ? sizes_[number].load(std::memory_order_relaxed) : 0;
    if (size == 0) {
      const result answer = learn(buffer, valid, at, size);
      if (size == 0) {
        const bool at_end = answer == result::max_limit_reached;
        const bool one = least == 0 || rest <= least + most_added;
        done.end = !at_end ? ending::unknown_kind : one ? ending::whole : ending::cut;
        if (least != 0) {
          records[done.records++] = buffer + at;
        }
        at = valid;
        break;
      }
      if (number < kinds) {
        sizes_[number].store(static_cast<std::uint32_t>(size), std::memory_order_relaxed);
      }
    }
    if (size > rest) {
      done.end = ending::cut;
      at = valid;
      break;
    }
    if (size < least) {
      done.too_short += is_kept(kind) ? 1U : 0U;
    } else if (least != 0) {
      records[done.records++] = buffer + at;
    }
    at += size;
  }
  return done;
}

void decoder::open(std::size_t most) noexcept {
  const std::lock_guard lock{mutex_};
  waiting_ = {};
  most_ = most;
  full_ = false;
  counted_ = {};
  read_ = {};
  rows_ = 0;
  room_ = 0;
  names_ = {};
  shapes_ = {};
  nodes_.clear();
  last_stream_index_ = narrow_none;
}

void decoder::read(std::uint8_t* buffer, std::size_t valid) noexcept {
  const std::uint8_t* records[at_once];
  std::size_t at = 0;
  for (;;) {
    std::size_t done = 0;
    const auto [count, too_short, end] = walk_.next(buffer, valid, at, records, at_once);
    const std::lock_guard lock{mutex_};
    counted_.too_short += too_short;
    try {
      if (room_ < rows_ + count) {
        const std::size_t room = std::max(rows_ + count, waiting_.activities.begin.capacity());
        waiting_.activities.resize(room);
        room_ = room;
      }
      for (; done < count; ++done) {
        decode(records[done]);
      }
    } catch (const std::bad_alloc&) {
      counted_.not_kept += count - done;
    }
    if (at >= valid) {
      counted_.cut_buffers += end == record_walk::ending::cut ? 1U : 0U;
      counted_.unknown_kinds += end == record_walk::ending::unknown_kind ? 1U : 0U;
      return;
    }
  }
}

std::size_t decoder::discard(std::uint8_t* buffer, std::size_t valid) noexcept {
  const std::uint8_t* records[at_once];
  std::size_t activities = 0;
  for (std::size_t at = 0; at < valid;) {
    const std::size_t count = walk_.next(buffer, valid, at, records, at_once).records;
    for (std::size_t i = 0; i < count; ++i) {
      const record_kind kind = cupti::read(records[i], kind_of);
      activities += is_kept(kind) ? 1U : 0U;
      if (kind == record_kind::overhead) {
        std::free(cupti::read<void*>(records[i], overhead::data, lib_.version, nullptr));
      }
    }
  }
  return activities;
}

bool decoder::has_read(std::uint32_t correlation) const noexcept {
  const std::lock_guard lock{mutex_};
  const std::uint32_t newest = read_[correlation % read_.size()];
  return newest != 0 && static_cast<std::int32_t>(newest - correlation) >= 0;  // ids wrap
}

void decoder::hand_over(trace& batch, bool full) noexcept {
  const std::lock_guard lock{mutex_};
  full_ = full;
  static_cast<void>(move_to(batch));
}

bool decoder::hand_over_last(trace& batch) noexcept {
  std::unique_ptr<trace> fresh;
  try {
    fresh = std::make_unique<trace>();
  } catch (const std::bad_alloc&) {
    return false;
  }
  const std::lock_guard lock{mutex_};
  if (!move_to(batch)) {
    return false;
  }
  std::swap(fresh->activities, waiting_.activities);  // keeps its memory
  waiting_ = std::move(*fresh);
  names_ = {};
  shapes_ = {};
  nodes_.clear();
  last_stream_index_ = narrow_none;
  full_ = false;  // there is room for what comes, or the next call says so
  return true;
}

// Under the lock.
bool decoder::move_to(trace& batch) noexcept {
  try {
    for (std::size_t i = batch.strings.size(); i < waiting_.strings.size(); ++i) {
      batch.strings.intern(waiting_.strings[static_cast<std::uint32_t>(i)]);
    }
    append(batch.streams, waiting_.streams, batch.streams.size());
    append(batch.shapes, waiting_.shapes, batch.shapes.size());
    append(batch.bytes, waiting_.bytes, batch.bytes.size());
    append(batch.graph_nodes, waiting_.graph_nodes, batch.graph_nodes.size());
  } catch (const std::bad_alloc&) {
    return false;  // they wait for the next time
  }
  waiting_.activities.resize(rows_);  // no column grows: each has room for them
  rows_ = 0;
  room_ = 0;
  std::swap(batch.activities, waiting_.activities);
  std::swap(batch.memory_events, waiting_.memory_events);
  return true;
}

decoder::counts decoder::counted() const noexcept {
  const std::lock_guard lock{mutex_};
  return counted_;
}

void decoder::decode(const std::uint8_t* record) {
  const record_kind kind = cupti::read(record, kind_of);
  if (is_kept(kind) && (full_ || rows_ + waiting_.memory_events.size() >= most_)) {
    ++counted_.not_kept;
    return;
  }
  switch (kind) {
    case record_kind::concurrent_kernel:
    case record_kind::kernel:
      add_kernel(record);
      break;
    case record_kind::memcpy:
      add_copy(record);
      break;
    case record_kind::memcpy_p2p:
      ++counted_.copies;
      add({time_of(cupti::read(record, peer_copy::start)), time_of(cupti::read(record, peer_copy::end)),
           cupti::read(record, peer_copy::correlation_id), name_of("Memcpy PtoP"),
           node_of(cupti::read(record, peer_copy::graph_node_id)),
           bytes_of(cupti::read(record, peer_copy::bytes)),
           stream_of(cupti::read(record, peer_copy::device_id), cupti::read(record, peer_copy::context_id),
                     cupti::read(record, peer_copy::stream_id)),
           activity_kind::copy});
      break;
    case record_kind::memset:
      ++counted_.sets;
      counted_.device_launched += cupti::read(record, set::is_device_launched, lib_.version, std::uint8_t{0});
      add({time_of(cupti::read(record, set::start)), time_of(cupti::read(record, set::end)),
           cupti::read(record, set::correlation_id), name_of("Memset"),
           node_of(cupti::read(record, set::graph_node_id)), bytes_of(cupti::read(record, set::bytes)),
           stream_of(cupti::read(record, set::device_id), cupti::read(record, set::context_id),
                     cupti::read(record, set::stream_id)),
           activity_kind::set});
      break;
    case record_kind::graph_trace:
      ++counted_.graphs;
      add({time_of(cupti::read(record, graph_trace::start)), time_of(cupti::read(record, graph_trace::end)),
           cupti::read(record, graph_trace::correlation_id), name_of("CUDA graph"), none, none,
           stream_of(cupti::read(record, graph_trace::device_id),
                     cupti::read(record, graph_trace::context_id),
                     cupti::read(record, graph_trace::stream_id)),
           activity_kind::graph});
      break;
    case record_kind::memory:
      add_memory(record);
      break;
    case record_kind::overhead:
      add_overhead(record);
      break;
    default:
      break;
  }
}

// What makes a kernel's shape stands together in its record: grid, block, static and dynamic shared memory.
std::uint32_t decoder::shape_of(const std::uint8_t* r) {
  static_assert(kernel::dynamic_shared_memory.offset + 4 == kernel::grid_x.offset + sizeof(raw_shape::words));
  raw_shape raw;
  std::memcpy(raw.words.data(), r + kernel::grid_x.offset, sizeof raw.words);
  raw.registers = cupti::read(r, kernel::registers_per_thread);
  std::uint64_t h = raw.registers;
  for (const std::uint64_t w : raw.words) {
    h = (h ^ w) * 0x9E3779B97F4A7C15ULL;
  }
  known_shape& known = shapes_[(h >> 32U) % shapes_.size()];
  if (known.id == none || known.raw.registers != raw.registers || known.raw.words != raw.words) {
    launch_shape shape;
    std::memcpy(shape.grid, r + kernel::grid_x.offset, sizeof shape.grid);
    std::memcpy(shape.block, r + kernel::block_x.offset, sizeof shape.block);
    shape.registers = raw.registers;
    shape.static_shared_memory = static_cast<std::uint32_t>(cupti::read(r, kernel::static_shared_memory));
    shape.dynamic_shared_memory = static_cast<std::uint32_t>(cupti::read(r, kernel::dynamic_shared_memory));
    known = {raw, waiting_.intern_shape(shape)};
  }
  return known.id;
}

void decoder::add_kernel(const std::uint8_t* r) {
  ++counted_.kernels;
  counted_.device_launched += cupti::read(r, kernel::is_device_launched, lib_.version, std::uint8_t{0});
  add({time_of(cupti::read(r, kernel::start)), time_of(cupti::read(r, kernel::end)),
       cupti::read(r, kernel::correlation_id), name_of(cupti::read(r, kernel::name)),
       node_of(cupti::read(r, kernel::graph_node_id)), shape_of(r),
       stream_of(cupti::read(r, kernel::device_id), cupti::read(r, kernel::context_id),
                 cupti::read(r, kernel::stream_id)),
       activity_kind::kernel});
}

void decoder::add_copy(const std::uint8_t* r) {
  // As torch and nsys name them.
  static constexpr const char* names[] = {"Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
                                          "Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
                                          "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP"};
  const auto direction = static_cast<std::size_t>(cupti::read(r, copy::direction));
  ++counted_.copies;
  counted_.device_launched += cupti::read(r, copy::is_device_launched, lib_.version, std::uint8_t{0});
  add({time_of(cupti::read(r, copy::start)), time_of(cupti::read(r, copy::end)),
       cupti::read(r, copy::correlation_id), name_of(names[direction < std::size(names) ? direction : 0]),
       node_of(cupti::read(r, copy::graph_node_id)), bytes_of(cupti::read(r, copy::bytes)),
       stream_of(cupti::read(r, copy::device_id), cupti::read(r, copy::context_id),
                 cupti::read(r, copy::stream_id)),
       activity_kind::copy});
}

void decoder::add_memory(const std::uint8_t* r) {
  const memory_operation what = cupti::read(r, memory::operation);
  const std::uint64_t bytes = cupti::read(r, memory::bytes);
  if ((what != memory_operation::allocation && what != memory_operation::release) ||
      bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return;
  }
  const std::uint32_t kind = cupti::read(r, memory::kind);
  const auto change = static_cast<std::int64_t>(bytes);
  ++counted_.allocations;
  waiting_.memory_events.push_back({time_of(cupti::read(r, memory::timestamp)),
                                    what == memory_operation::allocation ? change : -change,
                                    kind != memory_pageable && kind != memory_pinned});
}

void decoder::add_overhead(const std::uint8_t* r) {
  const time_ns time = time_of(cupti::read(r, overhead::end)) - time_of(cupti::read(r, overhead::start));
  switch (cupti::read(r, overhead::what)) {
    case overhead_kind::runtime_triggered_module_loading:
    case overhead_kind::lazy_function_loading:
    case overhead_kind::driver_compiler:
      counted_.loading += std::max<time_ns>(time, 0);
      break;
    case overhead_kind::command_buffer_full:
      break;  // the engine's own wait
    default:
      counted_.overhead += std::max<time_ns>(time, 0);
  }
  std::free(cupti::read<void*>(r, overhead::data, lib_.version, nullptr));
}

void decoder::add(const activity& a) {
  read_[a.correlation % read_.size()] = a.correlation;
  counted_.without_end += a.begin != 0 && a.end == 0 ? 1U : 0U;
  // read() has made room.
  activity_columns& to = waiting_.activities;
  to.begin[rows_] = a.begin;
  to.end[rows_] = a.end;
  to.correlation[rows_] = a.correlation;
  to.name[rows_] = a.name;
  to.node[rows_] = a.node;
  to.detail[rows_] = a.detail;
  to.stream[rows_] = a.stream;
  to.kind[rows_] = a.kind;
  ++rows_;
}

// Texts come again at the same address mostly, and with another text there when a module was unloaded.
std::uint32_t decoder::name_of(const char* text) {
  if (text == nullptr) {
    text = "";
  }
  known_name& known = names_[(reinterpret_cast<std::uintptr_t>(text) >> 3U) % names_.size()];
  if (known.at != text || std::strcmp(known.copy, text) != 0) {
    const std::uint32_t id = waiting_.strings.intern(text);
    known = {text, waiting_.strings[id].data(), id};  // the table's texts end with a null, and stay
  }
  return known.id;
}

std::uint32_t decoder::node_of(std::uint64_t id) {
  if (id == 0) {
    return none;
  }
  const auto known = nodes_.find(id);
  if (known != nodes_.end()) {
    return known->second;
  }
  const auto row = static_cast<std::uint32_t>(waiting_.graph_nodes.size());
  waiting_.graph_nodes.emplace_back().id = id;
  nodes_.emplace(id, row);
  return row;
}

std::uint16_t decoder::stream_of(std::uint32_t device, std::uint32_t context, std::uint32_t stream) {
  if (last_stream_index_ == narrow_none || last_stream_.device != device || last_stream_.context != context ||
      last_stream_.stream != stream) {
    const stream_info found{device, context, stream};
    last_stream_index_ = waiting_.intern_stream(found);
    last_stream_ = found;
  }
  return last_stream_index_;
}

std::uint32_t decoder::bytes_of(std::uint64_t bytes) {
  return bytes <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
             ? waiting_.intern_bytes(static_cast<std::int64_t>(bytes))
             : none;
}

}  // namespace varve::cupti

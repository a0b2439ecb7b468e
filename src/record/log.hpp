// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A thread's log: what its markers, calls and activities append, 16 bytes a slot, until a reader drains
// it. One writer (the thread), one reader at a time (under the recorder's lock), no lock between them.
#ifndef VARVE_RECORD_LOG_HPP
#define VARVE_RECORD_LOG_HPP

#include <varve/varve.h>
#include <varve/trace.hpp>

#include "record/clock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace varve::record {

/// Type of an event, in the upper four bits of its first slot's head. Unless noted the other 60 bits are
/// ticks.
enum class event : std::uint8_t {
  begin_phase,  ///< payload: packed label. One slot
  begin_layer,
  begin_op,
  begin_wide,  ///< a label that does not pack. Slot 2: name; index and kind
  end,         ///< payload: serial of the range
  next,        ///< ends the innermost range, begins a layer; payload: packed label
  reopened,    ///< a range that was open before this epoch. Payload: serial. Slot 2 as begin_wide
  epoch,       ///< events from here on belong to the epoch in the payload. Slot 2: next serial; thread id
  thread_end,
  adopt,       ///< a range of another thread becomes the innermost; payload: its token
  attribute,   ///< head: key. Payload: token. Slot 2: two values
  work,        ///< head: pipe and source. Payload: token. Slots 2, 3: the four counts
  call_begin,  ///< payload: see call_payload(). An alias's head is the correlation that it stands for
  call_end,    ///< payload: correlation, and whether the call was captured
  activity,    ///< payload: name. Slots 2-4: see host.cpp
  request      ///< payload: request id. Slot 2: name; index and whether it ends
};

/// Keys of attribute events beyond varve_attribute.
enum attribute_key : std::uint32_t {
  key_model = 0x100,
  key_sequence = 0x101,
  key_serves = 0x102,
  key_ended = 0x103  ///< value: the ticks at which another thread ended the range
};

/// Of work events: a called library tells it, not the engine.
constexpr std::uint64_t work_by_shapes = std::uint64_t{1} << 32U;

constexpr std::uint64_t call_captured = std::uint64_t{1} << 40U;
/// A call inside another: its correlation means the outer call.
constexpr std::uint64_t call_alias = std::uint64_t{1} << 41U;
constexpr std::uint64_t call_payload(call_kind kind, std::uint32_t correlation) noexcept {
  return static_cast<std::uint64_t>(kind) << 32U | correlation;
}

struct slot {
  std::uint64_t head;
  std::uint64_t payload;
};

constexpr slot make_slot(event type, std::uint64_t rest, std::uint64_t payload) noexcept {
  return {static_cast<std::uint64_t>(type) << 60U | (rest & 0x0FFF'FFFF'FFFF'FFFFU), payload};
}
constexpr event type_of(const slot& s) noexcept { return static_cast<event>(s.head >> 60U); }
constexpr std::uint64_t rest_of(const slot& s) noexcept { return s.head & 0x0FFF'FFFF'FFFF'FFFFU; }

/// Slots of the event that begins with `first`.
constexpr std::uint32_t slots_of(const slot& first) noexcept {
  switch (type_of(first)) {
    case event::begin_wide:
    case event::reopened:
    case event::epoch:
    case event::attribute:
    case event::request:
      return 2;
    case event::work:
      return 3;
    case event::activity:
      return 4;
    default:
      return 1;
  }
}

/// Kind of a reopened event that tells of an adoption; the others are varve_kind.
constexpr std::uint32_t reopened_adoption = 3;

/// Address and index of a label in one word, where both fit: user-space addresses have 48 bits.
constexpr std::uint64_t packed_no_index = 0xFFFF;
inline bool packs(const char* name, std::int32_t index) noexcept {
  return reinterpret_cast<std::uintptr_t>(name) >> 48U == 0 &&
         (static_cast<std::uint32_t>(index) < packed_no_index || index == no_index);
}
inline std::uint64_t pack(const char* name, std::int32_t index) noexcept {
  const std::uint64_t low = index == no_index ? packed_no_index : static_cast<std::uint32_t>(index);
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(name)) << 16U | low;
}
inline const char* packed_name(std::uint64_t word) noexcept {
  return reinterpret_cast<const char*>(word >> 16U);
}
inline std::int32_t packed_index(std::uint64_t word) noexcept {
  return (word & 0xFFFFU) == packed_no_index ? no_index : static_cast<std::int32_t>(word & 0xFFFFU);
}

/// The same of an event whose label does not pack.
inline const char* wide_name(const slot& s) noexcept { return reinterpret_cast<const char*>(s.head); }
inline std::int32_t wide_index(const slot& s) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(s.payload));
}

/// Names a range in the process: number of its log, serial in that log, and two flags for the marker.
constexpr std::uint64_t token_nvtx = 1;    // an NVTX range was pushed
constexpr std::uint64_t token_marked = 2;  // a stack entry exists
constexpr std::uint64_t make_token(std::uint32_t log, std::uint64_t serial) noexcept {
  return static_cast<std::uint64_t>(log) << 48U | (serial & 0x3FFF'FFFF'FFFFU) << 2U | token_marked;
}
constexpr std::uint32_t token_log(std::uint64_t token) noexcept {
  return static_cast<std::uint32_t>(token >> 48U);
}
constexpr std::uint64_t token_serial(std::uint64_t token) noexcept { return token >> 2U & 0x3FFF'FFFF'FFFFU; }

struct chunk {
  static constexpr std::size_t bytes = 32768;
  static constexpr std::uint32_t capacity = (bytes - 64) / sizeof(slot);

  std::atomic<std::uint32_t> size{0};  // slots written; the reader may read these
  std::atomic<chunk*> next{nullptr};   // set when the writer has moved on
  alignas(64) slot slots[capacity];
};
static_assert(sizeof(chunk) == chunk::bytes);

/// A step of a thread's label path.
struct open_range {
  std::uint64_t serial;  // the steps of one adopt() share one
  std::uint64_t origin;  // token of the adopted range; 0: a range of this thread
  const char* name;
  std::int32_t index;
  std::int16_t kind;  // varve_kind
  bool streamed;      // a pass that events stand around: span_source
};

class thread_log {
 public:
  /// Deeper ranges are dropped and counted.
  static constexpr std::uint32_t max_depth = 512;

  /// Begins a range: its token, or 0 when it was dropped. `recording`: whether to write an event.
  std::uint64_t push(int kind, const char* name, std::int32_t index, bool recording) noexcept;
  void pop(std::uint64_t token, bool recording) noexcept;
  /// Ends range `token` and begins a layer with one clock read.
  std::uint64_t next(std::uint64_t token, const char* name, std::int32_t index, bool recording) noexcept;
  std::uint64_t adopt(const varve_handoff_t& where, bool recording) noexcept;
  /// Notes that events stand around the pass: its end tells span_source. False when it is no open pass of
  /// this thread.
  bool mark_streamed(std::uint64_t token) noexcept;
  /// Appends `count` slots, and keeps `then` more free for append_kept(); or counts their loss.
  bool append(const slot* slots, std::uint32_t count, std::uint32_t then = 0) noexcept;
  void append_kept(const slot& s) noexcept;
  /// The correlation `id` means the outer call `outer`.
  void append_alias(std::uint32_t id, std::uint32_t outer) noexcept;
  /// The thread is ending: closes what it left open.
  void end_thread(bool recording) noexcept;

  [[nodiscard]] const open_range* stack() const noexcept { return stack_; }
  [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
  /// Token of the innermost range, or 0.
  [[nodiscard]] std::uint64_t innermost() const noexcept;

  /// What the thread counts and the reader collects.
  struct counts {
    std::atomic<std::uint64_t> dropped_ranges{0};
    std::atomic<std::uint64_t> deep_ranges{0};
    std::atomic<std::uint64_t> dropped_events{0};
    std::atomic<std::uint64_t> dropped_aliases{0};
    std::atomic<std::uint64_t> foreign_ends{0};
    std::atomic<std::uint64_t> failed_work{0};
  } lost;
  static void count(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // one writer
  }

 private:
  friend class log_registry;
  friend class log_cursor;
  friend double measure_marker_ns();

  bool ready(std::uint32_t slots) noexcept;
  bool enter_epoch() noexcept;
  bool refill(std::uint32_t slots) noexcept;
  void write_one(const slot& s) noexcept;
  void write(const slot* slots, std::uint32_t count) noexcept;
  void write_label(event packed, std::uint64_t ticks, const char* name, std::int32_t index,
                   int kind) noexcept;
  std::uint64_t opened(const char* name, std::int32_t index, int kind) noexcept;

  // The writer's side.
  slot* cursor_ = nullptr;
  slot* limit_ = nullptr;  // end of the chunk less the slots kept for the ends of what is open
  std::uint64_t epoch_ = 0;
  std::uint64_t serial_ = 1;
  std::uint32_t depth_ = 0;
  std::uint32_t open_calls_ = 0;
  std::uint32_t number_ = 0;
  std::uint64_t thread_id_ = 0;
  open_range* stack_ = nullptr;
  chunk* chunk_ = nullptr;

  // The reader's side.
  alignas(64) std::atomic<chunk*> first_{nullptr};
  std::uint32_t read_ = 0;  // slots of the first chunk that were read
};

/// The session that events belong to; sessions are numbered from 1. 0: none has been.
extern std::atomic<std::uint64_t> current_epoch;

/// Chunks, up to a cap that a session sets. Their pages are touched when it is set, never on a marker's path.
class chunk_pool {
 public:
  void open(std::size_t bytes);
  /// Frees all chunks that no log holds.
  void close() noexcept;
  /// A free chunk, or nullptr. Wakes the reader when few are left.
  chunk* take() noexcept;
  void give(chunk* c) noexcept;
  /// Around a fork.
  void lock() noexcept;
  void unlock() noexcept;
};
extern chunk_pool& pool;

/// Asks for a drain soon. Cheap when one was asked for already.
void wake_reader() noexcept;

}  // namespace varve::record

#endif  // VARVE_RECORD_LOG_HPP

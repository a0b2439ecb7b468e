// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a session has drained so far: a trace whose times are still ticks.
#ifndef VARVE_RECORD_STORE_HPP
#define VARVE_RECORD_STORE_HPP

#include <varve/trace.hpp>

#include "record/alias_table.hpp"
#include "record/log.hpp"
#include "record/range_counter.hpp"
#include "record/recording.hpp"
#include "record/registry.hpp"
#include "record/span_source.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace varve::record {

class cut;
class row_copy;

/// Of a trace: all streams that its table has no room for.
inline constexpr std::uint16_t other_streams = 65534;

/// Bytes that a new label takes in the table and its index, about.
inline constexpr std::size_t bytes_of_label = 96;

/// The same of a call's row in its columns, and of an activity's.
inline constexpr std::size_t bytes_of_call = 28;
inline constexpr std::size_t bytes_of_activity = 35;

/// The same of a text, beside its own bytes, and of a shape or a size, in all tables of a source and its
/// store.
inline constexpr std::size_t bytes_of_text = 288;
inline constexpr std::size_t bytes_of_shape = 256;

/// The same of a stream.
inline constexpr std::size_t bytes_of_stream = 192;

/// The same of a node of a graph, in all tables of a source and its store.
inline constexpr std::size_t bytes_of_node = 288;

/// The same of an entry in a table of requests, or of captured ranges.
inline constexpr std::size_t bytes_of_request = 48;

/// Not thread safe: the session's lock guards it.
class store {
 public:
  /// Keeps the events of session `epoch`, which began at `begin`, in about `memory` bytes at most.
  store(std::uint64_t epoch, std::uint64_t begin, std::size_t memory);
  /// The session begins later than was thought; nothing was read so far.
  void begin_at(std::uint64_t ticks) noexcept { begin_ = session_begin_ = ticks; }
  [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }
  [[nodiscard]] time_ns begin_of_rest(const clock_mapping& clock) const {
    return taken_until_.value_or(clock(begin_));
  }

  /// Reads what the logs held at `until` ticks. A thread that marks faster than this reads does not hold it
  /// up. `last`: recording ended then, and nothing will be read later. This and what follows throw nothing:
  /// where the process has no memory, the store is full.
  void drain(std::uint64_t until, bool last = false) noexcept;
  /// Names seen so far may be overwritten: their module is about to go.
  void forget_addresses() { names_.clear(); }
  /// Takes the activities that a source of devices has handed over, with those rows of its tables that are
  /// new. `batch` keeps the tables.
  void take_over(trace& batch) noexcept;
  /// The tables of the next batch begin anew.
  void renew_tables() noexcept;
  /// The same of spans. Those of passes that begin after the last drain's time are kept for the next call.
  void take_over(const std::vector<device_span>& spans) noexcept;
  /// The same of counts.
  void take_over(const std::vector<counted_range>& counts) noexcept;
  /// Whether there was no memory for something: nothing more is kept then.
  [[nodiscard]] bool full() const noexcept { return full_; }
  /// Forgets what only records of before the last call would need. To be called once the sources have handed
  /// over what they had.
  void retire() noexcept;
  [[nodiscard]] recording_size size() const noexcept { return {used_, aliases_.bytes(), retired_}; }
  /// The trace until `end` ticks, to which it was drained, in nanoseconds; what is open ends there and says
  /// so.
  [[nodiscard]] trace copy(const clock_mapping& clock, std::uint64_t end) const;
  [[nodiscard]] trace take(const clock_mapping& clock, std::uint64_t end);
  /// What is finished by then, as a trace of its own, and forgets it: what it keeps begins where that ends.
  /// `awaited`: tokens of passes that a source will tell more of; `settling`: as cut_options has it. To be
  /// called after renew_tables(). Throws only std::bad_alloc, and then nothing has changed.
  [[nodiscard]] trace take_finished(const clock_mapping& clock, std::uint64_t end,
                                    const std::vector<std::uint64_t>& awaited, time_ns settling);
  /// Ranges, calls and activities kept.
  [[nodiscard]] std::size_t records() const noexcept {
    return t_.ranges.size() + t_.calls.size() + t_.activities.size();
  }
  /// What the logs and this store have lost since the session began.
  [[nodiscard]] std::vector<loss> losses() const;
  /// What explains some of them.
  [[nodiscard]] std::vector<loss> reasons() const;

 private:
  struct open_entry {
    std::uint64_t serial;
    std::uint32_t range;  // none when it was not kept
    std::uint32_t label;
    bool adopted;
  };
  struct request_state {
    std::uint32_t range;
    bool open;
  };
  /// In place of the index of a range that was taken.
  static constexpr std::uint32_t taken = none - 1;
  struct node_rows {
    std::uint64_t version;  // that was seen last,
    std::uint32_t row;      // and its row
    std::uint32_t newest;   // row; captures_ tells of the older ones
  };
  struct capture {
    std::uint32_t range;  // of whose work the row may carry a part, or none
    std::uint32_t part;   // which
    std::uint32_t older;  // row of the same node, or none
  };
  struct log_counts {
    std::uint64_t dropped_ranges = 0;
    std::uint64_t deep_ranges = 0;
    std::uint64_t dropped_events = 0;
    std::uint64_t dropped_aliases = 0;
    std::uint64_t foreign_ends = 0;
    std::uint64_t failed_work = 0;
  };
  struct log_state {
    bool current = false;  // past the epoch event of this session
    bool reading = false;  // by a drain_log() that has not returned
    bool starved = false;  // there was no memory to follow what the log tells of this session
    std::uint16_t thread = narrow_none;
    std::uint64_t first_serial = 0;
    std::uint64_t next_serial = 0;
    std::vector<std::uint32_t> ranges;  // by serial − first_serial; ends where memory ran out
    std::vector<std::pair<std::uint64_t, std::uint32_t>> old;  // reopened ranges by serial
    std::vector<open_entry> stack;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> calls;  // open ones: correlation, call
    log_counts before;                                           // the session
  };

  /// Work declared for a range that nodes were captured in.
  struct captured_work {
    work_source by = work_source::description;
    std::vector<work> declared;          // a node carries one
    std::vector<std::uint64_t> nodes{};  // that were captured in it, as far as they were met, in order
  };

  /// What is not kept for lack of memory.
  enum lost_kind : std::size_t { lost_ranges, lost_calls, lost_activities, lost_details, lost_kinds };

  static log_counts read_counts(thread_log& log) noexcept;
  log_state& state(std::uint32_t number);
  bool drain_log(std::uint32_t number, std::uint64_t until_serial) noexcept;
  bool is_due(const slot* e) noexcept;
  bool reach(std::uint64_t token) noexcept;
  void handle(log_state& s, const slot* e) noexcept;
  void enter_epoch(log_state& s, const slot* e);
  void add(log_state& s, const slot* e);
  void add_device_activity(const trace& batch, std::size_t i);
  template <class Told, class Add>
  void take_told(const std::vector<Told>& told, std::uint64_t Told::*token, std::vector<Told>& early,
                 const Add& add) noexcept;
  std::uint16_t stream_of(const stream_info& stream);
  /// There was no memory: rows that were begun are taken back, and nothing more is kept.
  void starve() noexcept;
  void lose(const slot* e) noexcept;
  label_node step_of(range_kind kind, const char* name, std::int32_t index);
  void count_serial(log_state& s, std::uint32_t range, bool is_new) noexcept;
  std::uint32_t open(log_state& s, const label_node& step, std::uint64_t ticks, std::uint64_t serial);
  void begin(log_state& s, const label_node& step, std::uint64_t ticks);
  void end_innermost(log_state& s, std::uint64_t ticks);
  void end(log_state& s, std::uint64_t serial, std::uint64_t ticks);
  void reopen(log_state& s, const slot* e);
  void adopt(log_state& s, std::uint64_t token);
  void add_alias(const log_state& s, std::uint32_t id, std::uint32_t outer);
  void attribute(const slot* e);
  void add_work(const slot* e);
  void add_activity(const slot* e);
  void add_request(const slot* e, std::uint64_t ticks);
  void end_request(std::uint64_t id, std::uint64_t ticks);
  std::uint32_t add_range(const range& r);
  /// Of the range with this token: its index, or none when it was not kept. Nothing when it is not of this
  /// session.
  std::optional<std::uint32_t> find_range(std::uint64_t token);
  [[nodiscard]] std::optional<std::uint32_t> known_range(std::uint64_t token) const;
  /// The same where the range should be of this session: counted when it is not.
  std::uint32_t range_of(std::uint64_t token);
  /// The node as a launch with this correlation ran it.
  std::uint32_t node_of(std::uint64_t id, std::uint32_t correlation);
  [[nodiscard]] std::uint32_t row_like(const graph_node& n, const capture& c) const;
  [[nodiscard]] bool carry_the_same(const capture& a, const capture& b) const noexcept;
  bool find_part(std::vector<std::uint64_t>& nodes, std::uint64_t origin, std::uint32_t& part);
  bool place_in_capture(std::uint64_t token, std::uint64_t origin, capture& c, graph_node& n);
  std::uint32_t name_of(const char* text);
  [[nodiscard]] bool keep(lost_kind what, std::size_t bytes);
  [[nodiscard]] bool has_room(std::size_t bytes) noexcept;
  void resolve_aliases(std::vector<std::uint32_t>& correlations, std::size_t first) const;
  void finish(trace& t, const clock_mapping& clock, std::uint64_t end) const;
  void close(trace& t, std::uint64_t end) const;
  void convert(trace& t, const clock_mapping& clock) const;
  void add_spans(trace& t, const clock_mapping& clock) const;
  void add_devices(trace& t, const clock_mapping& clock) const;
  static time_ns steps_at(time_ns at, const trace& t, const clock_mapping& clock) noexcept;
  static void settle(trace& t, const clock_mapping& clock, std::size_t first);
  static void remove_outside(trace& t, std::size_t first);
  void share_captured_work(trace& t) const;
  /// By range, of those in `nodes`, which tells how many nodes were captured in each.
  [[nodiscard]] std::unordered_map<std::uint32_t, captured_work> captured_work_of(
      const trace& t, const std::unordered_map<std::uint32_t, std::size_t>& nodes) const;
  struct remainder;
  [[nodiscard]] bool anything_over() const noexcept;
  void note_holder(const clock_mapping& clock, std::uint64_t end);
  [[nodiscard]] std::vector<std::uint32_t> held(const std::vector<std::uint64_t>& awaited) const;
  [[nodiscard]] remainder rest_of_cut(const cut& c, const trace& all, const clock_mapping& clock) const;
  void keep_services(remainder& rest, const row_copy& copy, const cut& c, const trace& all) const;
  void keep_captures(remainder& rest, row_copy& copy, const cut& c) const;
  void keep_logs(remainder& rest, row_copy& copy, const cut& c) const;
  void become(remainder&& rest) noexcept;

  std::uint64_t epoch_;
  std::uint64_t begin_;
  std::uint64_t session_begin_;
  std::optional<time_ns> taken_until_{};
  time_ns least_ =
      0;  // nothing that ran on the host is before that, whatever the clock's rate is found to be
  std::uint64_t until_ = 0;  // was read, or is being read
  bool last_ = false;
  std::size_t memory_;
  std::size_t used_ = 0;
  trace t_;
  std::deque<log_state> logs_;  // by number − 1; a deque, since reading one log may add another
  log_state unknown_;           // of all logs that there was no memory for, when nothing is read later
  std::unordered_map<const char*, std::uint32_t> names_;
  std::unordered_map<std::uint64_t, std::uint16_t> streams_;  // of host devices, by device and stream
  std::unordered_map<std::uint64_t, node_rows> nodes_;        // by id
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>>
      carriers_;  // by captured range, nodes that may have parts of its work
  std::unordered_map<std::uint64_t, captured_work>
      taken_captures_;  // by token, of ranges that are not kept any more and that nodes were captured in
  std::vector<std::uint32_t> last_works_;    // by range, the last of its rows in works
  std::vector<std::uint32_t> works_before_;  // of each of these, the one before
  alias_table aliases_;                      // of correlations
  // Of a source of devices: activities whose times are nanoseconds, and what its tables' rows are here.
  activity_columns device_activities_;
  std::size_t unresolved_ = 0;  // from this one on, aliases of their correlations may be to come
  std::vector<std::uint32_t> device_names_;
  std::vector<std::uint32_t> device_shapes_;
  std::vector<std::uint32_t> device_bytes_;
  std::vector<std::uint16_t> device_streams_;
  struct kept_span {
    std::uint64_t ticks;
    event_span span;  // from that moment
  };
  std::vector<kept_span> spans_;
  std::vector<device_span> early_spans_;     // of passes that begin after what was read
  std::vector<counted_range> early_counts_;  // the same
  std::vector<capture> captures_;            // of each node
  std::unordered_map<std::uint64_t, request_state> requests_;
  std::unordered_map<std::uint64_t, std::uint64_t>
      early_ends_;  // of requests whose begin was not read so far
  std::unordered_multimap<std::uint64_t, std::uint32_t>
      early_links_;  // the same, with the pass that serves them
  std::unordered_map<std::uint32_t, std::uint64_t> ends_elsewhere_;  // of ranges that other threads ended
  bool full_ = false;
  std::uint32_t retired_ = 0;
  std::array<std::uint64_t, lost_kinds> over_memory_{};
  std::uint64_t starved_ = 0;  // times that there was no memory
  std::uint64_t streamless_ = 0;
  std::uint64_t unknown_ranges_ = 0;
  std::uint64_t unknown_requests_ = 0;  // beside those in early_ends_
  std::uint64_t ended_open_ = 0;
  std::uint64_t refused_threads_ = 0;
  std::uint64_t late_ = 0;     // activities of calls that had been taken
  std::uint64_t held_up_ = 0;  // takes, by an open range around passes,
  std::string holder_;         // which is this
};

}  // namespace varve::record

#endif  // VARVE_RECORD_STORE_HPP

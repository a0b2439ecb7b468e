// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/store.hpp"

#include "record/host.hpp"

#include <algorithm>
#include <string_view>

namespace varve::record {

store::store(std::uint64_t epoch, std::uint64_t begin, std::size_t memory)
    : epoch_{epoch}, begin_{begin}, session_begin_{begin}, memory_{memory} {
  const std::uint32_t logs = registry.size();
  for (std::uint32_t number = 1; number <= logs; ++number) {
    state(number).before = read_counts(*registry.find(number));
  }
}

store::log_counts store::read_counts(thread_log& log) noexcept {
  return {log.lost.dropped_ranges,  log.lost.deep_ranges,  log.lost.dropped_events,
          log.lost.dropped_aliases, log.lost.foreign_ends, log.lost.failed_work};
}

store::log_state& store::state(std::uint32_t number) {
  if (logs_.size() < number) {
    logs_.resize(number);
  }
  return logs_[number - 1];
}

void store::drain(std::uint64_t until, bool last) noexcept {
  until_ = std::max(until_, until);
  last_ = last;
  refused_threads_ += registry.take_refused();
  const std::uint32_t logs = registry.size();
  try {
    state(std::max(logs, 1U));
  } catch (...) {
    starve();  // what the newest threads tell waits in their logs
  }
  for (std::uint32_t number = 1; number <= logs && (last || number <= logs_.size()); ++number) {
    drain_log(number, UINT64_MAX);
  }
  // Aliases of what had been handed over are known now; of what comes from here on they may be to come.
  resolve_aliases(device_activities_.correlation, unresolved_);
  unresolved_ = device_activities_.size();
}

// Reads a log to its end, to the first event that is not due, or until the range with serial `until_serial`
// is known. Returns whether nothing is left that is not due.
bool store::drain_log(std::uint32_t number, std::uint64_t until_serial) noexcept {
  thread_log* const log = registry.find(number);
  if (log == nullptr) {
    return true;
  }
  log_state& s = number <= logs_.size() ? logs_[number - 1] : unknown_;
  s.reading = true;
  bool due = true;
  log_cursor cursor{*log};
  while (const slot* e = until_serial >= s.next_serial ? cursor.next() : nullptr) {
    due = is_due(e);
    if (!due) {
      break;
    }
    handle(s, e);
    cursor.advance(slots_of(*e));
  }
  s.reading = false;
  return due;
}

// Whether the event is of the time until which is read. Those without a time of their own wait for the range
// that they speak of: a thread may take over, after that time, what another began after it.
bool store::is_due(const slot* e) noexcept {
  switch (type_of(*e)) {
    case event::epoch:
      return true;
    case event::adopt:
    case event::attribute:
    case event::work:
      return reach(e->payload);
    case event::reopened:
      return e[1].payload >> 32U != reopened_adoption || reach(e[1].head);
    case event::activity:
      // A time in the future holds nothing up. What was reported before the end is kept whole.
      return last_ || e[1].payload <= until_ || e[1].payload > now();
    default:
      return rest_of(*e) <= until_;
  }
}

// Reads on in another thread's log as far as the range with this token, which was begun before its token was
// handed on. False when it was begun after the time until which is read.
bool store::reach(std::uint64_t token) noexcept {
  const std::uint32_t number = token_log(token);
  if (number == 0 || (number > logs_.size() && registry.find(number) == nullptr)) {
    return true;
  }
  try {
    const log_state& s = state(number);
    return s.reading || token_serial(token) < s.next_serial || drain_log(number, token_serial(token));
  } catch (...) {
    starve();
    return true;
  }
}

void store::handle(log_state& s, const slot* e) noexcept {
  try {
    add(s, e);
  } catch (...) {
    starve();
    lose(e);
    while (!s.calls.empty() && s.calls.back().second >= t_.calls.size()) {
      s.calls.pop_back();
    }
  }
}

// A range's begin is never left halfway: what its entry on the stack takes is taken before.
void store::enter_epoch(log_state& s, const slot* e) {
  s.current = false;
  s.starved = e->payload == epoch_;
  if (!s.starved || &s == &unknown_) {
    return;
  }
  s.stack.reserve(thread_log::max_depth);
  s.thread = t_.intern_thread(e[1].payload);
  s.starved = false;
  s.current = true;
  if (s.next_serial == 0) {
    s.first_serial = e[1].head;
    s.next_serial = e[1].head;
  }
  while (s.next_serial < e[1].head) {  // a log that another thread took over goes on with later serials
    count_serial(s, none, false);
  }
}

void store::add(log_state& s, const slot* e) {
  const event type = type_of(*e);
  const std::uint64_t ticks = rest_of(*e);
  if (type == event::epoch) {
    enter_epoch(s, e);
    return;
  }
  if (!s.current) {
    if (s.starved) {
      lose(e);
    }
    return;  // else written while a former session was stopping
  }
  switch (type) {
    case event::begin_phase:
    case event::begin_layer:
    case event::begin_op:
      begin(s, step_of(static_cast<range_kind>(type), packed_name(e->payload), packed_index(e->payload)),
            ticks);
      break;
    case event::begin_wide:
      if (e->payload != 0) {
        end_innermost(s, ticks);
      }
      begin(s, step_of(static_cast<range_kind>(e[1].payload >> 32U), wide_name(e[1]), wide_index(e[1])),
            ticks);
      break;
    case event::next:
      end_innermost(s, ticks);
      begin(s, step_of(range_kind::layer, packed_name(e->payload), packed_index(e->payload)), ticks);
      break;
    case event::end:
      end(s, e->payload, ticks);
      break;
    case event::reopened:
      reopen(s, e);
      break;
    case event::thread_end:
      for (; !s.stack.empty(); s.stack.pop_back()) {
        if (!s.stack.back().adopted && s.stack.back().range != none) {
          t_.ranges[s.stack.back().range].end = static_cast<time_ns>(ticks);
          const bool ended = ends_elsewhere_.find(s.stack.back().range) != ends_elsewhere_.end();
          t_.ranges[s.stack.back().range].clipped_end = !ended;
          ended_open_ += ended ? 0U : 1U;
        }
      }
      s.calls.clear();
      break;
    case event::adopt:
      adopt(s, e->payload);
      break;
    case event::attribute:
      attribute(e);
      break;
    case event::work:
      add_work(e);
      break;
    case event::call_begin:
      if ((e->payload & call_alias) != 0) {
        add_alias(s, static_cast<std::uint32_t>(e->payload), static_cast<std::uint32_t>(ticks));
      } else if (keep(lost_calls, bytes_of_call)) {
        call c;
        c.begin = static_cast<time_ns>(ticks);
        c.correlation = static_cast<std::uint32_t>(e->payload);
        c.kind = static_cast<call_kind>(e->payload >> 32U & 0xFFU);
        c.captured = (e->payload & call_captured) != 0;
        c.range = s.stack.empty() ? none : s.stack.back().range;
        c.thread = s.thread;
        s.calls.emplace_back(c.correlation, static_cast<std::uint32_t>(t_.calls.size()));
        t_.add_call(c);
      }
      break;
    case event::call_end:
      for (auto c = s.calls.rbegin(); c != s.calls.rend(); ++c) {
        if (c->first == static_cast<std::uint32_t>(e->payload)) {
          t_.calls.end[c->second] = static_cast<time_ns>(ticks);
          t_.calls.captured[c->second] |= (e->payload & call_captured) != 0 ? 1U : 0U;
          s.calls.erase(std::next(c).base());
          break;
        }
      }
      break;
    case event::activity:
      add_activity(e);
      break;
    case event::request:
      add_request(e, ticks);
      break;
    case event::epoch:
      break;
  }
}

// Of a call that was not kept, its work is not looked for.
void store::add_alias(const log_state& s, std::uint32_t id, std::uint32_t outer) {
  if (!s.calls.empty() && s.calls.back().first == outer &&
      (aliases_.has_page(id) || keep(lost_details, alias_table::bytes_of_page))) {
    aliases_.set(id, outer);
  }
}

std::uint32_t store::name_of(const char* text) {
  const auto known = names_.find(text);
  if (known != names_.end()) {
    return known->second;
  }
  const std::string_view copied = text != nullptr ? text : "";
  if (!has_room(bytes_of_label + copied.size())) {
    return none;
  }
  try {
    const std::uint32_t id = t_.strings.intern(copied);
    names_.emplace(text, id);
    return id;
  } catch (...) {
    starve();
    return none;
  }
}

label_node store::step_of(range_kind kind, const char* name, std::int32_t index) {
  return {none, name_of(name), index, kind};
}

std::uint32_t store::add_range(const range& r) {
  if (!keep(lost_ranges, sizeof(range) + sizeof(std::uint32_t))) {
    return none;
  }
  t_.ranges.push_back(r);
  return static_cast<std::uint32_t>(t_.ranges.size() - 1);
}

// Serials count on; which range each of them is, is remembered while there is memory for it. Of a new range
// that was kept, add_range() has taken it.
void store::count_serial(log_state& s, std::uint32_t range, bool is_new) noexcept {
  const std::size_t bytes = is_new && range != none ? 0 : sizeof range;
  if (s.first_serial + s.ranges.size() == s.next_serial && used_ + bytes <= memory_) {
    try {
      s.ranges.push_back(range);
      used_ += bytes;
    } catch (...) {
      starve();
    }
  }
  ++s.next_serial;
}

std::uint32_t store::open(log_state& s, const label_node& step, std::uint64_t ticks, std::uint64_t serial) {
  const open_entry* outer = s.stack.empty() ? nullptr : &s.stack.back();
  range r;
  r.begin = static_cast<time_ns>(ticks);
  r.parent = outer != nullptr ? outer->range : none;
  r.thread = s.thread;
  r.kind = step.kind;
  std::uint32_t index = none;
  if (step.name == none || full_ || used_ + sizeof r + sizeof index + bytes_of_label > memory_) {
    full_ = true;
    ++over_memory_[lost_ranges];
  } else {
    try {
      const std::size_t labels = t_.labels.size();
      r.label = t_.labels.intern({outer != nullptr ? outer->label : none, step.name, step.index, step.kind});
      used_ += t_.labels.size() != labels ? bytes_of_label : 0;
      index = add_range(r);
    } catch (...) {
      starve();
      ++over_memory_[lost_ranges];
    }
  }
  s.stack.push_back({serial, index, r.label, false});
  return index;
}

void store::begin(log_state& s, const label_node& step, std::uint64_t ticks) {
  count_serial(s, open(s, step, ticks, s.next_serial), true);
}

void store::end_innermost(log_state& s, std::uint64_t ticks) {
  if (!s.stack.empty()) {
    end(s, s.stack.back().serial, ticks);
  }
}

void store::end(log_state& s, std::uint64_t serial, std::uint64_t ticks) {
  const auto found = std::find_if(s.stack.rbegin(), s.stack.rend(),
                                  [&](const open_entry& entry) { return entry.serial == serial; });
  if (found == s.stack.rend()) {
    return;
  }
  if (!found->adopted && found->range != none) {
    t_.ranges[found->range].end = static_cast<time_ns>(ticks);
  }
  s.stack.erase(std::next(found).base());
}

// A range that was open before the session: it begins with the session.
void store::reopen(log_state& s, const slot* e) {
  const auto what = static_cast<std::uint32_t>(e[1].payload >> 32U);
  if (what == reopened_adoption) {
    const std::uint32_t r = range_of(e[1].head);
    s.stack.push_back({e->payload, r, r != none ? t_.ranges[r].label : none, true});
    return;
  }
  // Its serial is an old one: it takes none of this session's.
  const std::uint32_t r =
      open(s, step_of(static_cast<range_kind>(what), wide_name(e[1]), wide_index(e[1])), begin_, e->payload);
  if (r != none) {
    t_.ranges[r].clipped_begin = true;
  }
  s.old.emplace_back(e->payload, r);
}

// The adoption's serial means the range that it adopts: work declared for one is the other's.
void store::adopt(log_state& s, std::uint64_t token) {
  const std::uint32_t r = range_of(token);
  s.stack.push_back({s.next_serial, r, r != none ? t_.ranges[r].label : none, true});
  count_serial(s, r, false);
}

std::optional<std::uint32_t> store::find_range(std::uint64_t token) {
  reach(token);
  return known_range(token);
}

std::optional<std::uint32_t> store::known_range(std::uint64_t token) const {
  const std::uint32_t number = token_log(token);
  const std::uint64_t serial = token_serial(token);
  if (number == 0) {
    return none;
  }
  if (number > logs_.size()) {
    return std::nullopt;
  }
  const log_state& s = logs_[number - 1];
  if (serial >= s.first_serial && serial - s.first_serial < s.ranges.size()) {
    const std::uint32_t range = s.ranges[serial - s.first_serial];
    return range != taken ? std::optional{range} : std::nullopt;
  }
  if (serial >= s.first_serial && serial < s.next_serial) {
    return none;  // known, and not kept
  }
  const auto old = std::find_if(s.old.begin(), s.old.end(), [&](const auto& o) { return o.first == serial; });
  return old != s.old.end() ? std::optional{old->second} : std::nullopt;
}

std::uint32_t store::range_of(std::uint64_t token) {
  const std::optional<std::uint32_t> found = find_range(token);
  unknown_ranges_ += found ? 0U : 1U;
  return found.value_or(none);
}

}  // namespace varve::record

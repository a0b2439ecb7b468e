// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/own_reader.hpp"

#include "formats/pytorch/classify.hpp"
#include "formats/pytorch/number.hpp"
#include "formats/pytorch/own_values.hpp"

#include <algorithm>
#include <limits>

namespace varve {
inline namespace v0 {
namespace pytorch {

bool own_reader::numbering::add(std::uint32_t id) {
  if (id == none || (!ids_.empty() && id <= ids_.back())) {
    return false;
  }
  ids_.push_back(id);
  return true;
}

std::uint32_t own_reader::numbering::find(std::uint32_t id) const noexcept {
  if (id < ids_.size() && ids_[id] == id) {
    return id;
  }
  const auto found = std::lower_bound(ids_.begin(), ids_.end(), id);
  return found != ids_.end() && *found == id ? static_cast<std::uint32_t>(found - ids_.begin()) : none;
}

void own_reader::add(const event& e) {
  switch (e.kind) {
    case category::annotation:
    case category::operation:
    case category::overhead:
    case category::device_annotation: {
      bool is_operator = false;
      own::each_member(e.own,
                       [&](std::string_view key, std::string_view) { is_operator |= key == "operator"; });
      return is_operator ? add_operator(e) : add_range(e);
    }
    case category::call:
      return add_call(e);
    case category::kernel:
    case category::copy:
    case category::set:
      return add_activity(e);
    case category::instant:
      return add_memory(e);
    default:
      return;  // arrows, and names that the header has too
  }
}

void own_reader::expect(double times) {
  const auto all = [&](std::size_t so_far) {
    return static_cast<std::size_t>(static_cast<double>(so_far) * times * 1.05);
  };
  trace_.ranges.reserve(all(trace_.ranges.size()));
  trace_.calls.reserve(all(trace_.calls.size()));
  trace_.activities.reserve(all(trace_.activities.size()));
}

trace own_reader::finish(const std::string& path) {
  for (const request_link& link : requests_) {
    if (const std::uint32_t request = ranges_.find(link.request); request != none) {
      trace_.requests.push_back({request, link.pass});
    } else {
      losses_.add(lost::own_reference);
    }
  }
  const auto follow = [&](std::uint32_t& id) {
    const std::uint32_t range = ranges_.find(id);
    losses_.add(lost::own_reference, range == none && id != none ? 1 : 0);
    id = range;
  };
  for (event_span& s : trace_.event_spans) {
    follow(s.range);
  }
  for (range_count& c : trace_.counts) {
    follow(c.range);
  }
  for (earlier_service& s : trace_.earlier_services) {
    follow(s.request);
  }
  losses_.write(trace_, path);
  return std::move(trace_);
}

void own_reader::add_range(const event& e) {
  range r;
  std::uint32_t id = none;
  std::string_view begin;
  std::string_view end;
  std::string_view parent;
  std::string_view label;
  std::string_view thread;
  own::each_member(e.own, [&](std::string_view key, std::string_view value) {
    if (key == "id") {
      id = number_of(value, none);
    } else if (key == "kind") {
      r.kind = one_of(value, own::range_kinds, range_kind::op);
    } else if (key == "label") {
      label = value;
    } else if (key == "parent") {
      parent = value;
    } else if (key == "thread") {
      thread = value;
    } else if (key == "begin") {
      begin = value;
    } else if (key == "end") {
      end = value;
    } else if (key == "clipped begin") {
      r.clipped_begin = value == "true";
    } else if (key == "clipped end") {
      r.clipped_end = value == "true";
    } else if (key == "derived") {
      r.derived = value == "true";
    }
  });
  const auto when = interval_of(e, begin, end);
  if (!when) {
    return;
  }
  r.begin = when->begin;
  r.end = when->end;
  r.parent = reference(parent, ranges_);
  if (!ranges_.add(id)) {
    losses_.add(lost::own_order);
    return;
  }
  r.thread = narrow(thread, trace_.threads.size(), lost::no_thread);
  r.label = labels_[number_of(label, none)];
  losses_.add(lost::own_reference, r.label == none && !label.empty() ? 1 : 0);
  trace_.ranges.push_back(r);
  add_details(e.own, static_cast<std::uint32_t>(trace_.ranges.size() - 1));
}

void own_reader::add_details(std::string_view details, std::uint32_t range) {
  std::vector<std::string_view> cells;
  const auto cut = [&](std::string_view entry, std::size_t size) {
    cells.clear();
    own::each_element(entry, [&](std::string_view cell) { cells.push_back(cell); });
    cells.resize(size);
  };
  own::each_member(details, [&](std::string_view key, std::string_view value) {
    if (key == "model") {
      trace_.models.push_back({range, string_of(value)});
    } else if (key == "sequences") {
      own::each_element(value, [&](std::string_view entry) {
        cut(entry, 3);
        trace_.sequences.push_back({range, cells[0] == "1", number_of<std::uint32_t>(cells[1], 0),
                                    number_of<std::uint32_t>(cells[2], 0)});
      });
    } else if (key == "work") {
      own::each_element(value, [&](std::string_view entry) {
        cut(entry, 9);
        trace_.works.push_back(
            {range, work_of(cells, 0, 8), one_of(cells[7], own::work_sources, work_source::engine)});
      });
    } else if (key == "replayed work") {
      own::each_element(value, [&](std::string_view entry) {
        cut(entry, 9);
        trace_.path_works.push_back({range, labels_[number_of(cells[7], none)], work_of(cells, 0, 8)});
      });
    } else if (key == "requests") {
      own::each_element(value, [&](std::string_view entry) {
        requests_.push_back({number_of(entry, none), range});
      });
    } else if (const auto* const name = std::find(own::attributes.begin(), own::attributes.end(), key);
               name != own::attributes.end()) {
      trace_.attributes.push_back({range, static_cast<varve_attribute>(name - own::attributes.begin()),
                                   number_of<std::int64_t>(value, 0)});
    }
  });
}

void own_reader::add_operator(const event& e) {
  std::uint32_t id = none;
  std::uint32_t kind = none;
  std::uint32_t range = none;
  std::string_view begin;
  std::string_view end;
  std::string_view parent;
  std::string_view thread;
  own::each_member(e.own, [&](std::string_view key, std::string_view value) {
    if (key == "id") {
      id = number_of(value, none);
    } else if (key == "operator") {
      kind = number_of(value, none);
    } else if (key == "range") {
      range = reference(value, ranges_);
    } else if (key == "parent") {
      parent = value;
    } else if (key == "thread") {
      thread = value;
    } else if (key == "begin") {
      begin = value;
    } else if (key == "end") {
      end = value;
    }
  });
  const auto when = interval_of(e, begin, end);
  if (!when) {
    return;
  }
  const std::uint32_t around = reference(parent, operators_);
  if (kind >= trace_.operator_kinds.size() || !operators_.add(id)) {
    losses_.add(lost::own_order);
    return;
  }
  operator_columns& o = trace_.operators;
  o.begin.push_back(when->begin);
  o.end.push_back(when->end);
  o.kind.push_back(kind);
  o.parent.push_back(around);
  o.range.push_back(range);
  o.thread.push_back(narrow(thread, trace_.threads.size(), lost::no_thread));
}

void own_reader::add_call(const event& e) {
  call c;
  std::uint32_t operation = none;
  std::string_view begin;
  std::string_view end;
  std::string_view kind;
  std::string_view thread;
  own::each_member(e.own, [&](std::string_view key, std::string_view value) {
    if (key == "kind") {
      kind = value;
    } else if (key == "thread") {
      thread = value;
    } else if (key == "range") {
      c.range = reference(value, ranges_);
    } else if (key == "operator") {
      operation = reference(value, operators_);
    } else if (key == "captured") {
      c.captured = value == "true";
    } else if (key == "begin") {
      begin = value;
    } else if (key == "end") {
      end = value;
    }
  });
  const auto when = interval_of(e, begin, end);
  if (!when) {
    return;
  }
  c.begin = when->begin;
  c.end = when->end;
  c.thread = narrow(thread, trace_.threads.size(), lost::no_thread);
  c.correlation = number_of<std::uint32_t>(e.correlation, 0);
  const std::uint32_t name = string_of(e.name);
  if (name != none && kinds_.size() <= name) {
    kinds_.resize(trace_.strings.size());
  }
  if (name != none && !kinds_[name].first) {
    kinds_[name] = {true, kind_of_call(trace_.strings[name])};
  }
  c.kind = one_of(kind, own::call_kinds, name != none ? kinds_[name].second : call_kind::other);
  trace_.add_call(c);
  if (call_names_) {
    trace_.call_names.push_back(name);
  }
  if (call_operators_) {
    trace_.operator_of_call.push_back(operation);
  }
}

void own_reader::add_activity(const event& e) {
  activity a;
  a.kind = e.kind == category::copy  ? activity_kind::copy
           : e.kind == category::set ? activity_kind::set
                                     : activity_kind::kernel;
  std::uint32_t operation = none;
  std::uint32_t range = none;
  std::string_view begin;
  std::string_view end;
  std::string_view stream;
  std::string_view static_memory;
  std::string_view about;
  own::each_member(e.own, [&](std::string_view key, std::string_view value) {
    if (key == "kind") {
      a.kind = one_of(value, own::activity_kinds, a.kind);
    } else if (key == "stream") {
      stream = value;
    } else if (key == "node") {
      a.node = number_of(value, none);
    } else if (key == "operator") {
      operation = reference(value, operators_);
    } else if (key == "range") {
      range = reference(value, ranges_);
    } else if (key == "static shared memory") {
      static_memory = value;
    } else if (key == "collective") {
      about = value;
    } else if (key == "begin") {
      begin = value;
    } else if (key == "end") {
      end = value;
    }
  });
  const auto when = interval_of(e, begin, end);
  if (!when) {
    return;
  }
  a.begin = when->begin;
  a.end = when->end;
  a.stream = narrow(stream, trace_.streams.size(), lost::no_stream);
  a.correlation = number_of<std::uint32_t>(e.correlation, 0);
  a.name = string_of(e.name);
  if (a.node != none && a.node >= trace_.graph_nodes.size()) {
    losses_.add(lost::own_reference);
    a.node = none;
  }
  if (a.kind == activity_kind::kernel) {
    a.detail = shape_of(e, static_memory);
  } else if (!e.bytes.empty()) {
    a.detail = trace_.intern_bytes(number_of<std::int64_t>(e.bytes, 0));
  }
  if (!about.empty()) {
    std::vector<std::string_view> cells;
    own::each_element(about, [&](std::string_view cell) { cells.push_back(cell); });
    cells.resize(4);
    trace_.collectives.push_back({static_cast<std::uint32_t>(trace_.activities.size()), string_of(cells[0]),
                                  number_of<std::int64_t>(cells[1], -1),
                                  number_of<std::int64_t>(cells[2], -1),
                                  number_of<std::uint32_t>(cells[3], 0)});
  }
  trace_.add_activity(a);
  if (activity_operators_) {
    trace_.operator_of_activity.push_back(operation);
  }
  if (activity_ranges_) {
    trace_.range_of_activity.push_back(range);
  }
}

void own_reader::add_memory(const event& e) {
  const auto at = time_of(e.begin);
  if (!at) {
    losses_.add(lost::invalid_memory);
    return;
  }
  trace_.memory_events.push_back({*at, number_of<std::int64_t>(e.bytes, 0), e.device_type == "1"});
}

std::optional<own_reader::interval> own_reader::interval_of(const event& e, std::string_view begin,
                                                            std::string_view end) {
  if (!begin.empty() || !end.empty()) {
    return interval{own::clamp(number_of<time_ns>(begin, 0)), own::clamp(number_of<time_ns>(end, 0))};
  }
  const auto at = time_of(e.begin);
  const number duration = scaled(e.duration, 3);
  if (!at || duration.state != number_state::good || duration.value < 0 ||
      (*at >= 0 && duration.value > own::most - *at)) {
    losses_.add(duration.state == number_state::good && duration.value < 0 ? lost::negative_duration
                                                                           : lost::invalid_time);
    return std::nullopt;
  }
  return interval{*at, own::clamp(*at + duration.value)};
}

std::optional<time_ns> own_reader::time_of(std::string_view token) const noexcept {
  const number n = scaled(token, 3);
  const bool fits = n.value <= own::most - base_ && n.value >= -own::most - base_;
  return n.state == number_state::good && fits ? std::optional{base_ + n.value} : std::nullopt;
}

std::string own_reader::text_of(std::string_view token) {
  if (!input::is_string(token)) {
    losses_.add(lost::no_name, token.empty() ? 0 : 1);
    return {};
  }
  bool damaged = false;
  const std::string text = input::unescape(input::inside(token), damaged);
  losses_.add(lost::damaged_name, damaged ? 1 : 0);
  losses_.add(lost::long_name, text.size() > own::longest_text ? 1 : 0);
  return own::clean(text);
}

std::uint32_t own_reader::string_of(std::string_view token) {
  if (!input::is_string(token)) {
    return none;
  }
  if (const auto known = strings_.find(token); known != strings_.end()) {
    return known->second;
  }
  const std::uint32_t id = trace_.strings.intern(text_of(token));
  strings_.emplace(token, id);
  return id;
}

std::uint32_t own_reader::shape_of(const event& e, std::string_view static_memory) {
  if (e.grid.is == extent::state::absent && e.block.is == extent::state::absent) {
    return none;
  }
  if (e.grid.is != extent::state::good || e.block.is != extent::state::good) {
    losses_.add(lost::invalid_shape);
    return none;
  }
  launch_shape shape;
  std::copy_n(e.grid.size, 3, shape.grid);
  std::copy_n(e.block.size, 3, shape.block);
  shape.registers = number_of<std::uint32_t>(e.registers, 0);
  shape.static_shared_memory = number_of<std::uint32_t>(static_memory, 0);
  const auto both = number_of<std::uint64_t>(e.shared_memory, 0);
  constexpr std::uint64_t widest = std::numeric_limits<std::uint32_t>::max();
  shape.dynamic_shared_memory = static_cast<std::uint32_t>(
      std::min(both - std::min<std::uint64_t>(both, shape.static_shared_memory), widest));
  return trace_.intern_shape(shape);
}

/// From the pipe on cells came later: files without them say nothing of them. The last one stands apart.
work own_reader::work_of(const std::vector<std::string_view>& cells, std::size_t from, std::size_t last) {
  const auto n = [&](std::size_t i) { return number_of<std::int64_t>(cells[from + i], 0); };
  return {n(0),
          n(1),
          n(2),
          n(3),
          one_of(cells[from + 4], own::pipes, math_pipe::unknown),
          n(5),
          n(6),
          number_of<std::int64_t>(cells[last], 0)};
}

std::uint32_t own_reader::reference(std::string_view token, const numbering& records) {
  const std::uint32_t id = number_of(token, none);
  const std::uint32_t index = id == none ? none : records.find(id);
  losses_.add(lost::own_reference, id != none && index == none ? 1 : 0);
  return index;
}

/// An index of a thread or stream; the last two numbers of its type have a meaning without a table.
std::uint16_t own_reader::narrow(std::string_view token, std::size_t size, lost otherwise) {
  constexpr std::uint16_t beyond_table = narrow_none - 1;
  const auto index = number_of<std::uint16_t>(token, narrow_none);
  if (index < size || index >= beyond_table) {
    losses_.add(otherwise, token.empty() ? 1 : 0);
    return index;
  }
  losses_.add(otherwise);
  return narrow_none;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/operators.hpp"

#include "formats/pytorch/number.hpp"
#include "formats/pytorch/operator_inputs.hpp"
#include "formats/pytorch/operator_work.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();

bool is_operation(const trace& t, std::uint32_t op) noexcept {
  return t.operator_kinds[t.operators.kind[op]].source == operator_source::operation;
}

/// values[index] = value, where the values before it that were never set are 0.
void put(std::vector<std::uint64_t>& values, std::size_t index, std::uint64_t value) {
  if (value != 0) {
    values.resize(index + 1);
    values[index] = value;
  }
}

/// The id of an operator, or 0. Profilers before 2024 gave calls and activities their own correlation as
/// "External id", which joins them to nothing.
std::uint64_t link_of(const event& e) noexcept {
  const std::uint64_t id = identifier(e.external).value_or(0);
  return id != identifier(e.correlation).value_or(0) ? id : 0;
}

}  // namespace

std::size_t operators::kind_hash::operator()(const kind_key& k) const noexcept {
  std::size_t h = k.name;
  for (const std::string_view text : {k.shapes, k.types, k.values}) {
    h = (h ^ std::hash<std::string_view>{}(text)) * 0x9E3779B97F4A7C15ULL;
  }
  return h;
}

bool operators::by_value(const trace& t, std::uint32_t name) {
  if (by_value_.size() <= name) {
    by_value_.resize(t.strings.size(), asked::not_yet);
  }
  asked& known = by_value_[name];
  if (known == asked::not_yet) {
    known = needs_values(t.strings[name]) ? asked::yes : asked::no;
  }
  return known == asked::yes;
}

std::uint32_t operators::kind_of(trace& t, operator_source source, const event& e, std::uint32_t name,
                                 loss_counts& losses) {
  // Values differ from call to call; few operators' work depends on them.
  const std::string_view values = by_value(t, name) ? e.values : std::string_view{};
  auto known = kinds_.find({name, source, e.shapes, e.types, values});
  if (known == kinds_.end()) {
    known =
        kinds_
            .emplace(kind_key{name, source, kept_.keep(e.shapes), kept_.keep(e.types), kept_.keep(values)},
                     static_cast<std::uint32_t>(t.operator_kinds.size()))
            .first;
    operator_kind kind;
    kind.name = name;
    kind.source = source;
    const auto inputs = read_inputs(e.shapes, e.types, e.values);
    losses.add(lost::invalid_inputs, inputs ? 0 : 1);
    if (inputs) {
      const std::string shapes = inputs->shape_text();
      kind.shapes = shapes.empty() ? none : t.strings.intern(shapes);
      kind.types = e.types.empty() ? none : t.strings.intern(e.types);
      kind.declared =
          source == operator_source::operation ? operator_work(t.strings[name], *inputs, losses) : work{};
    }
    if (inputs && source == operator_source::operation && joins_tensors(t.strings[name], *inputs)) {
      joins_.push_back({known->second, (*inputs)[0].listed});
    }
    t.operator_kinds.push_back(kind);
  }
  return known->second;
}

void operators::add(trace& t, operator_source source, const event& e, std::uint32_t name,
                    std::uint16_t thread, time_ns begin, time_ns end, loss_counts& losses) {
  operation o;
  o.begin = begin;
  o.end = end;
  o.external = identifier(e.external).value_or(0);
  o.order = static_cast<std::uint32_t>(whole(e.order, none).value_or(0));
  o.kind = kind_of(t, source, e, name, losses);
  o.thread = thread;
  if (const auto number = whole(e.sequence, any)) {
    o.sequence = static_cast<std::uint32_t>(sequences_.size());
    sequences_.push_back({none, *number, whole(e.forward_thread, any).value_or(0)});
  }
  count_ += source == operator_source::operation ? 1 : 0;
  all_.push_back(o);
}

void operators::add_call(std::size_t index, const event& e, std::uint32_t name) {
  call_names_.push_back(name);
  put(of_call_, index, link_of(e));
}

void operators::add_activity(std::size_t index, const event& e) { put(of_activity_, index, link_of(e)); }

void operators::add_memory(const event& e, time_ns at, loss_counts& losses) {
  const number bytes = scaled(e.bytes, 0);
  const auto device = whole(e.device_type, none);
  if (bytes.state != number_state::good || !device) {
    losses.add(lost::invalid_memory);
    return;
  }
  // As PyTorch numbers devices: 0 the CPU, 2 and 5 libraries on it.
  memory_.push_back({at, bytes.value, *device != 0 && *device != 2 && *device != 5});
}

void operators::tell_apart(const trace& t, const std::vector<std::uint32_t>& of_thread,
                           const std::vector<std::uint32_t>& of_activity) {
  const auto of = [](const std::vector<std::uint32_t>& processes, std::size_t i) {
    return i < processes.size() ? processes[i] : 0;
  };
  constexpr std::uint64_t limit = std::uint64_t{1} << 40U;  // ids from here on join nothing
  std::uint64_t span = 1;
  for (const operation& o : all_) {
    span = o.external < limit ? std::max(span, o.external + 1) : span;
    if (o.sequence != none) {  // so does autograd number
      sequences_[o.sequence].number ^= std::uint64_t{of(of_thread, o.thread)} << 40U;
    }
  }
  const auto move = [&](std::uint64_t& id, std::uint32_t process) {
    id = id == 0 || id >= span ? 0 : id + process * span;
  };
  for (operation& o : all_) {
    move(o.external, of(of_thread, o.thread));
  }
  for (std::size_t c = 0; c < of_call_.size(); ++c) {
    move(of_call_[c], of(of_thread, t.calls.thread[c]));
  }
  for (std::size_t a = 0; a < of_activity_.size(); ++a) {
    move(of_activity_[a], of(of_activity, a));
  }
}

void operators::write(trace& t, time_ns shift) {
  if (count_ == 0) {
    t.operator_kinds.clear();
    *this = {};
    return;
  }
  nest(t, shift);
  t.call_names = std::move(call_names_);
  t.operator_of_call.assign(t.calls.size(), none);
  t.operator_of_activity.assign(t.activities.size(), none);
  if (of_call_.empty() && of_activity_.empty()) {
    join_by_time(t);
  } else {
    join_by_id(t);
  }
  tell_joins(t, joins_);
  std::stable_sort(memory_.begin(), memory_.end(),
                   [](const memory_event& a, const memory_event& b) { return a.at < b.at; });
  for (memory_event& m : memory_) {
    m.at += shift;
  }
  t.memory_events = std::move(memory_);
}

/// An operator holds another that begins before its end and ends no later; both as PyTorch itself does it.
void operators::nest(trace& t, time_ns shift) {
  const auto before = [](const operation& a, const operation& b) {
    return a.thread != b.thread ? a.thread < b.thread
           : a.begin != b.begin ? a.begin < b.begin
           : a.end != b.end     ? a.end > b.end
                                : a.order < b.order;
  };
  if (!std::is_sorted(all_.begin(), all_.end(), before)) {  // profilers mostly write them so
    std::stable_sort(all_.begin(), all_.end(), before);
  }
  operator_columns& o = t.operators;
  o.begin.reserve(all_.size());
  o.end.reserve(all_.size());
  o.kind.reserve(all_.size());
  o.parent.reserve(all_.size());
  o.thread.reserve(all_.size());
  o.range.assign(all_.size(), none);
  std::vector<std::uint32_t> open;
  std::uint16_t thread = narrow_none;
  for (const operation& a : all_) {
    if (a.thread != thread || thread == narrow_none) {
      thread = a.thread;
      open.clear();
    }
    const time_ns begin = a.begin + shift;
    const time_ns end = a.end + shift;
    while (!open.empty() && (o.end[open.back()] <= begin || o.end[open.back()] < end)) {
      open.pop_back();
    }
    const auto index = static_cast<std::uint32_t>(o.size());
    o.begin.push_back(begin);
    o.end.push_back(end);
    o.kind.push_back(a.kind);
    o.parent.push_back(open.empty() ? none : open.back());
    o.thread.push_back(a.thread);
    open.push_back(index);
    if (a.sequence != none) {
      sequences_[a.sequence].index = index;
    }
  }
  std::sort(sequences_.begin(), sequences_.end(),
            [](const sequence& a, const sequence& b) { return a.index < b.index; });
  kinds_.clear();
}

void operators::join_by_id(trace& t) const {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ids;
  for (std::uint32_t i = 0; i < all_.size(); ++i) {
    if (all_[i].external != 0 && is_operation(t, i)) {
      ids.emplace_back(all_[i].external, i);
    }
  }
  if (!std::is_sorted(ids.begin(), ids.end())) {
    std::sort(ids.begin(), ids.end());
  }
  if (ids.empty()) {
    return;
  }
  // Numbers without many gaps, as profilers give them: looked up, not searched.
  const std::uint64_t first = ids.front().first;
  std::vector<std::uint32_t> by_id;
  if (ids.back().first - first < 4 * ids.size()) {
    by_id.assign(ids.back().first - first + 1, none);
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
      by_id[id->first - first] = id->second;  // of one number the first counts
    }
  }
  const auto join = [&](const std::vector<std::uint64_t>& links, std::vector<std::uint32_t>& to) {
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (!by_id.empty()) {
        to[i] = links[i] - first < by_id.size() ? by_id[links[i] - first] : none;
        continue;
      }
      const auto found = std::lower_bound(ids.begin(), ids.end(), std::pair{links[i], std::uint32_t{0}});
      if (links[i] != 0 && found != ids.end() && found->first == links[i]) {
        to[i] = found->second;
      }
    }
  };
  join(of_call_, t.operator_of_call);
  join(of_activity_, t.operator_of_activity);
}

/// A call belongs to the innermost operator on its thread that holds its middle, what it launched likewise.
void operators::join_by_time(trace& t) {
  const call_columns& c = t.calls;
  const operator_columns& o = t.operators;
  const auto twice_middle = [&](std::uint32_t call) { return c.begin[call] + c.end[call]; };
  std::vector<std::uint32_t> order(c.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return c.thread[a] != c.thread[b]           ? c.thread[a] < c.thread[b]
           : twice_middle(a) != twice_middle(b) ? twice_middle(a) < twice_middle(b)
                                                : a < b;
  });
  std::vector<std::uint32_t> open;
  std::uint16_t thread = narrow_none;
  std::uint32_t next = 0;
  for (const std::uint32_t call : order) {
    if (c.thread[call] == narrow_none) {
      break;  // the rest
    }
    if (c.thread[call] != thread) {
      thread = c.thread[call];
      open.clear();
      next = static_cast<std::uint32_t>(std::lower_bound(o.thread.begin(), o.thread.end(), thread) -
                                        o.thread.begin());
    }
    const time_ns at = twice_middle(call);
    for (; next < o.size() && o.thread[next] == thread && 2 * o.begin[next] <= at; ++next) {
      if (is_operation(t, next)) {
        open.push_back(next);
      }
    }
    // Of one that takes no time both ends count as inside.
    while (!open.empty() && 2 * o.end[open.back()] <= at &&
           !(2 * o.end[open.back()] == at && 2 * o.begin[open.back()] == at)) {
      open.pop_back();
    }
    t.operator_of_call[call] = open.empty() ? none : open.back();
  }

  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return c.correlation[a] != c.correlation[b] ? c.correlation[a] < c.correlation[b] : a > b;
  });
  for (std::size_t i = 0; i < t.activities.size(); ++i) {
    const std::uint32_t id = t.activities.correlation[i];
    const auto found =
        std::lower_bound(order.begin(), order.end(), id,
                         [&](std::uint32_t call, std::uint32_t key) { return c.correlation[call] < key; });
    if (id != 0 && found != order.end() && c.correlation[*found] == id) {
      t.operator_of_activity[i] = t.operator_of_call[*found];
    }
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

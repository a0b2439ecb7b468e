// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/trace.hpp>

#include <algorithm>

namespace varve {
inline namespace v0 {

namespace {

constexpr std::uint16_t overflow = 65534;

std::size_t mix(std::size_t seed, std::size_t value) noexcept {
  return (seed ^ value) * 0x9E3779B97F4A7C15ULL + (seed >> 29U);
}

/// A key made of the bytes of plain numbers, led by a letter for the table that it belongs to.
template <class... Numbers>
std::string key(char table, Numbers... numbers) {
  std::string out(1, table);
  (out.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return out;
}

/// The index of `record` in `table` under `k`, added if new and if the table has less than `limit`.
template <class Record>
std::uint32_t intern(std::unordered_map<std::string, std::uint32_t>& ids, std::vector<Record>& table,
                     std::string k, Record record, std::size_t limit = none) {
  if (const auto found = ids.find(k); found != ids.end()) {
    return found->second;
  }
  if (table.size() >= limit) {
    return static_cast<std::uint32_t>(limit);
  }
  table.push_back(std::move(record));
  const auto id = static_cast<std::uint32_t>(table.size() - 1);
  ids.emplace(std::move(k), id);
  return id;
}

}  // namespace

string_table::string_table(const string_table& other) : texts_{other.texts_} {
  for (std::uint32_t id = 0; id < texts_.size(); ++id) {
    ids_.emplace(texts_[id], id);
  }
}

string_table& string_table::operator=(const string_table& other) {
  if (this != &other) {
    *this = string_table{other};
  }
  return *this;
}

std::uint32_t string_table::intern(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) {
    return found->second;
  }
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(text);
  try {
    ids_.emplace(texts_.back(), id);
  } catch (...) {
    texts_.pop_back();  // nobody would find it, and the next one of it were another
    throw;
  }
  return id;
}

std::uint32_t string_table::find(std::string_view text) const noexcept {
  const auto found = ids_.find(text);
  return found != ids_.end() ? found->second : none;
}

std::string_view string_table::operator[](std::uint32_t id) const noexcept {
  return id < texts_.size() ? std::string_view{texts_[id]} : std::string_view{};
}

std::size_t label_table::hash::operator()(const label_node& node) const noexcept {
  return mix(mix(mix(node.parent, node.name), static_cast<std::uint32_t>(node.index)),
             static_cast<std::size_t>(node.kind));
}

bool label_table::equal::operator()(const label_node& a, const label_node& b) const noexcept {
  return a.parent == b.parent && a.name == b.name && a.index == b.index && a.kind == b.kind;
}

std::uint32_t label_table::intern(const label_node& node) {
  if (const auto found = ids_.find(node); found != ids_.end()) {
    return found->second;
  }
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(node);
  try {
    ids_.emplace(node, id);
  } catch (...) {
    nodes_.pop_back();
    throw;
  }
  return id;
}

std::uint32_t label_table::find(const label_node& node) const noexcept {
  const auto found = ids_.find(node);
  return found != ids_.end() ? found->second : none;
}

void call_columns::reserve(std::size_t n) {
  begin.reserve(n);
  end.reserve(n);
  correlation.reserve(n);
  range.reserve(n);
  thread.reserve(n);
  kind.reserve(n);
  captured.reserve(n);
}

void activity_columns::reserve(std::size_t n) {
  begin.reserve(n);
  end.reserve(n);
  correlation.reserve(n);
  name.reserve(n);
  node.reserve(n);
  detail.reserve(n);
  stream.reserve(n);
  kind.reserve(n);
}

void activity_columns::resize(std::size_t n) {
  begin.resize(n);
  end.resize(n);
  correlation.resize(n);
  name.resize(n);
  node.resize(n);
  detail.resize(n);
  stream.resize(n);
  kind.resize(n);
}

void trace::add_call(const call& record) {
  calls.begin.push_back(record.begin);
  calls.end.push_back(record.end);
  calls.correlation.push_back(record.correlation);
  calls.range.push_back(record.range);
  calls.thread.push_back(record.thread);
  calls.kind.push_back(record.kind);
  calls.captured.push_back(record.captured ? 1 : 0);
}

void trace::add_activity(const activity& record) {
  activities.begin.push_back(record.begin);
  activities.end.push_back(record.end);
  activities.correlation.push_back(record.correlation);
  activities.name.push_back(record.name);
  activities.node.push_back(record.node);
  activities.detail.push_back(record.detail);
  activities.stream.push_back(record.stream);
  activities.kind.push_back(record.kind);
}

std::uint16_t trace::intern_stream(const stream_info& stream) {
  return static_cast<std::uint16_t>(
      intern(interned_, streams, key('s', stream.device, stream.context, stream.stream), stream, overflow));
}

std::uint16_t trace::intern_thread(std::uint64_t id, std::uint32_t process) {
  return static_cast<std::uint16_t>(
      intern(interned_, threads, key('t', id, process), thread_info{id, process, {}}, overflow));
}

std::uint32_t trace::intern_shape(const launch_shape& s) {
  return intern(interned_, shapes,
                key('k', s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2], s.registers,
                    s.static_shared_memory, s.dynamic_shared_memory),
                s);
}

std::uint32_t trace::intern_bytes(std::int64_t count) {
  return intern(interned_, bytes, key('b', count), count);
}

void trace::lose(std::string_view what, std::string_view where, std::uint64_t count) {
  if (count == 0) {
    return;
  }
  const auto same = std::find_if(losses.begin(), losses.end(),
                                 [&](const loss& l) { return l.what == what && l.where == where; });
  if (same != losses.end()) {
    same->count += count;
  } else {
    losses.push_back({std::string{what}, std::string{where}, count});
  }
}

std::string label_text(const trace& t, std::uint32_t label, std::string_view separator) {
  std::vector<std::uint32_t> steps;
  for (; label != none; label = t.labels[label].parent) {
    steps.push_back(label);
  }
  std::string out;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const label_node& node = t.labels[*step];
    if (!out.empty()) {
      out += separator;
    }
    out += t.strings[node.name];
    if (node.index != no_index) {
      out += ' ';
      out += std::to_string(node.index);
    }
  }
  return out;
}

}  // namespace v0
}  // namespace varve

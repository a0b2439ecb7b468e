// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What stands before the events of a trace that varve writes.
#include "formats/pytorch/write.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

/// Where a time is no time, so that nothing is drawn far from the rest.
bool is_timed(time_ns begin, time_ns end) noexcept { return end >= begin && (begin != 0 || end != 0); }

void write_text(json_writer& out, std::string_view text) { out.raw(json_string(own::clean(text))); }

/// "name":[[…],[…]], one row an entry of `entries`.
template <class Entries, class Row>
void write_table(json_writer& out, std::string_view name, const Entries& entries, const Row& row) {
  out.key(name).raw("[");
  for (const auto& entry : entries) {
    out.next().raw("[");
    row(entry);
    out.raw("]");
    out.pause();
  }
  out.raw("]");
}

void write_reference(json_writer& out, std::uint32_t index, std::size_t size) {
  if (index < size) {
    out.next().number(index);
  } else {
    out.next().raw("null");
  }
}

void write_run(json_writer& out, const written& w) {
  const trace& t = w.source;
  out.member("format", own::version);
  write_text(out.key("source"), t.source);
  write_text(out.key("clock"), t.clock);
  out.member("clock error", t.clock_error).member("base", w.base);
  out.member("begin", t.begin).member("end", t.end).member("own overhead", t.own_overhead);
  out.member("rank", t.rank).member("world size", t.world_size);
  write_text(out.key("backend"), t.backend);
  out.member("inferred passes", own::name_of(t.inferred_passes, own::pass_inferences));
  out.member("inferred prefills", t.inferred_prefills);
  const auto flag = [&](std::string_view name, bool value) { out.key(name).raw(value ? "true" : "false"); };
  flag("captures given", t.captures_given);
  flag("live CPU", t.live_cpu);
  flag("call names", !t.call_names.empty());
  flag("operators of calls", !t.operator_of_call.empty());
  flag("operators of activities", !t.operator_of_activity.empty());
  flag("ranges of activities", !t.range_of_activity.empty());
  out.key("elsewhere").raw("[").number(t.elsewhere.by_operator);
  out.next().number(t.elsewhere.by_forward).next().number(t.elsewhere.backward);
  out.next().number(t.elsewhere.by_pass).next().number(t.elsewhere.activities_by_operator);
  out.next().number(t.elsewhere.activities_by_flow).raw("]");
}

void write_tables(json_writer& out, written& w) {
  const trace& t = w.source;
  write_table(out, "threads", t.threads, [&](const thread_info& thread) {
    write_text(out.number(thread.id).next().number(thread.process).next(), thread.name);
  });
  write_table(out, "streams", t.streams, [&](const stream_info& s) {
    out.number(s.device).next().number(s.context).next().number(s.stream);
  });
  write_table(out, "devices", t.devices, [&](const device_info& d) {
    write_text(out.number(d.id).next(), d.name);
    out.next().number(d.multiprocessors).next().number(d.compute_capability).next().number(d.memory_bytes);
    out.next().number(d.clock).next().number(d.memory_clock).next().number(d.memory_bus);
    out.next().number(d.l2_bytes);
  });
  write_table(out, "event spans", t.event_spans, [&](const event_span& s) {
    out.number(own::clamp(s.begin)).next().number(own::clamp(s.end));
    write_reference(out, s.range, t.ranges.size());
    out.next().number(s.stream);
  });
  write_table(out, "gauges", t.gauges, [&](const gauge_sample& g) {
    out.number(own::clamp(g.at)).next().raw(json_string(own::name_of(g.what, own::gauge_names)));
    g.device == none ? out.next().raw("null") : out.next().number(g.device);
    out.next().number(g.value);
  });
  write_table(out, "counts", t.counts, [&](const range_count& c) {
    write_reference(out, c.range, t.ranges.size());
    out.next().number(c.device).next().raw(json_string(own::name_of(c.what, own::count_names)));
    out.next()
        .raw(json_string(own::name_of(c.pipe, own::pipes)))
        .next()
        .number(c.part)
        .next()
        .number(c.value);
  });
  write_table(out, "earlier services", t.earlier_services, [&](const earlier_service& s) {
    write_reference(out, s.request, t.ranges.size());
    out.next().number(s.passes).next().number(own::clamp(s.first_begin));
    out.next().number(own::clamp(s.first_end)).next().number(own::clamp(s.last_end));
  });
  std::vector<std::uint32_t> labels(w.labels.size());
  std::iota(labels.begin(), labels.end(), 0U);
  write_table(out, "labels", labels, [&](std::uint32_t l) {
    const label_node& label = w.labels[l];
    write_reference(out, label.parent, l);
    out.next().raw(json_string(w.label_names[label.name])).next();
    label.index == no_index ? out.raw("null") : out.number(label.index);
    out.next().raw(json_string(own::name_of(label.kind, own::range_kinds)));
  });
  write_table(out, "graph nodes", t.graph_nodes, [&](const graph_node& n) {
    out.number(n.id);
    write_reference(out, w.label_of[n.label], w.labels.size());
    out.next().raw(json_string(own::name_of(n.source, own::label_sources)));
    out.next().number(n.stale ? 1 : 0).next().number(n.told_by_look ? 1 : 0);
    write_work(out, n.declared);
    out.next().number(n.declared.doubled_bytes);
    out.next().raw(json_string(own::name_of(n.told_by, own::work_sources)));
  });
  write_table(out, "operator kinds", t.operator_kinds, [&](const operator_kind& k) {
    for (const std::uint32_t string : {k.name, k.shapes, k.types}) {
      out.next().raw(string < t.strings.size() ? std::string_view{w.text(string)} : "null");
    }
    out.next().raw(json_string(own::name_of(k.source, own::operator_sources)));
    write_work(out, k.declared);
    out.next().number(k.declared.doubled_bytes);
  });
  std::vector<loss> losses = t.losses;
  if (w.label_of.cut() > 0) {
    losses.push_back(
        {"labels nested deeper than 128, or in paths of more than 4096 bytes: not written, "
         "taken as the label around them",
         t.source, w.label_of.cut()});
  }
  write_table(out, "losses", losses, [&](const loss& l) {
    write_text(out, l.what);
    write_text(out.next(), l.where);
    out.next().number(l.count);
  });
  write_table(out, "collectors", t.collectors, [&](const collector_status& c) {
    write_text(out, c.name);
    write_text(out.next(), c.version);
    out.next().raw(json_string(own::name_of(c.state, own::collector_states)));
    write_text(out.next(), c.detail);
  });
}

/// As the PyTorch profiler tells of devices, for other programs.
void write_for_others(json_writer& out, const trace& t) {
  out.key("deviceProperties").raw("[");
  for (const device_info& d : t.devices) {
    out.next().raw("{").member("id", d.id);
    write_text(out.key("name"), d.name);
    out.member("totalGlobalMem", d.memory_bytes).member("computeMajor", d.compute_capability / 10);
    out.member("computeMinor", d.compute_capability % 10).member("numSms", d.multiprocessors).raw("}");
  }
  out.raw("]");
  if (t.rank >= 0) {
    out.key("distributedInfo").raw("{");
    write_text(out.key("backend"), t.backend);
    out.member("rank", t.rank).member("world_size", t.world_size).raw("}");
  }
}

}  // namespace

written::written(const trace& t)
    : source{t},
      calls{std::min({t.calls.begin.size(), t.calls.end.size(), t.calls.correlation.size(),
                      t.calls.range.size(), t.calls.thread.size(), t.calls.kind.size(),
                      t.calls.captured.size()})},
      activities{
          std::min({t.activities.begin.size(), t.activities.end.size(), t.activities.correlation.size(),
                    t.activities.name.size(), t.activities.node.size(), t.activities.detail.size(),
                    t.activities.stream.size(), t.activities.kind.size()})},
      operators{std::min({t.operators.begin.size(), t.operators.end.size(), t.operators.kind.size(),
                          t.operators.parent.size(), t.operators.range.size(), t.operators.thread.size()})} {
  for (std::uint32_t l = 0; l < t.labels.size(); ++l) {
    const label_node& label = t.labels[l];
    label_of.add(labels, label_names, label.parent, own::clean(t.strings[label.name]), label.index,
                 label.kind);
  }
  find_base();
  find_rows();
  find_lanes();
  texts_.resize(t.strings.size() + 1);
  paths_.resize(labels.size());
}

const std::string& written::text(std::uint32_t string) {
  std::string& known = texts_[std::min<std::size_t>(string, texts_.size() - 1)];
  if (known.empty()) {
    known = json_string(own::clean(source.strings[string]));
  }
  return known;
}

std::string written::step(std::uint32_t label) const {
  const label_node& node = labels[label];
  return std::string{label_names[node.name]} +
         (node.index != no_index ? ' ' + std::to_string(node.index) : "");
}

const std::string& written::path(std::uint32_t label) {
  std::string& known = paths_[label];
  if (known.empty()) {
    std::string text = step(label);
    for (std::uint32_t up = labels[label].parent; up != none; up = labels[up].parent) {
      text.insert(0, step(up) + " / ");
    }
    known = json_string(text);
  }
  return known;
}

/// Begin of the recorded window; of the first record where that is not known.
void written::find_base() {
  if (source.end > source.begin) {
    base = own::clamp(source.begin);
    return;
  }
  time_ns first = own::most;
  const auto note = [&](time_ns begin, time_ns end) {
    first = is_timed(begin, end) ? std::min(first, begin) : first;
  };
  for (const range& r : source.ranges) {
    note(r.begin, r.end);
  }
  for (std::size_t i = 0; i < calls; ++i) {
    note(source.calls.begin[i], source.calls.end[i]);
  }
  for (std::size_t i = 0; i < activities; ++i) {
    note(source.activities.begin[i], source.activities.end[i]);
  }
  base = first == own::most ? 0 : own::clamp(first);
}

/// One row a stream, and a device's rows apart from those of a process with the same number.
void written::find_rows() {
  std::set<std::pair<std::uint32_t, std::uint64_t>> used;
  for (const stream_info& s : source.streams) {
    std::uint64_t row = s.stream;
    while (!used.emplace(s.device, row).second) {  // of another context
      row = no_thread_row + stream_rows.size();
      row += used.count({s.device, row});
    }
    stream_rows.push_back(row);
  }
  for (const stream_info& s : source.streams) {
    devices.insert(s.device);
  }
  for (const gauge_sample& g : source.gauges) {
    if (g.device != none) {
      devices.insert(g.device);
    }
  }
  for (const thread_info& t : source.threads) {
    if (t.process < 1024 && devices.count(t.process) != 0) {
      first_device_row = no_thread_row;
    }
  }
  request_process = source.threads.empty() ? 0 : source.threads.front().process;
}

void written::find_lanes() {
  std::vector<std::uint32_t> requests;
  for (std::uint32_t r = 0; r < source.ranges.size(); ++r) {
    if (source.ranges[r].kind == range_kind::request) {
      requests.push_back(r);
    }
  }
  if (requests.empty()) {
    return;
  }
  lanes.assign(source.ranges.size(), 0);
  std::stable_sort(requests.begin(), requests.end(), [&](std::uint32_t a, std::uint32_t b) {
    return source.ranges[a].begin < source.ranges[b].begin;
  });
  using lane = std::pair<time_ns, std::uint32_t>;  // free from, number
  std::priority_queue<lane, std::vector<lane>, std::greater<>> free;
  for (const std::uint32_t r : requests) {
    const range& request = source.ranges[r];
    if (free.empty() || free.top().first > request.begin) {
      free.emplace(request.end, lanes[r] = lane_count++);
    } else {
      lanes[r] = free.top().second;
      free.pop();
      free.emplace(request.end, lanes[r]);
    }
  }
}

void write_work(json_writer& out, const work& w) {
  for (const std::int64_t n : {w.flops, w.weight_bytes, w.kv_bytes, w.activation_bytes}) {
    out.next().number(n);
  }
  out.next().raw(json_string(own::name_of(w.pipe, own::pipes)));
  out.next().number(w.bytes_below).next().number(w.bytes_above);
}

void write_header(json_writer& out, written& w) {
  out.raw("{").member("schemaVersion", 1).member("baseTimeNanoseconds", w.base);
  out.member("displayTimeUnit", std::string_view{"ms"}).raw("\n");
  out.key("varve").raw("{");
  write_run(out, w);
  write_tables(out, w);
  out.raw("}\n");
  write_for_others(out, w.source);
  out.raw("\n").key("traceEvents").raw("[");
}

void write_rows(json_writer& out, written& w) {
  const trace& t = w.source;
  const auto name = [&](std::string_view what, std::uint64_t process, std::uint64_t thread,
                        std::string_view text) {
    out.next().raw("\n{").member("ph", std::string_view{"M"}).member("name", what);
    out.member("pid", process).member("tid", thread).key("args").raw("{");
    write_text(out.key("name"), text);
    out.raw("}}");
  };
  const auto sort = [&](std::uint64_t process, std::uint64_t index) {
    out.next().raw("\n{").member("ph", std::string_view{"M"});
    out.member("name", std::string_view{"process_sort_index"}).member("pid", process).member("tid", 0);
    out.key("args").raw("{").member("sort_index", index).raw("}}");
  };
  std::set<std::uint32_t> processes;
  for (const thread_info& thread : t.threads) {
    if (processes.insert(thread.process).second) {
      name("process_name", thread.process, 0, "CPU");
      sort(thread.process, thread.process);
    }
    name("thread_name", thread.process, thread.id,
         thread.name.empty() ? "thread " + std::to_string(thread.id) : thread.name);
  }
  for (std::uint32_t lane = 0; lane < w.lane_count; ++lane) {
    name("thread_name", w.request_process, no_thread_row + 1 + lane, "requests");
  }
  constexpr std::uint64_t below_processes = 5000000;  // as the PyTorch profiler sorts them
  for (const std::uint32_t device : w.devices) {
    const auto known = std::find_if(t.devices.begin(), t.devices.end(),
                                    [&](const device_info& d) { return d.id == device && !d.name.empty(); });
    name("process_name", w.process_row(device), 0,
         "GPU " + std::to_string(device) + (known != t.devices.end() ? ", " + known->name : ""));
    sort(w.process_row(device), below_processes + device);
  }
  for (std::size_t s = 0; s < t.streams.size(); ++s) {
    name("thread_name", w.process_row(t.streams[s].device), w.stream_rows[s],
         "stream " + std::to_string(t.streams[s].stream));
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

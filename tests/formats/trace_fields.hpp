// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Every field of a trace as text, ids of strings, labels, shapes and sizes looked up. Structured bindings: a
// field that is added to a record stops these tests from compiling until it is listed here.
#ifndef VARVE_TESTS_FORMATS_TRACE_FIELDS_HPP
#define VARVE_TESTS_FORMATS_TRACE_FIELDS_HPP

#include <varve/trace.hpp>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace testing_support {

class trace_dumper {
 public:
  explicit trace_dumper(const varve::trace& t) : t_{t} {
    line("run", t.source, t.rank, t.world_size, t.backend, t.clock, t.clock_error, t.begin, t.end,
         t.own_overhead, t.inferred_passes, t.inferred_prefills, t.captures_given, t.live_cpu);
    const auto& [by_operator, by_forward, backward, by_pass, unlaunched, by_flow] = t.elsewhere;
    line("elsewhere", by_operator, by_forward, backward, by_pass, unlaunched, by_flow);
    for (const auto& [begin, end, range, stream] : t.event_spans) {
      line("event span", begin, end, range, stream);
    }
    for (const auto& [at, value, device, what] : t_.gauges) {
      line("gauge", at, value, device, what);
    }
    for (const auto& [range, device, value, what, pipe, part] : t_.counts) {
      line("count", range, device, value, what, pipe, part);
    }
    for (const auto& [request, passes, first_begin, first_end, last_end] : t_.earlier_services) {
      line("earlier service", request, passes, first_begin, first_end, last_end);
    }
    ranges();
    calls();
    activities();
    operators();
    tables();
  }
  [[nodiscard]] std::string text() const { return out_.str(); }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_enum_v<T> || std::is_same_v<T, std::uint8_t>) {
      out_ << static_cast<int>(value) << '|';
    } else if constexpr (std::is_same_v<T, varve::work>) {
      const auto& [flops, weight_bytes, kv_bytes, activation_bytes, pipe, below, above, doubled] = value;
      out_ << flops << ',' << weight_bytes << ',' << kv_bytes << ',' << activation_bytes << ','
           << static_cast<int>(pipe) << ',' << below << ',' << above << ',' << doubled << '|';
    } else {
      out_ << value << '|';
    }
  }
  template <class... Values>
  void line(const Values&... values) {
    (put(values), ...);
    out_ << '\n';
  }
  [[nodiscard]] std::string_view name(std::uint32_t string) const {
    return string == varve::none ? "none" : t_.strings[string];
  }
  [[nodiscard]] std::string path(std::uint32_t label) const {
    if (label == varve::none) {
      return "none";
    }
    return varve::label_text(t_, label) + " " + std::to_string(static_cast<int>(t_.labels[label].kind));
  }

  void ranges() {
    for (const varve::range& r : t_.ranges) {
      const auto& [begin, end, label, parent, thread, kind, clipped_begin, clipped_end, derived] = r;
      line("range", begin, end, path(label), parent, thread, kind, clipped_begin, clipped_end, derived);
    }
    // What belongs to a range, range by range; of one attribute the last value counts.
    std::map<std::pair<std::uint32_t, int>, std::int64_t> attributes;
    for (const auto& [range, key, value] : t_.attributes) {
      attributes[{range, static_cast<int>(key)}] = value;
    }
    for (const auto& [key, value] : attributes) {
      line("attribute", key.first, key.second, value);
    }
    for (const auto& [range, decode, tokens, context] : sorted(t_.sequences, &varve::sequence_shape::range)) {
      line("sequence", range, decode, tokens, context);
    }
    for (const auto& [range, model] : sorted(t_.models, &varve::range_model::range)) {
      line("model", range, name(model));
    }
    for (const auto& [range, declared, source] : sorted(t_.works, &varve::range_work::range)) {
      line("work", range, declared, source);
    }
    for (const auto& [range, path, declared] : sorted(t_.path_works, &varve::path_work::range)) {
      line("replayed work", range, path < t_.labels.size() ? path : varve::none, declared);
    }
    for (const auto& [request, pass] : sorted(t_.requests, &varve::request_link::pass)) {
      line("request", request, pass);
    }
  }
  template <class Record>
  static std::vector<Record> sorted(std::vector<Record> records, std::uint32_t Record::*range) {
    std::stable_sort(records.begin(), records.end(),
                     [&](const Record& a, const Record& b) { return a.*range < b.*range; });
    return records;
  }

  void calls() {
    const varve::call_columns& c = t_.calls;
    for (std::size_t i = 0; i < c.size(); ++i) {
      line("call", c.begin[i], c.end[i], c.correlation[i], c.range[i], c.thread[i], c.kind[i], c.captured[i],
           t_.call_names.empty() ? "unnamed" : name(t_.call_names[i]),
           t_.operator_of_call.empty() ? 0 : t_.operator_of_call[i]);
    }
  }

  void activities() {
    const varve::activity_columns& a = t_.activities;
    for (std::size_t i = 0; i < a.size(); ++i) {
      line("activity", a.begin[i], a.end[i], a.correlation[i], name(a.name[i]), a.node[i], a.stream[i],
           a.kind[i], t_.operator_of_activity.empty() ? 0 : t_.operator_of_activity[i],
           t_.range_of_activity.empty()      ? 0
           : i < t_.range_of_activity.size() ? t_.range_of_activity[i]
                                             : varve::none);
      if (a.detail[i] == varve::none) {
        line("no detail");
      } else if (a.kind[i] == varve::activity_kind::kernel) {
        const auto& [grid, block, registers, static_memory, dynamic_memory] = t_.shapes[a.detail[i]];
        line("shape", grid[0], grid[1], grid[2], block[0], block[1], block[2], registers, static_memory,
             dynamic_memory);
      } else {
        line("bytes", t_.bytes[a.detail[i]]);
      }
    }
    for (const auto& [activity, of, bytes_in, bytes_out, ranks] : t_.collectives) {
      line("collective", activity, name(of), bytes_in, bytes_out, ranks);
    }
  }

  void operators() {
    for (const auto& [of, shapes, types, source, declared] : t_.operator_kinds) {
      line("operator kind", name(of), name(shapes), name(types), source, declared);
    }
    const varve::operator_columns& o = t_.operators;
    for (std::size_t i = 0; i < o.size(); ++i) {
      line("operator", o.begin[i], o.end[i], o.kind[i], o.parent[i], o.range[i], o.thread[i]);
    }
    for (const auto& [at, bytes, on_device] : t_.memory_events) {
      line("memory", at, bytes, on_device);
    }
  }

  void tables() {
    for (std::uint32_t l = 0; l < t_.labels.size(); ++l) {
      line("label", path(l));
    }
    for (const auto& [id, label, stale, declared, source, told_by_look, told_by] : t_.graph_nodes) {
      line("node", id, path(label), stale, declared, source, told_by_look, told_by);
    }
    for (const auto& [id, process, of] : t_.threads) {
      line("thread", id, process, of);
    }
    for (const auto& [device, context, stream] : t_.streams) {
      line("stream", device, context, stream);
    }
    for (const auto& [id, of, multiprocessors, compute_capability, memory_bytes, clock, memory_clock,
                      memory_bus, l2_bytes] : t_.devices) {
      line("device", id, of, multiprocessors, compute_capability, memory_bytes, clock, memory_clock,
           memory_bus, l2_bytes);
    }
    for (const auto& [what, where, count] : t_.losses) {
      line("loss", what, where, count);
    }
    for (const auto& [of, version, state, detail] : t_.collectors) {
      line("collector", of, version, state, detail);
    }
  }

  const varve::trace& t_;
  std::ostringstream out_;
};

inline std::string dump(const varve::trace& t) { return trace_dumper{t}.text(); }

}  // namespace testing_support

#endif  // VARVE_TESTS_FORMATS_TRACE_FIELDS_HPP

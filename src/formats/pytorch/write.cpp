// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The events of a trace that varve writes: one a record, in the order of the records.
#include "formats/pytorch/write.hpp"

#include "formats/pytorch/classify.hpp"

#include <varve/io.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <ostream>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

/// What a call is named whose name was not recorded: after the commonest of its kind.
constexpr std::array<std::string_view, 10> usual_names{"\"cudaLaunchKernel\"",      "\"cudaGraphLaunch\"",
                                                       "\"cudaMemcpyAsync\"",       "\"cudaMemsetAsync\"",
                                                       "\"cudaStreamSynchronize\"", "\"cudaMalloc\"",
                                                       "\"cudaGraphInstantiate\"",  "\"cudaEventRecord\"",
                                                       "\"cudaLaunchHostFunc\"",    "\"other\""};

/// Indices into `entries` by their range, in their order, those of no range left out.
template <class Entry>
class by_range {
 public:
  by_range(const std::vector<Entry>& entries, std::uint32_t Entry::*range, std::size_t ranges)
      : entries_{entries}, range_{range} {
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      if (entries[i].*range < ranges) {
        order_.push_back(i);
      }
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return entries[a].*range < entries[b].*range; });
  }
  /// Calls `f` with each entry of `range`; ranges are to be asked for in order.
  template <class F>
  void each(std::uint32_t range, const F& f) {
    for (; next_ < order_.size() && entries_[order_[next_]].*range_ == range; ++next_) {
      f(entries_[order_[next_]]);
    }
  }

 private:
  const std::vector<Entry>& entries_;
  std::uint32_t Entry::*range_;
  std::vector<std::uint32_t> order_;
  std::size_t next_ = 0;
};

class event_writer {
 public:
  event_writer(const trace& t, json_writer& out) : t_{t}, out_{out}, w_{t} {}

  void write() {
    write_header(out_, w_);
    write_rows(out_, w_);
    write_ranges();
    write_operators();
    write_calls();
    write_activities();
    write_memory();
    write_gauges(out_, w_);
    out_.raw("\n]}\n");
    out_.flush();
  }

 private:
  struct row {
    std::uint64_t process = 0;
    std::uint64_t thread = 0;
  };

  [[nodiscard]] row row_of(std::uint16_t thread) const {
    return thread < t_.threads.size() ? row{t_.threads[thread].process, t_.threads[thread].id}
                                      : row{w_.request_process, no_thread_row};
  }

  /// Up to its arguments; `odd` times are no interval that can be shown, and are told apart.
  void begin_event(std::string_view category, std::string_view name, row where, time_ns begin, time_ns end,
                   bool odd) {
    out_.next().raw("\n{\"ph\":\"X\",\"cat\":\"").raw(category).raw("\",\"name\":").raw(name);
    put_row(where);
    const time_ns at = std::max(begin, odd ? w_.base : begin);
    out_.raw(",\"ts\":").microseconds(at - w_.base);
    out_.raw(",\"dur\":").microseconds(odd ? 0 : end - begin).raw(",\"args\":{");
  }
  void put_row(row where) {
    out_.raw(",\"pid\":").number(where.process).raw(",\"tid\":").number(where.thread);
  }
  void end_event() {
    out_.raw("}}}");
    out_.pause();
  }
  /// Opens what only varve knows.
  void begin_own(time_ns begin, time_ns end, bool odd) {
    out_.key("varve").raw("{");
    if (odd) {
      out_.member("begin", begin).member("end", end);
    }
  }
  [[nodiscard]] bool is_odd(time_ns begin, time_ns end) const noexcept {
    return end < begin || (begin == 0 && end == 0 && w_.base != 0);
  }

  void reference(std::string_view key, std::uint32_t index, std::size_t size) {
    if (index < size) {
      out_.member(key, index);
    }
  }
  void linked(std::string_view key, const std::vector<std::uint32_t>& links, std::size_t i) {
    if (i < links.size()) {
      reference(key, links[i], w_.operators);
    }
  }

  /// "key":[…], nothing where `body` makes no entry; it calls what it is given before each.
  template <class Body>
  void list(std::string_view key, const Body& body) {
    bool open = false;
    body([&] {
      if (!std::exchange(open, true)) {
        out_.key(key).raw("[");
      }
      out_.next();
    });
    out_.raw(open ? "]" : "");
  }

  void write_ranges();
  void write_attributes(by_range<range_attribute>& attributes, std::uint32_t r);
  void write_operators();
  void write_calls();
  void write_activities();
  void write_shape(std::uint32_t shape);
  void write_memory();
  void write_arrow(char phase, std::uint32_t id, row where, time_ns at);

  const trace& t_;
  json_writer& out_;
  written w_;
};

void event_writer::write_attributes(by_range<range_attribute>& attributes, std::uint32_t r) {
  std::array<std::int64_t, own::attributes.size()> values{};
  std::array<bool, own::attributes.size()> set{};
  attributes.each(r, [&](const range_attribute& a) {  // the last one counts
    if (const auto key = static_cast<std::size_t>(a.key); key < values.size()) {
      values[key] = a.value;
      set[key] = true;
    }
  });
  for (std::size_t key = 0; key < values.size(); ++key) {
    if (set[key]) {
      out_.member(own::attributes[key], values[key]);
    }
  }
}

void event_writer::write_ranges() {
  const std::size_t count = t_.ranges.size();
  by_range attributes{t_.attributes, &range_attribute::range, count};
  by_range sequences{t_.sequences, &sequence_shape::range, count};
  by_range models{t_.models, &range_model::range, count};
  by_range works{t_.works, &range_work::range, count};
  by_range replayed{t_.path_works, &path_work::range, count};
  by_range requests{t_.requests, &request_link::pass, count};
  for (std::uint32_t r = 0; r < count; ++r) {
    const range& record = t_.ranges[r];
    const time_ns begin = own::clamp(record.begin);
    const time_ns end = own::clamp(record.end);
    const bool odd = is_odd(begin, end);
    const std::uint32_t label = w_.label_of[record.label];
    const std::string name = label != none ? w_.step(label) : std::string{};
    const bool request = record.kind == range_kind::request;
    begin_event("user_annotation", json_string(name),
                request ? row{w_.request_process, no_thread_row + 1 + w_.lanes[r]} : row_of(record.thread),
                begin, end, odd);
    begin_own(begin, end, odd);
    out_.member("id", r).member("kind", own::name_of(record.kind, own::range_kinds));
    reference("label", label, w_.labels.size());
    reference("parent", record.parent, r);
    out_.member("thread", record.thread);
    for (const auto& [key, value] : {std::pair{"clipped begin", record.clipped_begin},
                                     {"clipped end", record.clipped_end},
                                     {"derived", record.derived}}) {
      if (value) {
        out_.key(key).raw("true");
      }
    }
    write_attributes(attributes, r);
    std::uint32_t model = none;
    models.each(r, [&](const range_model& m) { model = m.name; });  // the last one counts
    if (model < t_.strings.size()) {
      out_.key("model").raw(w_.text(model));
    }
    list("sequences", [&](const auto& entry) {
      sequences.each(r, [&](const sequence_shape& s) {
        entry();
        out_.raw("[").number(s.decode ? 1 : 0).next().number(s.tokens).next().number(s.context).raw("]");
      });
    });
    list("work", [&](const auto& entry) {
      works.each(r, [&](const range_work& one) {
        entry();
        out_.raw("[");
        write_work(out_, one.declared);
        out_.next().raw(json_string(own::name_of(one.source, own::work_sources)));
        out_.next().number(one.declared.doubled_bytes).raw("]");
      });
    });
    list("replayed work", [&](const auto& entry) {
      replayed.each(r, [&](const path_work& one) {
        entry();
        out_.raw("[");
        write_work(out_, one.declared);
        const std::uint32_t path = w_.label_of[one.label];
        path < w_.labels.size() ? out_.next().number(path) : out_.next().raw("null");
        out_.next().number(one.declared.doubled_bytes).raw("]");
      });
    });
    list("requests", [&](const auto& entry) {
      requests.each(r, [&](const request_link& link) {
        if (link.request < count) {
          entry();
          out_.number(link.request);
        }
      });
    });
    end_event();
  }
}

void event_writer::write_operators() {
  const operator_columns& o = t_.operators;
  constexpr std::array<std::string_view, 4> categories{"cpu_op", "user_annotation", "overhead",
                                                       "gpu_user_annotation"};
  for (std::uint32_t i = 0; i < w_.operators; ++i) {
    const bool known = o.kind[i] < t_.operator_kinds.size();
    const operator_kind kind = known ? t_.operator_kinds[o.kind[i]] : operator_kind{};
    const time_ns begin = own::clamp(o.begin[i]);
    const time_ns end = own::clamp(o.end[i]);
    const bool odd = is_odd(begin, end);
    begin_event(own::name_of(kind.source, categories), w_.text(kind.name), row_of(o.thread[i]), begin, end,
                odd);
    begin_own(begin, end, odd);
    out_.member("id", i);
    out_.key("operator");
    known ? out_.number(o.kind[i]) : out_.raw("null");
    reference("parent", o.parent[i], i);
    reference("range", o.range[i], t_.ranges.size());
    out_.member("thread", o.thread[i]);
    end_event();
  }
}

void event_writer::write_calls() {
  const call_columns& c = t_.calls;
  struct called {
    bool known = false;
    bool driver = false;
    call_kind kind = call_kind::other;
  };
  std::vector<called> names(t_.call_names.empty() ? 0 : t_.strings.size());
  for (std::size_t i = 0; i < w_.calls; ++i) {
    std::string_view name = own::name_of(c.kind[i], usual_names);
    bool driver = false;
    call_kind told = c.kind[i];
    if (i < t_.call_names.size()) {
      name = w_.text(t_.call_names[i]);
      called known = t_.call_names[i] < names.size() ? names[t_.call_names[i]] : called{};
      if (!known.known) {
        const std::string text = own::clean(t_.strings[t_.call_names[i]]);
        known = {true, text.starts_with("cu") && !text.starts_with("cuda"), kind_of_call(text)};
        if (t_.call_names[i] < names.size()) {
          names[t_.call_names[i]] = known;
        }
      }
      driver = known.driver;
      told = known.kind;
    }
    const time_ns begin = own::clamp(c.begin[i]);
    const time_ns end = own::clamp(c.end[i]);
    const bool odd = is_odd(begin, end);
    const row where = row_of(c.thread[i]);
    const bool captured = c.captured[i] != 0;
    begin_event(driver ? "cuda_driver" : "cuda_runtime", name, where, begin, end, odd);
    if (c.correlation[i] != 0) {
      out_.member("correlation", c.correlation[i]);
    }
    begin_own(begin, end, odd);
    if (told != c.kind[i]) {
      out_.member("kind", own::name_of(c.kind[i], own::call_kinds));
    }
    out_.member("thread", c.thread[i]);
    reference("range", c.range[i], t_.ranges.size());
    linked("operator", t_.operator_of_call, i);
    if (captured) {
      out_.key("captured").raw("true");
    }
    end_event();
    const bool starts = c.kind[i] == call_kind::launch || c.kind[i] == call_kind::graph_launch ||
                        c.kind[i] == call_kind::copy || c.kind[i] == call_kind::set;
    if (starts && !captured && !odd && c.correlation[i] != 0) {
      write_arrow('s', c.correlation[i], where, begin);
    }
  }
}

void event_writer::write_activities() {
  const activity_columns& a = t_.activities;
  constexpr std::array<std::string_view, 5> categories{"kernel", "gpu_memcpy", "gpu_memset", "kernel",
                                                       "kernel"};
  std::vector<std::uint32_t> collectives(t_.collectives.size());
  std::iota(collectives.begin(), collectives.end(), 0U);
  std::stable_sort(collectives.begin(), collectives.end(), [&](std::uint32_t x, std::uint32_t y) {
    return t_.collectives[x].activity < t_.collectives[y].activity;
  });
  auto next = collectives.begin();
  for (std::uint32_t i = 0; i < w_.activities; ++i) {
    const time_ns begin = own::clamp(a.begin[i]);
    const time_ns end = own::clamp(a.end[i]);
    const bool odd = is_odd(begin, end);
    const bool known = a.stream[i] < t_.streams.size();
    const stream_info stream = known ? t_.streams[a.stream[i]] : stream_info{};
    const row where{w_.process_row(stream.device), known ? w_.stream_rows[a.stream[i]] : no_thread_row};
    begin_event(own::name_of(a.kind[i], categories), w_.text(a.name[i]), where, begin, end, odd);
    if (known) {
      out_.member("device", stream.device).member("context", stream.context).member("stream", stream.stream);
    }
    if (a.correlation[i] != 0) {
      out_.member("correlation", a.correlation[i]);
    }
    if (a.kind[i] == activity_kind::kernel) {
      write_shape(a.detail[i]);
    } else if (a.detail[i] < t_.bytes.size()) {
      out_.member("bytes", t_.bytes[a.detail[i]]);
    }
    const bool in_graph = a.node[i] < t_.graph_nodes.size();
    if (in_graph && t_.graph_nodes[a.node[i]].id != 0) {
      out_.member("graph node id", t_.graph_nodes[a.node[i]].id);
    }
    begin_own(begin, end, odd);
    if (a.kind[i] == activity_kind::graph || a.kind[i] == activity_kind::other) {
      out_.member("kind", own::name_of(a.kind[i], own::activity_kinds));
    }
    out_.member("stream", a.stream[i]);
    if (a.kind[i] == activity_kind::kernel && a.detail[i] < t_.shapes.size() &&
        t_.shapes[a.detail[i]].static_shared_memory != 0) {
      out_.member("static shared memory", t_.shapes[a.detail[i]].static_shared_memory);
    }
    reference("node", a.node[i], t_.graph_nodes.size());
    if (const std::uint32_t label = in_graph ? w_.label_of[t_.graph_nodes[a.node[i]].label] : none;
        label != none) {
      out_.key("label").raw(w_.path(label));  // for who looks at it
    }
    linked("operator", t_.operator_of_activity, i);
    if (i < t_.range_of_activity.size()) {
      reference("range", t_.range_of_activity[i], t_.ranges.size());
    }
    for (; next != collectives.end() && t_.collectives[*next].activity <= i; ++next) {
      const collective& c = t_.collectives[*next];
      if (c.activity == i && (next == collectives.begin() || t_.collectives[*(next - 1)].activity != i)) {
        out_.key("collective").raw("[").raw(c.name < t_.strings.size() ? w_.text(c.name) : "null").next();
        out_.number(c.bytes_in).next().number(c.bytes_out).next().number(c.ranks).raw("]");
      }
    }
    end_event();
    if (a.correlation[i] != 0 && !odd) {
      write_arrow('f', a.correlation[i], where, begin);
    }
  }
}

void event_writer::write_shape(std::uint32_t shape) {
  if (shape >= t_.shapes.size()) {
    return;
  }
  const launch_shape& s = t_.shapes[shape];
  const auto triple = [&](std::string_view key, const std::uint32_t(&size)[3]) {
    out_.key(key).raw("[").number(size[0]).next().number(size[1]).next().number(size[2]).raw("]");
  };
  triple("grid", s.grid);
  triple("block", s.block);
  out_.member("registers per thread", s.registers);
  out_.member("shared memory", std::uint64_t{s.static_shared_memory} + s.dynamic_shared_memory);
}

void event_writer::write_memory() {
  for (const memory_event& m : t_.memory_events) {
    out_.next().raw("\n{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\"");
    put_row({w_.request_process, no_thread_row});
    out_.raw(",\"ts\":").microseconds(own::clamp(m.at) - w_.base).raw(",\"args\":{");
    out_.member("Device Type", m.on_device ? 1 : 0).member("Bytes", m.bytes).raw("}}");
    out_.pause();
  }
}

/// From a launch to what it launched.
void event_writer::write_arrow(char phase, std::uint32_t id, row where, time_ns at) {
  out_.next()
      .raw(phase == 's' ? "\n{\"ph\":\"s\"" : "\n{\"ph\":\"f\",\"bp\":\"e\"")
      .raw(",\"id\":")
      .number(id);
  put_row(where);
  out_.raw(",\"ts\":").microseconds(at - w_.base).raw(",\"cat\":\"ac2g\",\"name\":\"ac2g\"}");
}

}  // namespace

}  // namespace pytorch

void write_chrome_trace(const trace& t, std::ostream& to) {
  pytorch::json_writer out{[&](std::string_view text) {
    if (!to.write(text.data(), static_cast<std::streamsize>(text.size()))) {
      throw error{"the trace cannot be written: its stream refuses more"};
    }
  }};
  pytorch::event_writer{t, out}.write();
}

}  // namespace v0
}  // namespace varve

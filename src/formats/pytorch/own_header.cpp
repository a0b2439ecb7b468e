// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The tables that stand before the events of a trace that varve wrote.
#include "formats/pytorch/own_values.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::size_t most_rows = 65534;  // of threads or streams
constexpr std::size_t most_own_devices = 1024;

using row_cells = std::vector<std::string_view>;

/// Calls f(cells) for each row of a table; cells that a row lacks are empty.
template <class F>
void each_row(std::string_view table, std::size_t size, const F& f) {
  row_cells cells;
  own::each_element(table, [&](std::string_view row) {
    cells.clear();
    own::each_element(row, [&](std::string_view cell) {
      if (cells.size() < size) {
        cells.push_back(cell);
      }
    });
    cells.resize(size);
    f(cells);
  });
}

std::string_view member(std::string_view object, std::string_view name) {
  std::string_view found;
  own::each_member(object, [&](std::string_view key, std::string_view value) {
    if (key == name && found.empty()) {
      found = value;
    }
  });
  return found;
}

}  // namespace

bool own_reader::start(std::string_view header) {
  if (number_of<std::uint64_t>(member(header, "format"), 0) != own::version) {
    return false;
  }
  read_run(header);
  read_rows(header);
  each_row(member(header, "labels"), 4, [&](const row_cells& c) {
    labels_.add(trace_.labels, trace_.strings, number_of(c[0], none), text_of(c[1]),
                number_of(c[2], no_index), one_of(c[3], own::range_kinds, range_kind::layer));
  });
  losses_.add(lost::deep_annotation, labels_.cut());
  each_row(member(header, "graph nodes"), 14, [&](const row_cells& c) {
    graph_node n;
    n.id = number_of<std::uint64_t>(c[0], 0);
    n.label = labels_[number_of(c[1], none)];
    n.source = one_of(c[2], own::label_sources, label_source::captured);
    n.stale = c[3] == "1";
    n.told_by_look = c[4] == "1";
    n.declared = work_of(c, 5, 12);
    n.told_by = one_of(c[13], own::work_sources, work_source::engine);
    trace_.graph_nodes.push_back(n);
  });
  each_row(member(header, "operator kinds"), 12, [&](const row_cells& c) {
    operator_kind k;
    k.name = string_of(c[0]);
    k.shapes = string_of(c[1]);
    k.types = string_of(c[2]);
    k.source = one_of(c[3], own::operator_sources, operator_source::operation);
    k.declared = work_of(c, 4, 11);
    trace_.operator_kinds.push_back(k);
  });
  each_row(member(header, "losses"), 3, [&](const row_cells& c) {
    trace_.losses.push_back({text_of(c[0]), text_of(c[1]), number_of<std::uint64_t>(c[2], 0)});
  });
  each_row(member(header, "collectors"), 4, [&](const row_cells& c) {
    trace_.collectors.push_back({text_of(c[0]), text_of(c[1]),
                                 one_of(c[2], own::collector_states, collector_state::stopped),
                                 text_of(c[3])});
  });
  return true;
}

void own_reader::read_run(std::string_view header) {
  trace& t = trace_;
  own::each_member(header, [&](std::string_view key, std::string_view value) {
    if (key == "source") {
      t.source = text_of(value);
    } else if (key == "clock") {
      t.clock = text_of(value);
    } else if (key == "clock error") {
      t.clock_error = number_of<time_ns>(value, 0);
    } else if (key == "base") {
      base_ = own::clamp(number_of<time_ns>(value, 0));
    } else if (key == "begin") {
      t.begin = number_of<time_ns>(value, 0);
    } else if (key == "end") {
      t.end = number_of<time_ns>(value, 0);
    } else if (key == "own overhead") {
      t.own_overhead = number_of<time_ns>(value, 0);
    } else if (key == "rank") {
      t.rank = number_of<std::int32_t>(value, -1);
    } else if (key == "world size") {
      t.world_size = number_of<std::int32_t>(value, 0);
    } else if (key == "backend") {
      t.backend = text_of(value);
    } else if (key == "inferred passes") {
      t.inferred_passes = one_of(value, own::pass_inferences, pass_inference::not_inferred);
    } else if (key == "inferred prefills") {
      t.inferred_prefills = number_of<std::uint64_t>(value, 0);
    } else if (key == "captures given") {
      t.captures_given = value == "true";
    } else if (key == "live CPU") {
      t.live_cpu = value == "true";
    } else if (key == "call names") {
      call_names_ = value == "true";
    } else if (key == "operators of calls") {
      call_operators_ = value == "true";
    } else if (key == "operators of activities") {
      activity_operators_ = value == "true";
    } else if (key == "ranges of activities") {
      activity_ranges_ = value == "true";
    }
  });
  std::vector<std::uint64_t> counts;
  own::each_element(member(header, "elsewhere"),
                    [&](std::string_view count) { counts.push_back(number_of<std::uint64_t>(count, 0)); });
  counts.resize(6);
  t.elsewhere = {counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]};
}

void own_reader::read_rows(std::string_view header) {
  each_row(member(header, "threads"), 3, [&](const row_cells& c) {
    losses_.add(lost::many_threads, trace_.threads.size() < most_rows ? 0 : 1);
    if (trace_.threads.size() < most_rows) {
      trace_.threads.push_back(
          {number_of<std::uint64_t>(c[0], 0), number_of<std::uint32_t>(c[1], 0), text_of(c[2])});
    }
  });
  each_row(member(header, "streams"), 3, [&](const row_cells& c) {
    losses_.add(lost::many_streams, trace_.streams.size() < most_rows ? 0 : 1);
    if (trace_.streams.size() < most_rows) {
      trace_.streams.push_back({number_of<std::uint32_t>(c[0], 0), number_of<std::uint64_t>(c[1], 0),
                                number_of<std::uint64_t>(c[2], 0)});
    }
  });
  each_row(member(header, "event spans"), 4, [&](const row_cells& c) {
    trace_.event_spans.push_back({number_of<time_ns>(c[0], 0), number_of<time_ns>(c[1], 0),
                                  number_of(c[2], none), number_of(c[3], narrow_none)});
  });
  each_row(member(header, "gauges"), 4, [&](const row_cells& c) {
    gauge_sample g;
    g.at = number_of<time_ns>(c[0], 0);
    g.what = one_of(c[1], own::gauge_names, gauge_kind::sm_clock);
    g.device = number_of(c[2], none);
    g.value = number_of<std::int64_t>(c[3], 0);
    trace_.gauges.push_back(g);
  });
  each_row(member(header, "counts"), 6, [&](const row_cells& c) {
    trace_.counts.push_back({number_of(c[0], none), number_of<std::uint32_t>(c[1], 0),
                             number_of<std::int64_t>(c[5], 0),
                             one_of(c[2], own::count_names, count_kind::dram_read),
                             one_of(c[3], own::pipes, math_pipe::unknown), number_of<std::uint8_t>(c[4], 0)});
  });
  each_row(member(header, "earlier services"), 5, [&](const row_cells& c) {
    trace_.earlier_services.push_back({number_of(c[0], none), number_of<std::int64_t>(c[1], 0),
                                       number_of<time_ns>(c[2], 0), number_of<time_ns>(c[3], 0),
                                       number_of<time_ns>(c[4], 0)});
  });
  each_row(member(header, "devices"), 9, [&](const row_cells& c) {
    losses_.add(lost::invalid_device, trace_.devices.size() < most_own_devices ? 0 : 1);
    if (trace_.devices.size() < most_own_devices) {
      trace_.devices.push_back({number_of<std::uint32_t>(c[0], 0), text_of(c[1]),
                                number_of<std::int32_t>(c[2], 0), number_of<std::int32_t>(c[3], 0),
                                number_of<std::int64_t>(c[4], 0), number_of<std::int64_t>(c[5], 0),
                                number_of<std::int64_t>(c[6], 0), number_of<std::int32_t>(c[7], 0),
                                number_of<std::int64_t>(c[8], 0)});
    }
  });
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/row_copy.hpp"

#include <algorithm>

namespace varve::record {

namespace {

/// What `ids` has at `id`, which `make` gives when it is asked for the first time.
template <class Id, class Make>
Id once(std::vector<Id>& ids, Id id, Id nothing, std::size_t rows, const Make& make) {
  if (id >= rows) {
    return id;  // none, or beyond the table
  }
  ids.resize(rows, nothing);
  if (ids[id] == nothing) {
    ids[id] = make();
  }
  return ids[id];
}

}  // namespace

template <class Row>
void row_copy::of_ranges(const std::vector<Row>& rows, std::vector<Row>& into) {
  for (Row row : rows) {
    row.range = range(row.range);
    if (row.range != none) {
      into.push_back(row);
    }
  }
}

void row_copy::ranges(const std::vector<bool>& wanted) {
  ranges_.assign(from_.ranges.size(), none);
  for (std::size_t r = 0; r < from_.ranges.size(); ++r) {
    if (wanted[r]) {
      varve::range copy = from_.ranges[r];
      copy.parent = range(copy.parent);
      copy.label = label(copy.label);
      copy.thread = thread(copy.thread);
      ranges_[r] = static_cast<std::uint32_t>(to_.ranges.size());
      to_.ranges.push_back(copy);
    }
  }
  of_ranges(from_.attributes, to_.attributes);
  of_ranges(from_.sequences, to_.sequences);
  of_ranges(from_.works, to_.works);
  of_ranges(from_.counts, to_.counts);
  for (const range_model& m : from_.models) {
    if (range(m.range) != none) {
      to_.models.push_back({range(m.range), string(m.name)});
    }
  }
  for (event_span s : from_.event_spans) {
    s.range = range(s.range);
    if (s.range != none) {
      s.stream = stream(s.stream);
      to_.event_spans.push_back(s);
    }
  }
  for (const request_link& l : from_.requests) {
    if (range(l.request) != none && range(l.pass) != none) {
      to_.requests.push_back({range(l.request), range(l.pass)});
    }
  }
  for (earlier_service s : from_.earlier_services) {
    s.request = range(s.request);
    if (s.request != none) {
      to_.earlier_services.push_back(s);
    }
  }
}

void row_copy::calls(const std::vector<bool>& wanted) {
  calls_.assign(from_.calls.size(), none);
  const call_columns& c = from_.calls;
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (wanted[i]) {
      calls_[i] = static_cast<std::uint32_t>(to_.calls.size());
      to_.add_call({c.begin[i], c.end[i], c.correlation[i], range(c.range[i]), thread(c.thread[i]), c.kind[i],
                    c.captured[i] != 0});
    }
  }
}

void row_copy::activities(const activity_columns& columns, const std::vector<bool>& wanted,
                          activity_columns& into) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (wanted[i]) {
      const std::uint32_t name = string(columns.name[i]);
      const std::uint32_t of_graph = node(columns.node[i]);
      const std::uint32_t more = detail(columns.detail[i], columns.kind[i] == activity_kind::kernel);
      const std::uint16_t on = stream(columns.stream[i]);
      into.begin.push_back(columns.begin[i]);
      into.end.push_back(columns.end[i]);
      into.correlation.push_back(columns.correlation[i]);
      into.name.push_back(name);
      into.node.push_back(of_graph);
      into.detail.push_back(more);
      into.stream.push_back(on);
      into.kind.push_back(columns.kind[i]);
    }
  }
}

std::uint32_t row_copy::string(std::uint32_t id) {
  return once(strings_, id, none, from_.strings.size(),
              [&] { return to_.strings.intern(from_.strings[id]); });
}

// Paths are as deep as ranges nest, 512 at most.
std::uint32_t row_copy::label(std::uint32_t id) {
  return once(labels_, id, none, from_.labels.size(), [&] {
    label_node step = from_.labels[id];
    step.parent = label(step.parent);
    step.name = string(step.name);
    return to_.labels.intern(step);
  });
}

std::uint32_t row_copy::node(std::uint32_t row) {
  return once(nodes_, row, none, from_.graph_nodes.size(), [&] {
    graph_node copy = from_.graph_nodes[row];
    copy.label = label(copy.label);
    to_.graph_nodes.push_back(copy);
    return static_cast<std::uint32_t>(to_.graph_nodes.size() - 1);
  });
}

std::uint32_t row_copy::detail(std::uint32_t id, bool kernel) {
  return kernel
             ? once(shapes_, id, none, from_.shapes.size(),
                    [&] { return to_.intern_shape(from_.shapes[id]); })
             : once(bytes_, id, none, from_.bytes.size(), [&] { return to_.intern_bytes(from_.bytes[id]); });
}

std::uint16_t row_copy::stream(std::uint16_t row) {
  return once(streams_, row, narrow_none, from_.streams.size(),
              [&] { return to_.intern_stream(from_.streams[row]); });
}

std::uint16_t row_copy::thread(std::uint16_t row) {
  return once(threads_, row, narrow_none, from_.threads.size(), [&] {
    const std::uint16_t copy = to_.intern_thread(from_.threads[row].id, from_.threads[row].process);
    if (copy < to_.threads.size()) {
      to_.threads[copy].name = from_.threads[row].name;
    }
    return copy;
  });
}

}  // namespace varve::record

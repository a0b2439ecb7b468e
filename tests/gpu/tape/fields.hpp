// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which fields each line of a tape has, once for reading and writing.
#ifndef VARVE_TESTS_GPU_TAPE_FIELDS_HPP
#define VARVE_TESTS_GPU_TAPE_FIELDS_HPP

#include <type_traits>

#include "gpu/tape/tape.hpp"

namespace varve_tape::detail {

// A line is written from constants and read into variables: Line is const or not.
template <class Line, class Type>
concept is = std::is_same_v<std::remove_const_t<Line>, Type>;

template <class Line, class Field>
void each_field(Line& line, Field&& field) {
  if constexpr (is<Line, header>) {
    field("version", line.version);
    field("name", line.name);
    field("origin", line.origin);
    field("cupti", line.cupti);
    field("driver", line.driver);
    field("runtime", line.runtime);
    field("device", line.device);
    field("capability", line.capability);
  } else if constexpr (is<Line, call>) {
    field("runtime", line.runtime);
    field("driver", line.driver);
    field("id", line.id);
    field("symbol", line.symbol);
    field("correlation", line.correlation);
    field("context", line.context);
    field("data", line.data);
    field("result", line.result);
    field("params", line.params);
  } else if constexpr (is<Line, resource>) {
    field("event", line.event);
    field("null", line.null);
    field("context", line.context);
    field("context_id", line.context_id);
    field("stream", line.stream);
    field("stream_id", line.stream_id);
    field("graph", line.graph);
    field("graph_id", line.graph_id);
    field("original_graph", line.original_graph);
    field("original_graph_id", line.original_graph_id);
    field("node", line.node);
    field("node_id", line.node_id);
    field("original_node", line.original_node);
    field("original_node_id", line.original_node_id);
    field("type", line.type);
    field("dependency", line.dependency);
    field("exec", line.exec);
    field("exec_id", line.exec_id);
  } else if constexpr (is<Line, request>) {
    field("buffer", line.buffer);
    field("size", line.size);
  } else if constexpr (is<Line, buffer>) {
    field("buffer", line.buffer);
    field("context", line.context);
    field("stream", line.stream);
    field("size", line.size);
    field("dropped", line.dropped);
    field("walked", line.walked);
  } else if constexpr (is<Line, record>) {
    field("kind", line.kind);
    field("offset", line.offset);
    field("name", line.name);
    field("name_at", line.name_at);
    field("data", line.data);
    field("begin", line.begin);
    field("end", line.end);
    field("device", line.device);
    field("context", line.context);
    field("stream", line.stream);
    field("correlation", line.correlation);
    field("node", line.node);
    field("graph", line.graph);
    field("direction", line.direction);
    field("length", line.length);
  } else if constexpr (is<Line, begin>) {
    field("phase", line.phase);
    field("layer", line.layer);
    field("op", line.op);
    field("index", line.index);
  } else if constexpr (is<Line, start>) {
    field("whole_graphs", line.whole_graphs);
  } else if constexpr (is<Line, step>) {
    field("text", line.text);
  } else if constexpr (is<Line, expect>) {
    field("label", line.label);
    field("kind", line.kind);
    field("name", line.name);
    field("in", line.in);
    field("node", line.node);
    field("stale", line.stale);
    field("count", line.count);
  } else if constexpr (is<Line, loss>) {
    field("what", line.what);
    field("count", line.count);
  } else {
    static_assert(is<Line, end> || is<Line, stop> || is<Line, arm> || is<Line, disarm>);
  }
}

/// Of a call, that of its entry.
template <class Line>
constexpr const char* word_of() {
  if constexpr (is<Line, header>) {
    return "varve-tape";
  } else if constexpr (is<Line, call>) {
    return "enter";
  } else if constexpr (is<Line, resource>) {
    return "resource";
  } else if constexpr (is<Line, request>) {
    return "request";
  } else if constexpr (is<Line, buffer>) {
    return "buffer";
  } else if constexpr (is<Line, record>) {
    return "record";
  } else if constexpr (is<Line, begin>) {
    return "begin";
  } else if constexpr (is<Line, end>) {
    return "end";
  } else if constexpr (is<Line, start>) {
    return "start";
  } else if constexpr (is<Line, stop>) {
    return "stop";
  } else if constexpr (is<Line, arm>) {
    return "arm";
  } else if constexpr (is<Line, disarm>) {
    return "disarm";
  } else if constexpr (is<Line, step>) {
    return "step";
  } else if constexpr (is<Line, expect>) {
    return "expect";
  } else {
    static_assert(is<Line, loss>);
    return "loss";
  }
}

inline constexpr const char* leaving = "leave";

}  // namespace varve_tape::detail

#endif  // VARVE_TESTS_GPU_TAPE_FIELDS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What devices did, as a trace tells it: each piece of work with the layer that it belongs to.
#ifndef VARVE_TESTS_SUPPORT_DEVICE_WORK_HPP
#define VARVE_TESTS_SUPPORT_DEVICE_WORK_HPP

#include <varve/trace.hpp>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace varve_test {

struct piece_of_work {
  std::string name;
  std::string layer;  ///< path of the node's label, else of its call's range; "?": no call or several
  varve::time_ns begin = 0;
  varve::time_ns end = 0;
  std::uint32_t correlation = 0;
  varve::activity_kind kind = varve::activity_kind::kernel;
  std::int64_t bytes = -1;
  varve::launch_shape shape;
  varve::stream_info stream;
};

inline std::vector<piece_of_work> device_work(const varve::trace& t) {
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> calls;
  for (std::uint32_t c = 0; c < t.calls.size(); ++c) {
    calls[t.calls.correlation[c]].push_back(c);
  }
  std::vector<piece_of_work> out;
  const varve::activity_columns& a = t.activities;
  for (std::size_t i = 0; i < a.size(); ++i) {
    piece_of_work p;
    p.name = t.strings[a.name[i]];
    p.begin = a.begin[i];
    p.end = a.end[i];
    p.correlation = a.correlation[i];
    p.kind = a.kind[i];
    p.stream = t.streams.at(a.stream[i]);
    const auto found = calls.find(p.correlation);
    if (a.node[i] != varve::none) {
      p.layer = varve::label_text(t, t.graph_nodes.at(a.node[i]).label);
    } else if (found == calls.end() || found->second.size() != 1) {
      p.layer = "?";
    } else if (const std::uint32_t r = t.calls.range[found->second.front()]; r != varve::none) {
      p.layer = varve::label_text(t, t.ranges.at(r).label);
    }
    if (a.detail[i] != varve::none && p.kind == varve::activity_kind::kernel) {
      p.shape = t.shapes.at(a.detail[i]);
    } else if (a.detail[i] != varve::none) {
      p.bytes = t.bytes.at(a.detail[i]);
    }
    out.push_back(p);
  }
  return out;
}

/// A line a piece, sorted: to compare what ran with what a trace tells.
inline std::string line_of(const std::string& name, const std::string& layer, std::uint32_t correlation,
                           varve::time_ns begin, varve::time_ns end) {
  return name + " in " + layer + ", correlation " + std::to_string(correlation) + ", " +
         std::to_string(begin) + " to " + std::to_string(end);
}

inline std::vector<std::string> lines_of(const varve::trace& t) {
  std::vector<std::string> out;
  for (const piece_of_work& p : device_work(t)) {
    out.push_back(line_of(p.name, p.layer, p.correlation, p.begin, p.end));
  }
  std::sort(out.begin(), out.end());
  return out;
}

inline const varve::collector_status* find_collector(const std::vector<varve::collector_status>& all,
                                                     const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.name == name; });
  return found != all.end() ? &*found : nullptr;
}

}  // namespace varve_test

#endif  // VARVE_TESTS_SUPPORT_DEVICE_WORK_HPP

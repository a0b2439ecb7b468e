// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Graphs, their nodes and executables: what the simulated CUDA keeps of them.
#ifndef VARVE_TESTS_STANDIN_CUPTI_GRAPHS_HPP
#define VARVE_TESTS_STANDIN_CUPTI_GRAPHS_HPP

#include "standin_cupti/layout.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace standin {

inline constexpr int error_invalid_value = 1;

struct graph_object;

struct graph_node {
  cupti::graph_node_handle handle = nullptr;
  std::uint64_t id = 0;
  operation op;
  std::shared_ptr<graph_object> inner;          ///< of a child graph or a conditional node: its body
  std::uint32_t times = 1;                      ///< the body runs
  cupti::graph_node_handle original = nullptr;  ///< what it was cloned from
};

struct graph_object {
  cupti::graph_handle handle = nullptr;
  std::uint32_t id = 0;
  std::uint32_t nodes_made = 0;
  std::vector<graph_node> nodes;
};

struct exec_object {
  cupti::graph_exec_handle handle = nullptr;
  std::uint32_t id = 0;
  graph_object content;
  bool one_record = false;  ///< GRAPH_TRACE was on when it was made
};

/// Handles are numbers that nobody may read behind; the last destroyed is the next made, if so configured.
class handle_source {
 public:
  std::uintptr_t take();
  void give_back(std::uintptr_t handle);

 private:
  std::vector<std::uintptr_t> free_;
  std::uintptr_t next_ = 0x10000000;
};

struct graph_event {
  cupti::resource_event what;
  cupti::graph_data data;
};

struct graph_state {
  std::mutex mutex;
  handle_source handles;
  std::uint32_t last_id = 0;
  std::map<cupti::graph_handle, std::shared_ptr<graph_object>> graphs;  ///< bodies and children's clones too
  std::map<cupti::graph_exec_handle, std::shared_ptr<exec_object>> execs;
  std::map<cupti::graph_node_handle, std::uint64_t> nodes;
};

graph_state& graphs();

// Under the mutex.
std::shared_ptr<graph_object> make_graph(graph_state& all);
graph_node& make_node(graph_state& all, graph_object& in, const operation& op);
std::shared_ptr<graph_object> find(graph_state& all, cupti::graph_handle g);  ///< null, and a misuse
std::shared_ptr<exec_object> find(graph_state& all, cupti::graph_exec_handle e);
/// Clones nodes, and what is in them, to the end of `to`; notes an event for each, with the graphs that
/// `told` says.
void clone_nodes(graph_state& all, const graph_object& from, graph_object& to, const cupti::graph_data& told,
                 std::vector<graph_event>& events);
/// Forgets a graph's nodes, and what is in them; their handles are free afterwards.
void forget_nodes(graph_state& all, const graph_object& in);
/// Calls `visit` on each node, children and bodies after the node that has them.
void each_node(graph_object& in, const std::function<void(graph_node&)>& visit);

/// What an event says of a graph.
inline cupti::graph_data about(cupti::graph_handle g, cupti::graph_exec_handle e = nullptr) {
  cupti::graph_data data{};
  data.graph = g;
  data.graph_exec = e;
  return data;
}

// Without the mutex.
void emit_all(const std::vector<graph_event>& events);
/// Within a call: makes the node and its callbacks.
cupti::graph_node_handle add_node(cupti::graph_handle g, const operation& op, std::uint32_t device = 0);

std::optional<std::uint32_t> id_of(cupti::graph_handle g);
std::optional<std::uint32_t> id_of(cupti::graph_exec_handle e);
std::optional<std::uint64_t> id_of(cupti::graph_node_handle n);

void reset_graphs();

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_GRAPHS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Follows CUDA graphs from capture to replay: which node came of which, so that the labels that were open at
// a node's capture reach the kernels of each replay.
#ifndef VARVE_CUDA_CUPTI_GRAPHS_HPP
#define VARVE_CUDA_CUPTI_GRAPHS_HPP

#include "cupti/abi.hpp"
#include "cupti/library.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace varve::cupti {

/// Graphs that are alive, by CUPTI's ids, and executables, by their handles. Thread safe; takes a lock and
/// may allocate: building graphs is no launch path. No lock is held while CUPTI is called.
class graph_book {
 public:
  explicit graph_book(const library& lib) noexcept : lib_{lib} {}

  /// A callback of the domain `resource` that concerns graphs.
  void happened(resource_event what, const graph_data& data) noexcept;
  /// A call that makes executables returns on this thread, whether or not it made one.
  void instantiated() noexcept;
  /// An executable was updated from `graph` by a call of cudaGraphExecUpdate or cuGraphExecUpdate.
  void updated(graph_exec_handle exec, graph_handle graph, std::uint32_t correlation) noexcept;
  /// Forgets all graphs; counts stay.
  void clear() noexcept;
  void reset_counts() noexcept;

  struct counts {
    std::uint64_t nodes = 0;          ///< captured or made
    std::uint64_t updates = 0;        ///< of executables
    std::uint64_t stale_updates = 0;  ///< whose nodes could not be matched
  };
  [[nodiscard]] counts counted() const noexcept;
  /// Nodes that it knows, of all graphs and executables that are alive.
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  struct node {
    std::uint64_t id = 0;
    std::uint32_t source = 0;  // graph that it was made in, or cloned from
    std::uint32_t order = 0;   // among those of that graph
    graph_node_type type = graph_node_type::empty;
  };
  using nodes = std::vector<node>;
  using nodes_by_order = std::map<std::uint32_t, node>;  // which may go in any order, one by one

  void created(const graph_data& d);
  void cloned(const graph_data& d);
  void exec_created(const graph_data& d);
  void add_to_graph(std::uint32_t graph, std::uint64_t id, graph_node_type type);
  void node_gone(const graph_data& d);
  template <class Owner, class Nodes>
  void owner_gone(std::unordered_map<Owner, Nodes>& owners, Owner owner, bool replayed);
  std::uint64_t id_of(graph_node_handle n) const noexcept;
  std::uint32_t id_of(graph_handle g) const noexcept;
  static bool matches(const nodes& exec, const nodes_by_order& graph) noexcept;

  const library& lib_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint32_t, nodes_by_order> graphs_;
  std::unordered_map<graph_exec_handle, nodes> execs_;   // by order
  std::unordered_map<std::thread::id, nodes> making_;    // executables, on these threads
  std::unordered_map<std::uint64_t, node> graph_nodes_;  // of graphs, by id
  counts counted_;
};

}  // namespace varve::cupti

#endif  // VARVE_CUDA_CUPTI_GRAPHS_HPP

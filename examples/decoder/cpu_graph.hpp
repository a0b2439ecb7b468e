// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Graphs of the CPU device: a captured list of tasks, and the executables made of it. Their nodes have ids
// that varve knows, so that a replayed task still belongs to the layer in which it was captured.
#ifndef DECODER_CPU_GRAPH_HPP
#define DECODER_CPU_GRAPH_HPP

#include "backend.hpp"
#include "cpu_device.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace decoder {

using task_list = std::vector<task>;

/// Node ids that varve forgets with this.
class node_ids {
 public:
  explicit node_ids(cpu_device& device) : device_{device} {}
  node_ids(const node_ids&) = delete;
  node_ids& operator=(const node_ids&) = delete;
  ~node_ids();

  /// A node captured now, in the layer that is open on this thread.
  void capture() { ids_.push_back(device_.reporter().capture_node()); }
  void clone(const node_ids& from);
  /// As many nodes as `from` has, which take its labels.
  void update(const node_ids& from);
  [[nodiscard]] std::uint64_t operator[](std::size_t i) const { return ids_[i]; }

 private:
  cpu_device& device_;
  std::vector<std::uint64_t> ids_;
};

class cpu_graph final : public graph {
 public:
  explicit cpu_graph(cpu_device& device) : tasks_{std::make_shared<task_list>()}, nodes_{device} {}
  void add(task captured);

  [[nodiscard]] std::size_t size() const override { return tasks_->size(); }
  [[nodiscard]] std::shared_ptr<const task_list> tasks() const { return tasks_; }
  [[nodiscard]] const node_ids& nodes() const { return nodes_; }

 private:
  std::shared_ptr<task_list> tasks_;
  node_ids nodes_;
};

/// A launch shares the tasks and nodes, so that updating or destroying the executable leaves it alone.
class cpu_executable final : public executable {
 public:
  cpu_executable(cpu_device& device, const cpu_graph& from);
  [[nodiscard]] bool update(const graph& from) override;

  [[nodiscard]] std::shared_ptr<const task_list> tasks() const { return tasks_; }
  [[nodiscard]] std::shared_ptr<const node_ids> nodes() const { return nodes_; }

 private:
  cpu_device& device_;
  std::shared_ptr<const task_list> tasks_;
  std::shared_ptr<node_ids> nodes_;
};

}  // namespace decoder

#endif  // DECODER_CPU_GRAPH_HPP

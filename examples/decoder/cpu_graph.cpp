// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cpu_graph.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace decoder {

node_ids::~node_ids() {
  for (const std::uint64_t id : ids_) {
    device_.reporter().destroy_node(id);
  }
}

void node_ids::clone(const node_ids& from) {
  for (const std::uint64_t id : from.ids_) {
    ids_.push_back(device_.reporter().clone_node(id));
  }
}

void node_ids::update(const node_ids& from) {
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    device_.reporter().update_node(ids_[i], from.ids_[i]);
  }
}

void cpu_graph::add(task captured) {
  tasks_->push_back(std::move(captured));
  nodes_.capture();
}

cpu_executable::cpu_executable(cpu_device& device, const cpu_graph& from)
    : device_{device}, nodes_{std::make_shared<node_ids>(device)} {
  const varve::host_call call{device.reporter(), varve::call_kind::graph_build};
  tasks_ = from.tasks();
  nodes_->clone(from.nodes());
}

bool cpu_executable::update(const graph& from) {
  const varve::host_call call{device_.reporter(), varve::call_kind::graph_build};
  const auto& source = static_cast<const cpu_graph&>(from);
  const auto same_kernel = [](const task& a, const task& b) {
    return std::string_view{a.name} == b.name && a.kind == b.kind;
  };
  const task_list& now = *source.tasks();
  if (!std::equal(tasks_->begin(), tasks_->end(), now.begin(), now.end(), same_kernel)) {
    return false;
  }
  tasks_ = source.tasks();
  nodes_->update(source.nodes());
  return true;
}

}  // namespace decoder

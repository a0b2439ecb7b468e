// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "virtual_device.hpp"

#include "virtual_simulation.hpp"

#include <algorithm>

namespace virtual_device {

using varve::activity_kind;
using varve::call_kind;
using varve::range_kind;

// --- scopes ----------------------------------------------------------------------------------------------

scope::scope(scope&& other) noexcept : owner_{other.owner_}, range_{other.range_} { other.owner_ = nullptr; }

void scope::end() {
  if (owner_ == nullptr) {
    return;
  }
  std::vector<ref>& open = owner_->open_;
  open.erase(std::find(open.begin(), open.end(), range_));
  if (owner_->machine_->recording_.ranges[range_].thread == owner_->thread_) {  // not adopted
    owner_->script_.emplace_back([r = range_](simulation& s) { s.end_range(r); });
  }
  owner_ = nullptr;
}

scope& scope::attribute(varve_attribute key, std::int64_t value) {
  owner_->machine_->recording_.ranges[range_].attributes.emplace_back(key, value);
  return *this;
}

scope& scope::work(const varve::work& declared) {
  owner_->machine_->recording_.ranges[range_].declared += declared;
  return *this;
}

scope& scope::serves(ref request) {
  owner_->machine_->recording_.ranges[range_].serves.push_back(request);
  return *this;
}

scope host::open(range_kind kind, const std::string& name, std::int32_t index, const std::string& model) {
  std::vector<range_record>& ranges = machine_->recording_.ranges;
  range_record r;
  r.label = {kind, name, index};
  r.model = model;
  r.parent = innermost();
  r.thread = thread_;
  ranges.push_back(std::move(r));
  const auto id = static_cast<ref>(ranges.size() - 1);
  open_.push_back(id);
  script_.emplace_back([id](simulation& s) { s.begin_range(id); });
  return {*this, id};
}

scope host::phase(const std::string& name, const std::string& model) {
  return open(range_kind::phase, name, varve::no_index, model);
}

scope host::layer(const std::string& name, std::int32_t index) {
  return open(range_kind::layer, name, index, {});
}

scope host::op(const std::string& name, std::int32_t index) { return open(range_kind::op, name, index, {}); }

scope host::adopt(const scope& of_another_thread) {
  open_.push_back(of_another_thread.range_);
  return {*this, of_another_thread.range_};
}

// --- calls -----------------------------------------------------------------------------------------------

void host::spend(time_ns duration) {
  script_.emplace_back([=](simulation& s) { s.spend(duration); });
}

void host::launch(stream on, const kernel& k) {
  script_.emplace_back(
      [=, job = job{k}, r = innermost(), c = cost, after = submitted_after(cost.launch)](simulation& s) {
        s.launch(job, on, call_kind::launch, r, c.launch, c.captured, after, false);
      });
}

void host::copy_like(call_kind kind, stream on, std::int64_t bytes, time_ns duration, time_ns call_cost,
                     bool waits) {
  const bool sets = kind == call_kind::set;
  const job what{{sets ? "Memset" : "Memcpy HtoD", duration, 0, -1, "copy"},
                 sets ? activity_kind::set : activity_kind::copy,
                 bytes};
  script_.emplace_back(
      [=, r = innermost(), captured = cost.captured, after = submitted_after(call_cost)](simulation& s) {
        s.launch(what, on, kind, r, call_cost, captured, after, waits);
      });
}

void host::copy(stream s, std::int64_t bytes, time_ns duration) {
  copy_like(call_kind::copy, s, bytes, duration, cost.copy, false);
}

void host::copy_and_wait(stream s, std::int64_t bytes, time_ns duration) {
  copy_like(call_kind::copy, s, bytes, duration, cost.copy, true);
}

void host::set(stream s, std::int64_t bytes, time_ns duration) {
  copy_like(call_kind::set, s, bytes, duration, cost.set, false);
}

void host::record(event e, stream on) {
  script_.emplace_back([=, r = innermost(), c = cost.event](simulation& s) { s.record(e, on, r, c); });
}

void host::wait(stream on, event e) {
  script_.emplace_back([=, r = innermost(), c = cost.event](simulation& s) { s.wait(on, e, r, c); });
}

void host::synchronise(stream on) {
  script_.emplace_back(
      [=, r = innermost(), c = cost.synchronise](simulation& s) { s.synchronise_stream(on, r, c); });
}

void host::synchronise(event e) {
  script_.emplace_back(
      [=, r = innermost(), c = cost.synchronise](simulation& s) { s.synchronise_event(e, r, c); });
}

void host::synchronise_device(std::uint32_t device) {
  script_.emplace_back(
      [=, r = innermost(), c = cost.synchronise](simulation& s) { s.synchronise_device(device, r, c); });
}

void host::allocate() { call(call_kind::allocate, cost.allocate); }

void host::call(call_kind kind, time_ns duration) {
  script_.emplace_back([=, r = innermost()](simulation& s) { s.call(kind, r, duration); });
}

// --- graphs and other threads ----------------------------------------------------------------------------

void host::begin_capture(stream on) {
  const graph g{machine_->graphs_};
  script_.emplace_back([=](simulation& s) { s.begin_capture(on, g); });
}

graph host::end_capture(stream on) {
  script_.emplace_back([=](simulation& s) { s.end_capture(on); });
  return {machine_->graphs_++};
}

void host::launch(stream on, graph child) {
  script_.emplace_back(
      [=, r = innermost(), c = cost.captured](simulation& s) { s.add_child(on, child, r, c); });
}

executable host::instantiate(graph g) {
  const executable e{machine_->executables_++};
  script_.emplace_back(
      [=, r = innermost(), c = cost.graph_build](simulation& s) { s.instantiate(e, g, r, c); });
  return e;
}

void host::update(executable e, graph g, bool stale) {
  script_.emplace_back(
      [=, r = innermost(), c = cost.graph_build](simulation& s) { s.update(e, g, stale, r, c); });
}

void host::launch(stream on, executable e) {
  script_.emplace_back(
      [=, r = innermost(), c = cost.graph_launch, after = submitted_after(cost.graph_launch)](simulation& s) {
        s.launch_graph(on, e, r, c, after);
      });
}

flag host::post() {
  const flag f{machine_->flags_++};
  script_.emplace_back([=](simulation& s) { s.post(f); });
  return f;
}

void host::await(flag f) {
  script_.emplace_back([=](simulation& s) { s.await(f); });
}

// --- the machine -----------------------------------------------------------------------------------------

void machine::device(std::uint32_t id, std::uint32_t max_concurrent) {
  recording_.devices.push_back(id);
  max_concurrent_.push_back(max_concurrent);
}

stream machine::new_stream(std::uint32_t device) {
  recording_.streams.push_back({device, 7 + recording_.streams.size()});
  return {static_cast<ref>(recording_.streams.size() - 1)};
}

host& machine::new_host() {
  hosts_.push_back(host{*this, recording_.threads++});
  return hosts_.back();
}

ref machine::request(const std::string& name, std::int32_t index, time_ns begin, time_ns end) {
  range_record r;
  r.label = {range_kind::request, name, index};
  r.begin = begin;
  r.end = end;
  recording_.ranges.push_back(std::move(r));
  return static_cast<ref>(recording_.ranges.size() - 1);
}

recording machine::run() {
  simulation{recording_, max_concurrent_, hosts_.size(), nested_calls}.play(hosts_);
  return recording_;
}

}  // namespace virtual_device

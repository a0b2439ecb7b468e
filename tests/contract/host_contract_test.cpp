// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/collector.hpp>

#include <map>

#include "collector_contract.hpp"

namespace contract {
namespace {

/// A device that works while it is launched on, and reports that at once.
class host_rig final : public rig {
 public:
  void choose(varve::session_options& options) override { options.gpu.enabled = false; }

  int make_stream(std::uint32_t device) override {
    const std::lock_guard lock{mutex_};
    streams_.push_back({device, false, {}});
    return static_cast<int>(streams_.size()) - 1;
  }
  std::uint64_t stream_id(int stream) override { return static_cast<std::uint64_t>(stream); }

  std::uint32_t launch(int stream, const char* name) override {
    std::unique_lock lock{mutex_};
    const queue& q = streams_[static_cast<std::size_t>(stream)];
    const bool captures = q.captures;
    varve::host_device& d = devices_[q.device];
    lock.unlock();
    const varve::host_call call{d, varve::call_kind::launch, captures};
    if (captures) {
      const node n{d.capture_node(), name};
      lock.lock();
      streams_[static_cast<std::size_t>(stream)].nodes.push_back(n);
    } else {
      run(d, stream, {call.correlation(), name, varve::activity_kind::kernel, 0, 0});
    }
    return call.correlation();
  }
  std::uint32_t copy(int stream, std::int64_t bytes) override {
    varve::host_device& d = device_of(stream);
    const varve::host_call call{d, varve::call_kind::copy};
    run(d, stream, {call.correlation(), "copy", varve::activity_kind::copy, 0, bytes});
    return call.correlation();
  }
  std::uint32_t launch_that_fails(int stream) override {
    const varve::host_call call{device_of(stream), varve::call_kind::launch};
    return call.correlation();
  }
  void begin_capture(int stream) override {
    const std::lock_guard lock{mutex_};
    streams_[static_cast<std::size_t>(stream)].captures = true;
  }
  int end_capture(int stream) override {
    const std::lock_guard lock{mutex_};
    queue& q = streams_[static_cast<std::size_t>(stream)];
    for (node& n : q.nodes) {
      n.id = devices_[q.device].clone_node(n.id);
    }
    executables_.push_back(std::move(q.nodes));
    q = {q.device, false, {}};
    return static_cast<int>(executables_.size()) - 1;
  }
  std::uint32_t replay(int stream, int executable) override {
    varve::host_device& d = device_of(stream);
    const varve::host_call call{d, varve::call_kind::graph_launch};
    for (const node& n : executables_[static_cast<std::size_t>(executable)]) {
      run(d, stream, {call.correlation(), n.name, varve::activity_kind::kernel, n.id, 0});
    }
    return call.correlation();
  }
  std::vector<std::pair<varve::time_ns, varve::time_ns>> times(std::uint32_t correlation) override {
    std::vector<std::pair<varve::time_ns, varve::time_ns>> out;
    for (const auto& [begin, end] : ticks_[correlation]) {
      out.emplace_back(varve::clock_nanoseconds(begin), varve::clock_nanoseconds(end));
    }
    return out;
  }

 private:
  struct node {
    std::uint64_t id;
    const char* name;
  };
  struct queue {
    std::uint32_t device;
    bool captures;
    std::vector<node> nodes;
  };
  struct job {
    std::uint32_t correlation;
    const char* name;
    varve::activity_kind kind;
    std::uint64_t node;
    std::int64_t bytes;
  };

  varve::host_device& device_of(int stream) {
    const std::lock_guard lock{mutex_};
    return devices_[streams_[static_cast<std::size_t>(stream)].device];
  }
  void run(varve::host_device& d, int stream, const job& j) {
    const std::uint64_t begin = varve::clock_ticks();
    const std::uint64_t end = varve::clock_ticks();
    d.report(
        {static_cast<std::uint32_t>(stream), j.correlation, j.name, begin, end, j.kind, j.node, j.bytes});
    const std::lock_guard lock{mutex_};
    ticks_[j.correlation].emplace_back(begin, end);
  }

  std::mutex mutex_;
  varve::host_device devices_[2]{varve::host_device{{0, "one"}}, varve::host_device{{1, "two"}}};
  std::vector<queue> streams_;
  std::vector<std::vector<node>> executables_;
  std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> ticks_;
};

std::unique_ptr<rig> make_host_rig() { return std::make_unique<host_rig>(); }

INSTANTIATE_TEST_SUITE_P(host, collector_contract, testing::Values(&make_host_rig));

}  // namespace
}  // namespace contract

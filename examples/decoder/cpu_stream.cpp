// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cpu_stream.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace decoder {

using varve::call_kind;
using varve::host_call;

void cpu_event::synchronise() {
  {
    const host_call call{device_.reporter(), call_kind::synchronise};
    if (last_) {
      last_->reached.wait();
    }
  }
  device_.check();
}

double cpu_event::seconds_since(const event& earlier) const {
  const auto& before = static_cast<const cpu_event&>(earlier);
  if (!last_ || !before.last_ || !last_->reached.try_wait() || !before.last_->reached.try_wait()) {
    throw std::logic_error{"seconds_since of an event that was not reached"};
  }
  return std::chrono::duration<double>(last_->time - before.last_->time).count();
}

cpu_stream::cpu_stream(cpu_device& device)
    : device_{device}, id_{device.next_stream()}, worker_{[this] { work(); }} {}

cpu_stream::~cpu_stream() {
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  changed_.notify_one();
  worker_.join();
}

void cpu_stream::push(job next) {
  {
    const std::lock_guard lock{mutex_};
    queue_.push_back(std::move(next));
  }
  changed_.notify_one();
}

void cpu_stream::work() {
  for (;;) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !queue_.empty() || closing_; });
    if (queue_.empty()) {
      return;
    }
    const job next = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    next();
  }
}

void cpu_stream::refuse_while_capturing(const char* call) const {
  if (capture_) {
    throw std::logic_error{std::string{call} + " is not possible while the stream captures a graph"};
  }
}

void cpu_stream::launch(task what) {
  const bool is_copy = what.kind == varve::activity_kind::copy;
  const host_call call{device_.reporter(), is_copy ? call_kind::copy : call_kind::launch,
                       capture_ != nullptr};
  if (capture_) {
    capture_->add(std::move(what));
    return;
  }
  push([this, what = std::move(what), correlation = call.correlation()] {
    device_.execute(what, id_, correlation, 0);
  });
}

void cpu_stream::synchronise() {
  refuse_while_capturing("synchronise");
  {
    const host_call call{device_.reporter(), call_kind::synchronise};
    const auto reached = std::make_shared<std::latch>(1);
    push([reached] { reached->count_down(); });
    reached->wait();
  }
  device_.check();
}

void cpu_stream::record(event& mark) {
  refuse_while_capturing("record");
  const host_call call{device_.reporter(), call_kind::event};
  const auto now = std::make_shared<cpu_event::moment>();
  static_cast<cpu_event&>(mark).last_ = now;
  push([now] {
    now->time = std::chrono::steady_clock::now();
    now->reached.count_down();
  });
}

void cpu_stream::wait(const event& mark) {
  refuse_while_capturing("wait");
  const host_call call{device_.reporter(), call_kind::event};
  if (const auto last = static_cast<const cpu_event&>(mark).last_) {
    push([last] { last->reached.wait(); });
  }
}

void cpu_stream::begin_capture() {
  refuse_while_capturing("begin_capture");
  const host_call call{device_.reporter(), call_kind::graph_build};
  capture_ = std::make_unique<cpu_graph>(device_);
}

std::unique_ptr<graph> cpu_stream::end_capture() {
  const host_call call{device_.reporter(), call_kind::graph_build};
  if (!capture_) {
    throw std::logic_error{"end_capture without begin_capture"};
  }
  return std::move(capture_);
}

void cpu_stream::launch(const executable& replayed) {
  refuse_while_capturing("launch of a graph");
  const auto& what = static_cast<const cpu_executable&>(replayed);
  const host_call call{device_.reporter(), call_kind::graph_launch};
  push([this, tasks = what.tasks(), nodes = what.nodes(), correlation = call.correlation()] {
    for (std::size_t i = 0; i < tasks->size(); ++i) {
      device_.execute((*tasks)[i], id_, correlation, (*nodes)[i]);
    }
  });
}

}  // namespace decoder

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "virtual_simulation.hpp"

#include <algorithm>
#include <stdexcept>

namespace virtual_device {

using varve::activity_kind;
using varve::call_kind;

simulation::simulation(recording& out, std::vector<std::uint32_t> max_concurrent, std::size_t hosts,
                       machine::nesting nested)
    : out_{out},
      max_concurrent_{std::move(max_concurrent)},
      nested_{nested},
      threads_(hosts),
      last_(out.streams.size(), none),
      running_(out.devices.size(), 0),
      waiting_(out.devices.size()) {}

void simulation::play(std::deque<host>& hosts) {
  for (std::size_t t = 0; t < hosts.size(); ++t) {
    queue_.emplace(0, goes_on, static_cast<ref>(t));
  }
  while (!queue_.empty()) {
    const auto [now, what, which] = queue_.top();
    queue_.pop();
    if (what == ends) {
      end(which, now);
    } else if (what == begins) {
      start(which, now);
    } else {
      thread_state& t = threads_[which];
      const std::vector<host::operation>& script = hosts[which].script_;
      if (t.next < script.size()) {
        thread_ = which;
        script[t.next++](*this);
        if (t.waits_for == 0) {
          queue_.emplace(t.clock, goes_on, which);
        }
      }
    }
  }
  for (std::size_t t = 0; t < hosts.size(); ++t) {
    if (threads_[t].waits_for != 0 || threads_[t].next < hosts[t].script_.size()) {
      throw std::logic_error("virtual thread " + std::to_string(t) + " is blocked for ever");
    }
  }
}

// --- items -----------------------------------------------------------------------------------------------

ref simulation::new_item(item i, const std::vector<ref>& after, ref early_behind, time_ns early) {
  const ref id = static_cast<ref>(items_.size());
  i.unmet = 1;  // this call
  for (const ref before : after) {
    if (!items_[before].completed) {
      ++i.unmet;
      items_[before].after.push_back(id);
    }
  }
  time_ns met = i.ready;
  if (early_behind != none) {
    item& before = items_[early_behind];
    before.early_after.emplace_back(id, early);
    i.behind = early_behind;
    if (before.begun) {
      met = std::max(before.begin, before.end - early);
    } else {
      ++i.unmet;
    }
  }
  items_.push_back(std::move(i));
  condition_met(id, met);
  return id;
}

ref simulation::in_stream_order(item i, stream s, std::vector<ref> after, time_ns early) {
  const ref before = last_[s.id];
  const bool may_be_early = before != none && early >= 0 && items_[before].work && !items_[before].completed;
  if (before != none && !may_be_early) {
    after.push_back(before);
  }
  return last_[s.id] = new_item(std::move(i), after, may_be_early ? before : none, early);
}

void simulation::condition_met(ref i, time_ns at) {
  item& it = items_[i];
  it.ready = std::max(it.ready, at);
  if (--it.unmet == 0) {
    queue_.emplace(it.ready + it.delay, begins, i);
  }
}

void simulation::start(ref i, time_ns now) {
  const ref device = items_[i].device;
  if (device != none && max_concurrent_[device] > 0 && running_[device] == max_concurrent_[device]) {
    waiting_[device].push_back(i);
  } else {
    run(i, now);
  }
}

void simulation::run(ref i, time_ns now) {
  item& it = items_[i];
  it.begun = true;
  it.begin = now;
  it.end = now + it.duration;
  if (it.device != none) {
    ++running_[it.device];
  }
  if (it.activity != none) {
    out_.activities[it.activity].begin = it.begin;
    out_.activities[it.activity].end = it.end;
  }
  queue_.emplace(it.end, ends, i);
  for (const auto& [next, early] : it.early_after) {
    condition_met(next, std::max(it.begin, it.end - early));
  }
}

void simulation::end(ref i, time_ns now) {
  item& it = items_[i];
  it.ended = true;
  if (it.device != none) {
    --running_[it.device];
    if (std::deque<ref>& waiting = waiting_[it.device]; !waiting.empty()) {
      const ref first = waiting.front();
      waiting.pop_front();
      run(first, now);
    }
  }
  if (it.behind == none || items_[it.behind].completed) {
    complete(i, now);
  }
}

void simulation::complete(ref i, time_ns now) {
  items_[i].completed = true;
  for (const ref next : items_[i].after) {
    condition_met(next, now);
  }
  for (const ref thread : items_[i].threads) {
    wake(thread, now);
  }
  for (const auto& [next, early] : items_[i].early_after) {
    if (items_[next].ended) {
      complete(next, now);
    }
  }
}

void simulation::wake(ref thread, time_ns now) {
  if (--threads_[thread].waits_for == 0) {
    threads_[thread].woken(now);
    queue_.emplace(threads_[thread].clock, goes_on, thread);
  }
}

// --- calls -----------------------------------------------------------------------------------------------

ref simulation::add_call(call_kind kind, ref range, time_ns cost, bool captured) {
  call_record c{clock(), clock() + cost, kind, thread_, range, none, none, ++correlation_, captured};
  const ref id = static_cast<ref>(out_.calls.size());
  out_.calls.push_back(c);
  if (nested_ != machine::nesting::off && (kind == call_kind::launch || kind == call_kind::graph_launch)) {
    c.outer = id;
    c.begin += cost / 4;
    c.end -= cost / 4;
    if (nested_ == machine::nesting::own_correlation) {
      c.correlation = ++correlation_;
    }
    out_.calls.push_back(c);
  }
  clock() += cost;
  return id;
}

void simulation::finish_call_after(ref call, const std::vector<ref>& items) {
  thread_state& t = threads_[thread_];
  for (const ref i : items) {
    if (!items_[i].completed) {
      items_[i].threads.push_back(thread_);
      ++t.waits_for;
    }
  }
  t.woken = [this, call, &t](time_ns now) {
    t.clock = out_.calls[call].end = std::max(out_.calls[call].end, now);
  };
}

ref simulation::add_activity(const job& j, ref stream, ref call, ref of_node) {
  out_.activities.push_back(
      {0, 0, j.kind, j.what.name, j.what.category, j.bytes, j.what.grid, stream, call, of_node});
  return static_cast<ref>(out_.activities.size() - 1);
}

simulation::item simulation::item_of(const job& j, ref activity) const {
  item i;
  i.duration = j.what.duration;
  i.delay = j.what.delay;
  i.activity = activity;
  i.work = true;
  if (j.kind == activity_kind::kernel) {
    const std::uint32_t device = out_.streams[out_.activities[activity].stream].device;
    const auto found = std::find(out_.devices.begin(), out_.devices.end(), device);
    i.device = static_cast<ref>(found - out_.devices.begin());
  }
  return i;
}

void simulation::launch(const job& j, stream s, call_kind kind, ref range, time_ns cost,
                        time_ns captured_cost, time_ns submit_after, bool waits) {
  if (const auto capture = captures_.find(s.id); capture != captures_.end()) {
    add_call(kind, range, captured_cost, true);
    add_node(capture->second, j, s.id, range);
    return;
  }
  const ref call = add_call(kind, range, cost);
  item i = item_of(j, add_activity(j, s.id, call, none));
  i.ready = out_.calls[call].begin + submit_after;
  const ref id = in_stream_order(std::move(i), s, {}, j.what.early);
  if (waits) {
    finish_call_after(call, {id});
  }
}

void simulation::record(event e, stream s, ref range, time_ns cost) {
  if (const auto capture = captures_.find(s.id); capture != captures_.end()) {
    add_call(call_kind::event, range, cost, true);
    events_[e.id] = {none, capture->second};
    return;
  }
  item i;
  i.ready = out_.calls[add_call(call_kind::event, range, cost)].end;
  events_[e.id] = {in_stream_order(std::move(i), s), {}};
}

void simulation::wait(stream s, event e, ref range, time_ns cost) {
  const event_state& state = events_[e.id];
  if (state.captured.graph != none) {
    add_call(call_kind::event, range, cost, true);
    capture_state& mine = captures_[s.id];
    mine.graph = state.captured.graph;
    mine.last.insert(mine.last.end(), state.captured.last.begin(), state.captured.last.end());
    return;
  }
  item i;
  i.ready = out_.calls[add_call(call_kind::event, range, cost)].end;
  in_stream_order(std::move(i), s, state.item != none ? std::vector<ref>{state.item} : std::vector<ref>{});
}

void simulation::synchronise_stream(stream s, ref range, time_ns cost) {
  const ref call = add_call(call_kind::synchronise, range, cost);
  finish_call_after(call, last_[s.id] != none ? std::vector<ref>{last_[s.id]} : std::vector<ref>{});
}

void simulation::synchronise_event(event e, ref range, time_ns cost) {
  const ref recorded = events_[e.id].item;
  const ref call = add_call(call_kind::synchronise, range, cost);
  finish_call_after(call, recorded != none ? std::vector<ref>{recorded} : std::vector<ref>{});
}

void simulation::synchronise_device(std::uint32_t device, ref range, time_ns cost) {
  std::vector<ref> items;
  for (std::size_t s = 0; s < last_.size(); ++s) {
    if (out_.streams[s].device == device && last_[s] != none) {
      items.push_back(last_[s]);
    }
  }
  finish_call_after(add_call(call_kind::synchronise, range, cost), items);
}

void simulation::call(call_kind kind, ref range, time_ns cost) { add_call(kind, range, cost); }

void simulation::post(flag f) {
  posted_[f.id] = true;
  for (const ref thread : awaiting_[f.id]) {
    wake(thread, clock());
  }
}

void simulation::await(flag f) {
  if (!posted_[f.id]) {
    thread_state& t = threads_[thread_];
    t.waits_for = 1;
    t.woken = [&t](time_ns now) { t.clock = now; };
    awaiting_[f.id].push_back(thread_);
  }
}

}  // namespace virtual_device

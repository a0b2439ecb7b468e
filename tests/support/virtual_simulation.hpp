// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The clockwork of virtual_device.hpp: a queue of things that happen, in order of time.
#ifndef VARVE_TESTS_SUPPORT_VIRTUAL_SIMULATION_HPP
#define VARVE_TESTS_SUPPORT_VIRTUAL_SIMULATION_HPP

#include "virtual_device.hpp"

#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <vector>

namespace virtual_device {

/// What a launch or a graph's node asks a device to do.
struct job {
  kernel what;
  varve::activity_kind kind = varve::activity_kind::kernel;
  std::int64_t bytes = 0;
};

class simulation {
 public:
  simulation(recording& out, std::vector<std::uint32_t> max_concurrent, std::size_t hosts,
             machine::nesting nested);

  /// Plays the scripts to their end.
  void play(std::deque<host>& hosts);

  // What operations do; all of them on the thread that is at work, at its time.
  void spend(time_ns duration) { clock() += duration; }
  void begin_range(ref range) { out_.ranges[range].begin = clock(); }
  void end_range(ref range) { out_.ranges[range].end = clock(); }
  void launch(const job& j, stream s, varve::call_kind kind, ref range, time_ns cost, time_ns captured_cost,
              time_ns submit_after, bool waits);
  void record(event e, stream s, ref range, time_ns cost);
  void wait(stream s, event e, ref range, time_ns cost);
  void synchronise_stream(stream s, ref range, time_ns cost);
  void synchronise_event(event e, ref range, time_ns cost);
  void synchronise_device(std::uint32_t device, ref range, time_ns cost);
  void call(varve::call_kind kind, ref range, time_ns cost);
  void begin_capture(stream s, graph g);
  void end_capture(stream s);
  void add_child(stream s, graph child, ref range, time_ns cost);
  void instantiate(executable e, graph g, ref range, time_ns cost);
  void update(executable e, graph g, bool stale, ref range, time_ns cost);
  void launch_graph(stream s, executable e, ref range, time_ns cost, time_ns submit_after);
  void post(flag f);
  void await(flag f);

 private:
  // Something in stream order: work, the record of an event, a wait, or one end of a graph launch.
  struct item {
    time_ns duration = 0;
    time_ns delay = 0;
    time_ns ready = 0;
    time_ns begin = 0;
    time_ns end = 0;
    int unmet = 0;      // conditions for `ready` that are not met yet
    ref device = none;  // whose kernel slots it takes, or none
    ref activity = none;
    ref behind = none;  // began early: completes no sooner than this one
    bool work = false;
    bool begun = false;
    bool ended = false;
    bool completed = false;
    std::vector<ref> after;                            // ready when this has completed
    std::vector<std::pair<ref, time_ns>> early_after;  // and those that may begin before its end
    std::vector<ref> threads;                          // that wait for it
  };
  struct node {
    job work;
    std::vector<ref> after;
    ref stream = none;  // captured on
    std::vector<step> path;
    varve::work declared;
  };
  struct graph_state {
    ref origin = none;  // the stream that the capture began on
    std::vector<node> nodes;
  };
  struct executable_state {
    graph_state graph;
    std::vector<ref> records;    // one a node, in recording::nodes
    std::map<ref, ref> streams;  // for nodes of other streams than the origin
  };
  struct capture_state {
    ref graph = none;
    std::vector<ref> last;  // nodes that the next one depends on
  };
  struct event_state {
    ref item = none;
    capture_state captured;
  };
  struct thread_state {
    time_ns clock = 0;
    std::size_t next = 0;  // operation
    int waits_for = 0;     // items, or a flag
    std::function<void(time_ns)> woken;
  };
  enum happening { ends, begins, goes_on };

  time_ns& clock() { return threads_[thread_].clock; }
  ref new_item(item i, const std::vector<ref>& after, ref early_behind = none, time_ns early = -1);
  ref in_stream_order(item i, stream s, std::vector<ref> after = {}, time_ns early = -1);
  void condition_met(ref i, time_ns at);
  void start(ref i, time_ns now);
  void run(ref i, time_ns now);
  void end(ref i, time_ns now);
  void complete(ref i, time_ns now);
  void wake(ref thread, time_ns now);
  ref add_call(varve::call_kind kind, ref range, time_ns cost, bool captured = false);
  void finish_call_after(ref call, const std::vector<ref>& items);
  ref add_activity(const job& j, ref stream, ref call, ref of_node);
  void add_node(capture_state& capture, const job& j, ref stream, ref range);
  item item_of(const job& j, ref activity) const;
  [[nodiscard]] std::vector<step> path_of(ref range) const;

  recording& out_;
  std::vector<std::uint32_t> max_concurrent_;
  machine::nesting nested_;
  std::uint32_t correlation_ = 0;

  using occurrence = std::tuple<time_ns, happening, ref>;
  std::priority_queue<occurrence, std::vector<occurrence>, std::greater<>> queue_;
  ref thread_ = 0;
  std::vector<thread_state> threads_;
  std::vector<item> items_;
  std::vector<ref> last_;  // of each stream
  std::vector<std::uint32_t> running_;
  std::vector<std::deque<ref>> waiting_;   // for a slot
  std::map<ref, capture_state> captures_;  // by stream
  std::set<ref> carried_;                  // ranges whose work a node carries
  std::map<ref, event_state> events_;
  std::map<ref, graph_state> graphs_;
  std::map<ref, executable_state> executables_;
  std::map<ref, bool> posted_;
  std::map<ref, std::vector<ref>> awaiting_;
};

}  // namespace virtual_device

#endif  // VARVE_TESTS_SUPPORT_VIRTUAL_SIMULATION_HPP

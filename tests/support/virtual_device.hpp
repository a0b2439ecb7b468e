// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A virtual machine with GPUs: a discrete-event model, in virtual nanoseconds, of host threads, streams,
// events, graphs, copies, allocation, several devices and the markers around them. A test writes what each
// thread does; run() plays all of it and gives the recording, whose every time follows from these rules.
//
// Host threads
//  - A thread begins at time 0 and does its operations one after another. spend(n) takes n. A marker takes
//    no time. await(f) goes on when the thread that posts f has come there.
//  - A call takes its cost (host::cost, as set when the script makes the call). A synchronising call waits
//    for what was called before it began: it ends at the later of its cost and the completion of all that.
//  - Operations of several threads at one time happen in the order of the threads.
//
// Streams
//  - Work is submitted when its call ends, or, where host::submit_latency is set, that long after the call
//    began. Work on one stream runs in the order of the calls.
//  - ready(work) = max(submitted, completion of the work before it on the stream); work completes when it has
//    ended and the work before it on the stream has completed. A wait for an event completes no sooner than
//    what was before the event's last record, as of the call that waits.
//  - Programmatic dependent launch: a kernel with `early` = e >= 0 is ready when the work before it on the
//    stream has begun and has at most e to go: max(submitted, max(begin, end - e) of the work before).
//    Behind a wait, an event or a graph that makes no difference.
//  - begin = ready + the kernel's delay; end = begin + duration. On a device with max_concurrent = n a kernel
//    that finds n others running begins when one of them ends, first come first served.
//
// Graphs
//  - Work on a stream in capture becomes a node that depends on the nodes before it on the stream, and
//    takes the label path of the thread. An event recorded in capture carries the capture to the stream that
//    waits for it. Each executable has nodes of its own, with new ids and the same labels; an update gives
//    them the labels of another graph, node by node.
//  - A launch is one piece of work on its stream, ready by the rule above: nodes without dependencies are
//    ready with it, the others when those that they depend on have completed (`early` as above, where that is
//    one node), and it completes with the last node. Nodes captured on the stream that the capture began on
//    show up on the stream of the launch, the others on a stream of the graph's own.
#ifndef VARVE_TESTS_SUPPORT_VIRTUAL_DEVICE_HPP
#define VARVE_TESTS_SUPPORT_VIRTUAL_DEVICE_HPP

#include "virtual_recording.hpp"

#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace virtual_device {

class host;
class machine;
class simulation;

struct stream {
  ref id;
};
struct event {
  ref id;
};
struct graph {
  ref id;
};
struct executable {
  ref id;
};
struct flag {
  ref id;
};

constexpr time_ns us = 1'000;
constexpr time_ns ms = 1'000 * us;

struct kernel {
  std::string name;
  time_ns duration = 0;
  time_ns delay = 0;               ///< from ready to begin
  time_ns early = -1;              ///< how long before its predecessor's end it may begin; -1: not before
  std::string category = "other";  ///< as reports call it
  std::uint32_t grid = 1;
};

struct costs {
  time_ns launch = 5'000;
  time_ns graph_launch = 10'000;
  time_ns copy = 6'000;
  time_ns set = 4'000;
  time_ns synchronise = 2'000;
  time_ns allocate = 20'000;
  time_ns graph_build = 50'000;
  time_ns event = 1'000;
  time_ns captured = 1'500;
};

/// An open range of a thread's script; ends when it goes out of scope.
class scope {
 public:
  scope(scope&& other) noexcept;
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  scope& operator=(scope&&) = delete;
  ~scope() { end(); }

  void end();
  scope& attribute(varve_attribute key, std::int64_t value);
  scope& work(const varve::work& declared);
  scope& serves(ref request);

 private:
  friend class host;
  scope(host& owner, ref range) : owner_{&owner}, range_{range} {}
  host* owner_;
  ref range_;
};

/// One thread and its script. Every function adds an operation.
class host {
 public:
  costs cost;
  time_ns submit_latency = -1;  ///< from a launching call's begin; -1: its cost

  void spend(time_ns duration);

  void launch(stream s, const kernel& k);
  void launch(stream s, const std::string& name, time_ns duration) { launch(s, kernel{name, duration}); }
  void copy(stream s, std::int64_t bytes, time_ns duration);
  /// Returns when the copy is done.
  void copy_and_wait(stream s, std::int64_t bytes, time_ns duration);
  void set(stream s, std::int64_t bytes, time_ns duration);

  void record(event e, stream s);
  void wait(stream s, event e);
  void synchronise(stream s);
  void synchronise(event e);
  void synchronise_device(std::uint32_t device);
  void allocate();
  void call(varve::call_kind kind, time_ns duration);

  void begin_capture(stream s);
  graph end_capture(stream s);
  /// Within a capture: a whole graph as part of the one in capture.
  void launch(stream s, graph child);
  executable instantiate(graph g);
  /// `stale`: that old and new nodes match could not be shown.
  void update(executable e, graph g, bool stale = false);
  void launch(stream s, executable e);

  flag post();
  void await(flag f);

  [[nodiscard]] scope phase(const std::string& name, const std::string& model = {});
  [[nodiscard]] scope layer(const std::string& name, std::int32_t index = varve::no_index);
  [[nodiscard]] scope op(const std::string& name, std::int32_t index = varve::no_index);
  /// The thread goes on inside a range of another thread.
  [[nodiscard]] scope adopt(const scope& of_another_thread);

 private:
  friend class machine;
  friend class scope;
  friend class simulation;
  using operation = std::function<void(simulation&)>;

  host(machine& m, ref thread) : machine_{&m}, thread_{thread} {}
  scope open(varve::range_kind kind, const std::string& name, std::int32_t index, const std::string& model);
  void copy_like(varve::call_kind kind, stream s, std::int64_t bytes, time_ns duration, time_ns call_cost,
                 bool waits);
  [[nodiscard]] ref innermost() const { return open_.empty() ? none : open_.back(); }
  [[nodiscard]] time_ns submitted_after(time_ns call_cost) const {
    return submit_latency >= 0 ? submit_latency : call_cost;
  }

  machine* machine_;
  ref thread_;
  std::vector<ref> open_;  // ranges, as of the end of the script so far
  std::vector<operation> script_;
};

class machine {
 public:
  enum class nesting { off, same_correlation, own_correlation };

  /// A launching runtime call makes a driver call in its middle half.
  nesting nested_calls = nesting::off;

  /// Adds a device; 0: any number of kernels at once.
  void device(std::uint32_t id, std::uint32_t max_concurrent = 0);
  stream new_stream(std::uint32_t device);
  event new_event() { return {events_++}; }
  host& new_host();
  /// A request that begins and ends at the given times, bound to no thread; for scope::serves().
  ref request(const std::string& name, std::int32_t index, time_ns begin, time_ns end);

  /// Plays all threads to their end. Once. Throws std::logic_error where they block for ever.
  recording run();

 private:
  friend class host;
  friend class scope;

  recording recording_;
  std::vector<std::uint32_t> max_concurrent_;
  std::deque<host> hosts_;
  ref events_ = 0;
  ref graphs_ = 0;
  ref executables_ = 0;
  ref flags_ = 0;
};

}  // namespace virtual_device

#endif  // VARVE_TESTS_SUPPORT_VIRTUAL_DEVICE_HPP

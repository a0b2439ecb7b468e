// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The second half of the builder: what can only be done when all events are in.
#include "formats/input/json_text.hpp"
#include "formats/pytorch/builder.hpp"
#include "formats/pytorch/elsewhere.hpp"
#include "formats/pytorch/graphs.hpp"
#include "formats/pytorch/number.hpp"
#include "formats/pytorch/unlaunched.hpp"
#include "formats/pytorch/work_counts.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::size_t longest_word = 64;    // of what the header says about the run
constexpr std::size_t most_devices = 1024;  // more than a machine has

/// A whole number or short text of the header, or "".
std::string word(std::string_view token) {
  bool damaged = false;
  std::string text = input::is_string(token) ? input::unescape(input::inside(token), damaged)
                     : whole(token, std::numeric_limits<std::uint64_t>::max()) ? std::string{token}
                                                                               : std::string{};
  text.resize(input::cut(text, longest_word).size());
  return text;
}

/// "12.9" of 12090.
std::string version(std::string_view token) {
  const auto number = whole(token, std::numeric_limits<std::int32_t>::max());
  return number ? std::to_string(*number / 1000) + "." + std::to_string(*number % 1000 / 10) : word(token);
}

void append(std::string& list, std::string_view what, const std::string& value) {
  if (!value.empty()) {
    list += list.empty() ? "" : ", ";
    list.append(what).append(" ").append(value);
  }
}

}  // namespace

void builder::add_name(const event& e) {
  const bool of_thread = e.name == "\"thread_name\"";
  if (!of_thread && e.name != "\"process_name\"") {
    return;
  }
  const auto process = processes_.identity(e.process);
  const auto thread = of_thread ? thread_key_of(e) : thread_key{};
  if (!process || !thread || !input::is_string(e.label)) {
    losses_.add(lost::no_name);
  } else if (of_thread) {
    thread_names_[*thread] = text_of(e.label);
  } else {
    process_names_[*process] = text_of(e.label);
  }
}

void builder::add(const device_properties& d) {
  if (own_) {
    return;  // it has told of its devices
  }
  const auto number = [&](std::string_view token, std::int64_t most) {
    const auto value = whole(token, static_cast<std::uint64_t>(most));
    return value ? static_cast<std::int64_t>(*value) : 0;
  };
  constexpr std::int64_t most_32 = std::numeric_limits<std::int32_t>::max();
  const auto id = whole(d.id, std::numeric_limits<std::uint32_t>::max() - 1);
  const auto known = std::find_if(trace_.devices.begin(), trace_.devices.end(),
                                  [&](const device_info& other) { return id && other.id == *id; });
  device_info device;
  device.name = input::is_string(d.name) ? text_of(d.name) : std::string{};
  if (!id || known != trace_.devices.end() || trace_.devices.size() >= most_devices) {
    // Of merged files each rank has listed all.
    losses_.add(lost::invalid_device, known != trace_.devices.end() && known->name == device.name ? 0 : 1);
    return;
  }
  device.id = static_cast<std::uint32_t>(*id);
  device.multiprocessors = static_cast<std::int32_t>(number(d.multiprocessors, most_32));
  device.compute_capability = static_cast<std::int32_t>(number(d.major, 1000) * 10 + number(d.minor, 9));
  device.memory_bytes = number(d.memory, std::numeric_limits<std::int64_t>::max());
  trace_.devices.push_back(std::move(device));
}

trace builder::finish(const header& about, const std::string& path, std::uint64_t unread) {
  if (own_) {
    return own_->finish(path);
  }
  trace_.clock = rows_ ? "XLA, " : "Kineto, ";
  trace_.clock += below_microsecond_ ? "microseconds with 3 decimals" : "whole microseconds";
  trace_.clock_error = below_microsecond_ || empty_ ? 0 : 1000;
  join_within_processes();
  shift(about.base_time);
  complete_threads();
  complete_devices();
  join_calls_to_ranges(trace_);
  mark_captured(trace_, capture_bounds_);
  join_operators_to_ranges(trace_);
  attribute_elsewhere(trace_, operators_.sequences(), flows_.backwards(trace_));
  if (!trace_.operator_of_activity.empty() || flows_.any_launch()) {
    const std::vector<std::uint32_t> unlaunched = find_unlaunched(trace_);
    place_unlaunched(trace_, unlaunched, flows_.launches(trace_, unlaunched, activity_correlations_));
  }
  collectives_.write(trace_);
  count_work(trace_, losses_);
  graphs_ = label_graphs(trace_, graph_of_node_, captured_, layers_, path);
  describe(about, path, unread);
  losses_.write(trace_, path);
  return std::move(trace_);
}

/// Makes times relative to a base absolute again, so that traces of several ranks share their clock.
void builder::shift(std::string_view base_time) {
  constexpr time_ns limit = std::int64_t{1} << 62U;
  number base = base_time.empty() ? number{0, number_state::good} : scaled(base_time, 0);
  const bool fits = base.state == number_state::good && base.value > -limit && base.value < limit &&
                    first_ + base.value > -limit && last_ + base.value < limit;
  if (!fits) {
    losses_.add(lost::invalid_base_time);
    base.value = 0;
  }
  for (auto* column :
       {&trace_.calls.begin, &trace_.calls.end, &trace_.activities.begin, &trace_.activities.end}) {
    for (time_ns& t : *column) {
      t += base.value;
    }
  }
  // Begin and duration are each up to one clock error off.
  std::vector<time_ns> frame_ends;
  for (const thread_info& thread : trace_.threads) {
    const auto known = first_frame_ends_.find({thread.id, thread.process});
    frame_ends.push_back(known != first_frame_ends_.end() ? known->second
                                                          : std::numeric_limits<time_ns>::max());
  }
  annotations_.write(trace_, {base.value, 2 * trace_.clock_error, frame_ends}, losses_);
  operators_.write(trace_, base.value);
  flows_.settle(base.value);
  if (notes_ != nullptr) {
    for (capture_notes::mark& m : notes_->marks) {
      m.begin += base.value;
      m.end += base.value;
    }
    notes_->bounds = capture_bounds_;
  }
  collectives_.shift(base.value);
  trace_.begin = empty_ ? 0 : first_ + base.value;
  trace_.end = empty_ ? 0 : last_ + base.value;
}

/// Numbers that each process gave anew are made unique.
void builder::join_within_processes() {
  process_numbers numbers;
  std::unordered_map<std::uint32_t, std::uint32_t> known;  // those without a rank
  for (const thread_info& thread : trace_.threads) {
    const std::uint32_t rank = processes_.rank_of(thread.process);
    const auto next = static_cast<std::uint32_t>(processes_.ranks() + 1 + known.size());
    numbers.of_thread.push_back(rank != 0 ? rank : known.try_emplace(thread.process, next).first->second);
  }
  numbers.of_stream = std::move(stream_ranks_);
  const auto of_activity =
      write_correlations(trace_, call_correlations_, activity_correlations_, numbers, losses_);
  if (!of_activity.empty()) {
    operators_.tell_apart(trace_, numbers.of_thread, of_activity);
  }
}

void builder::complete_threads() {
  for (thread_info& thread : trace_.threads) {
    if (const auto name = thread_names_.find({thread.id, thread.process}); name != thread_names_.end()) {
      thread.name = name->second;
    } else if (thread.id >> 32U == text_ids >> 32U) {
      thread.name = trace_.strings[static_cast<std::uint32_t>(thread.id)];
    } else if (const auto process = process_names_.find(thread.process); process != process_names_.end()) {
      thread.name = process->second;
    }
    if (const std::string_view process = processes_.text(thread.process); !process.empty()) {
      thread.name = std::string{process} + (thread.name.empty() ? "" : ": " + thread.name);
    }
  }
}

/// A trace without deviceProperties still has devices.
void builder::complete_devices() {
  std::vector<std::uint32_t> known;
  for (const device_info& device : trace_.devices) {
    known.push_back(device.id);
  }
  std::sort(known.begin(), known.end());
  std::vector<std::uint32_t> used;
  for (const stream_info& stream : trace_.streams) {
    used.push_back(stream.device);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (const std::uint32_t id : used) {
    if (!std::binary_search(known.begin(), known.end(), id)) {
      device_info device;
      device.id = id;
      trace_.devices.push_back(device);
    }
  }
}

void builder::describe(const header& about, const std::string& path, std::uint64_t unread) {
  std::string run;
  append(run, "rank", processes_.ranks() < 2 ? word(about.rank) : std::string{});
  if (!run.empty() && !about.world_size.empty()) {
    run += " of " + word(about.world_size);
  }
  append(run, "backend", word(about.backend));
  constexpr std::uint64_t most_ranks = std::numeric_limits<std::int32_t>::max();
  if (const auto rank = whole(about.rank, most_ranks); rank && processes_.ranks() < 2) {
    trace_.rank = static_cast<std::int32_t>(*rank);
  }
  trace_.world_size = static_cast<std::int32_t>(whole(about.world_size, most_ranks).value_or(0));
  trace_.backend = word(about.backend);
  trace_.source = run.empty() ? path : path + " (" + run + ")";

  collector_status status;
  status.name = rows_ ? "xla" : "pytorch";
  append(status.version, "schema", word(about.schema));
  append(status.version, "CUPTI", word(about.cupti));
  append(status.version, "CUDA runtime", version(about.runtime));
  append(status.version, "driver", version(about.driver));
  status.state = collector_state::stopped;
  const auto list = [&](std::string_view what, std::uint64_t count) {
    append(status.detail, what, std::to_string(count));
  };
  list("kernels", kernels_);
  list("copies", copies_);
  list("sets", sets_);
  list("calls", trace_.calls.size());
  list("annotations", annotations_.size());
  if (annotations_.ignored() > 0) {
    list("annotations ignored", annotations_.ignored());
  }
  if (annotations_.steps_as_ops() > 0) {
    list("steps of the profiler, taken as ops around the inferred passes", annotations_.steps_as_ops());
  }
  list("operators", operators_.size());
  list("events of other kinds, not read", unread);
  status.detail += graphs_;
  trace_.collectors.push_back(std::move(status));
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

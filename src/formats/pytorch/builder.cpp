// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/builder.hpp"

#include "formats/input/json_text.hpp"
#include "formats/pytorch/number.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

// Times lie within ±2^62 ns (146 years) and all durations, and all bytes, add up to less: then no
// difference of two times and no sum of durations or bytes overflows further on.
constexpr std::int64_t most = (std::int64_t{1} << 62U) - 1;
constexpr std::uint64_t most_32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t longest_name = std::size_t{64} << 10U;
constexpr std::uint16_t beyond_table = 65534;

bool in_range(time_ns t) noexcept { return t >= -most && t <= most; }

std::size_t hash_of(const launch_shape& s) noexcept {
  std::uint64_t h = s.registers;
  for (const std::uint32_t n :
       {s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2], s.dynamic_shared_memory}) {
    h = (h ^ n) * 0x9E3779B97F4A7C15ULL;
    h ^= h >> 32U;
  }
  return static_cast<std::size_t>(h);
}

bool equal(const launch_shape& a, const launch_shape& b) noexcept {
  return std::equal(a.grid, a.grid + 3, b.grid) && std::equal(a.block, a.block + 3, b.block) &&
         a.registers == b.registers && a.static_shared_memory == b.static_shared_memory &&
         a.dynamic_shared_memory == b.dynamic_shared_memory;
}

}  // namespace

void builder::add(const event& e) {
  const auto when = interval_of(e);
  if (!when) {
    return;
  }
  if (e.kind == category::call) {
    add_call(e, *when);
  } else if (e.kind == category::annotation || e.kind == category::python) {
    const std::uint32_t name = name_of(e.name);
    const std::uint16_t thread = thread_of(e);
    annotations_.add(trace_, name, e.kind == category::python && is_module(e.name), thread, when->begin,
                     when->end);
    if (notes_ != nullptr) {
      note_annotation(name, thread, *when);
    }
    if (e.kind == category::annotation) {
      operators_.add(trace_, operator_source::annotation, e, name, thread, when->begin, when->end, losses_);
    }
  } else if (e.kind == category::operation) {
    const std::uint16_t thread = thread_of(e);
    numbered_ = !e.sequence.empty();
    operators_.add(trace_, operator_source::operation, e, name_of(e.name), thread, when->begin, when->end,
                   losses_);
    if (!e.collective.empty()) {
      collectives_.add_operator(e, name_of(e.collective), thread, when->begin, when->end, losses_);
    }
  } else if (e.kind == category::overhead || e.kind == category::device_annotation) {
    const bool overhead = e.kind == category::overhead;
    operators_.add(trace_, overhead ? operator_source::overhead : operator_source::device_annotation, e,
                   name_of(e.name), narrow_none, when->begin, when->end, losses_);
  } else {
    add_activity(e, *when);
  }
}

void builder::add_activity(const event& e, interval when) {
  activity a;
  a.begin = when.begin;
  a.end = when.end;
  a.stream = stream_of(e);
  if (a.stream == narrow_none) {
    losses_.add(lost::no_stream);
    return;
  }
  a.name = name_of(e.name);
  a.node = node_of(e);
  a.detail = detail_of(e);
  switch (e.kind) {
    case category::copy:
      a.kind = activity_kind::copy;
      ++copies_;
      break;
    case category::set:
      a.kind = activity_kind::set;
      ++sets_;
      break;
    default:
      a.kind = activity_kind::kernel;
      ++kernels_;
  }
  operators_.add_activity(trace_.activities.size(), e);
  trace_.add_activity(a);
  activity_correlations_.push_back(correlation_of(e));
  if (a.kind == activity_kind::kernel) {
    collectives_.add_kernel(trace_, e, a.name, e.collective.empty() ? none : name_of(e.collective), losses_);
  }
}

void builder::add_call(const event& e, interval when) {
  call c;
  c.begin = when.begin;
  c.end = when.end;
  c.thread = thread_of(e);
  auto known = calls_.find(e.name);
  if (known == calls_.end()) {
    known = calls_.emplace(kept_.keep(e.name), called{}).first;
    if (input::is_string(e.name)) {
      known->second = {name_of(e.name), kind_of_call(input::inside(e.name))};
    }
  }
  c.kind = known->second.kind;
  losses_.add(lost::no_name, input::is_string(e.name) ? 0 : 1);
  operators_.add_call(trace_.calls.size(), e, known->second.name);
  trace_.add_call(c);
  call_correlations_.push_back(correlation_of(e));
  if (c.kind == call_kind::graph_build || (notes_ != nullptr && !e.kernel.empty())) {
    note_call(e, c.kind);
  }
}

/// The last call.
void builder::note_call(const event& e, call_kind kind) {
  const auto call = static_cast<std::uint32_t>(trace_.calls.size() - 1);
  if (kind != call_kind::graph_build) {
    notes_->kernels.emplace_back(call, name_of(e.kernel));
  } else if (e.name.find("StreamBeginCapture") != std::string_view::npos) {
    capture_bounds_.push_back({call, true});
  } else if (e.name.find("StreamEndCapture") != std::string_view::npos) {
    capture_bounds_.push_back({call, false});
  }
}

void builder::note_annotation(std::uint32_t name, std::uint16_t thread, interval when) {
  if (capture_size size = read_capture_mark(trace_.strings[name]); size.unit != capture_unit::unknown) {
    notes_->marks.push_back({when.begin, when.end, thread, std::move(size)});
  }
}

void builder::start_own(std::string_view header) {
  if (own_) {
    losses_.add(lost::repeated_key);
  } else if (!empty_) {
    losses_.add(lost::own_late);
  } else if (!own_.emplace(losses_).start(header)) {
    own_.reset();
    losses_.add(lost::own_version);
  }
}

void builder::expect(double times) {
  if (own_) {
    return own_->expect(times);
  }
  const auto all = [&](std::size_t so_far) {
    return static_cast<std::size_t>(static_cast<double>(so_far) * times * 1.05);
  };
  trace_.calls.reserve(all(trace_.calls.size()));
  call_correlations_.reserve(all(call_correlations_.size()));
  trace_.activities.reserve(all(trace_.activities.size()));
  activity_correlations_.reserve(all(activity_correlations_.size()));
  operators_.expect(all);
}

void builder::add_memory(const event& e) {
  const number at = scaled(e.begin, 3);
  if (at.state != number_state::good || !in_range(at.value)) {
    losses_.add(lost::invalid_memory);
    return;
  }
  operators_.add_memory(e, at.value, losses_);
}

void builder::add_flow(const event& e) {
  const bool ends = e.phase == "\"f\"";
  const bool launch = e.kind == category::launch_flow;
  const auto id = identifier(e.id);
  // The profiler writes flows right after what they lead from or to. Mostly these tell the same; ends at
  // calls that launch nothing tell nothing.
  const auto is_last_of = [&](const std::vector<std::uint64_t>& correlations) {
    return !correlations.empty() && correlations.back() != 0 && id == correlations.back();
  };
  if (launch && ends && is_last_of(activity_correlations_)) {
    flows_.add_launch_end(activity_correlations_.size() - 1);
    return;
  }
  if (launch ? is_last_of(call_correlations_) : ends && numbered_) {
    return;
  }
  const number at = scaled(e.begin, 3);
  bool valid = id && at.state == number_state::good && in_range(at.value);
  bool kept = true;
  if (valid && launch && ends) {
    const auto device = identifier(e.process);
    const auto stream = identity(e.thread);
    valid = device && *device < most_32 && stream;
    kept = !valid || flows_.add_launch_end({*id, at.value, *stream, static_cast<std::uint32_t>(*device)});
  } else if (valid) {
    const flows::start on_host{*id, at.value, thread_of(e)};
    kept = on_host.thread == narrow_none || (launch ? flows_.add_launch(on_host)
                                             : ends ? flows_.add_backward(on_host)
                                                    : flows_.add_forward(on_host));
  }
  losses_.add(lost::invalid_flow, valid ? 0 : 1);
  losses_.add(lost::many_flows, kept ? 0 : 1);
}

void builder::note_frame(const event& e) {
  const auto thread = thread_key_of(e);
  const number begin = scaled(e.begin, 3);
  const number duration = scaled(e.duration, 3);
  if (!thread || begin.state != number_state::good || duration.state != number_state::good ||
      !in_range(begin.value) || !in_range(duration.value)) {
    return;
  }
  const time_ns end = begin.value + duration.value;
  time_ns& first = first_frame_ends_.try_emplace(*thread, end).first->second;
  first = std::min(first, end);
}

std::optional<builder::interval> builder::interval_of(const event& e) {
  const number begin = scaled(e.begin, 3);
  const number duration = scaled(e.duration, 3);
  if (begin.state == number_state::invalid || duration.state == number_state::invalid) {
    losses_.add(lost::invalid_time);
    return std::nullopt;
  }
  if (duration.value < 0) {
    losses_.add(lost::negative_duration);
    return std::nullopt;
  }
  // 2^62 + 2^62 still fits.
  if (begin.state != number_state::good || duration.state != number_state::good || !in_range(begin.value) ||
      !in_range(duration.value) || !in_range(begin.value + duration.value) ||
      duration.value > most - total_) {
    losses_.add(lost::time_out_of_range);
    return std::nullopt;
  }
  total_ += duration.value;
  below_microsecond_ |= begin.value % 1000 != 0 || duration.value % 1000 != 0;
  const interval when{begin.value, begin.value + duration.value};
  first_ = empty_ ? when.begin : std::min(first_, when.begin);
  last_ = empty_ ? when.end : std::max(last_, when.end);
  empty_ = false;
  return when;
}

std::uint64_t builder::correlation_of(const event& e) {
  const auto id = identifier(e.correlation);
  losses_.add(lost::invalid_correlation, !id && !e.correlation.empty() ? 1 : 0);
  return id.value_or(0);
}

std::string builder::text_of(std::string_view token) {
  bool damaged = false;
  std::string text = input::unescape(input::inside(token), damaged);
  losses_.add(lost::damaged_name, damaged ? 1 : 0);
  if (text.size() > longest_name) {
    text.resize(input::cut(text, longest_name).size());
    losses_.add(lost::long_name);
  }
  return text;
}

std::uint32_t builder::name_of(std::string_view token) {
  if (!input::is_string(token)) {
    losses_.add(lost::no_name);
    return trace_.strings.intern("(unnamed)");
  }
  const auto known = names_.find(token);
  return known != names_.end()
             ? known->second
             : names_.emplace(kept_.keep(token), trace_.strings.intern(text_of(token))).first->second;
}

std::optional<std::uint64_t> builder::identity(std::string_view token) {
  if (const auto id = identifier(token)) {
    return id;
  }
  if (!input::is_string(token)) {
    return std::nullopt;
  }
  // A text that is no number: an id of its own, out of the way of real ones.
  return text_ids | name_of(token);
}

std::optional<builder::thread_key> builder::thread_key_of(const event& e) {
  const auto thread = identity(e.thread);
  const auto process = processes_.identity(e.process);
  if (!thread || !process) {
    return std::nullopt;
  }
  return thread_key{*thread, *process};
}

std::uint16_t builder::thread_of(const event& e) {
  const auto key = thread_key_of(e);
  if (!key) {
    losses_.add(lost::no_thread);
    return narrow_none;
  }
  if (last_thread_index_ == narrow_none || !(*key == last_thread_)) {
    last_thread_index_ = trace_.intern_thread(key->thread, key->process);
    last_thread_ = *key;
  }
  if (last_thread_index_ == beyond_table) {
    losses_.add(lost::many_threads);
    return narrow_none;
  }
  return last_thread_index_;
}

std::uint16_t builder::stream_of(const event& e) {
  const auto device = identifier(e.device.empty() ? e.process : e.device);
  const auto stream = identity(e.stream.empty() ? e.thread : e.stream);
  const auto context = e.context.empty() ? std::optional<std::uint64_t>{0} : identity(e.context);
  if (!device || *device >= most_32 || !stream || !context) {
    return narrow_none;
  }
  // A context is one process's: what ranks number alike are streams of their own.
  const std::uint32_t rank = processes_.rank(e.process);
  const stream_info info{static_cast<std::uint32_t>(*device), *context + (std::uint64_t{rank} << 40U),
                         *stream};
  if (last_stream_index_ == narrow_none || info.device != last_stream_.device ||
      info.context != last_stream_.context || info.stream != last_stream_.stream) {
    last_stream_index_ = trace_.intern_stream(info);
    last_stream_ = info;
    if (rank != 0 && last_stream_index_ != beyond_table) {
      stream_ranks_.resize(std::max(stream_ranks_.size(), last_stream_index_ + std::size_t{1}));
      stream_ranks_[last_stream_index_] = rank;
    }
  }
  losses_.add(lost::many_streams, last_stream_index_ == beyond_table ? 1 : 0);
  return last_stream_index_;
}

std::uint32_t builder::detail_of(const event& e) {
  if (e.kind == category::kernel) {
    return shape_of(e);
  }
  if (e.bytes.empty()) {
    return none;
  }
  const auto bytes = whole(e.bytes, static_cast<std::uint64_t>(most - total_bytes_));
  if (!bytes) {
    losses_.add(lost::invalid_bytes);
    return none;
  }
  total_bytes_ += static_cast<std::int64_t>(*bytes);
  return trace_.intern_bytes(static_cast<std::int64_t>(*bytes));
}

std::uint32_t builder::shape_of(const event& e) {
  if (e.grid.is == extent::state::absent && e.block.is == extent::state::absent) {
    return none;
  }
  const auto registers = e.registers.empty() ? std::optional<std::uint64_t>{0} : whole(e.registers, most_32);
  const auto shared =
      e.shared_memory.empty() ? std::optional<std::uint64_t>{0} : whole(e.shared_memory, most_32);
  if (e.grid.is != extent::state::good || e.block.is != extent::state::good || !registers || !shared) {
    losses_.add(lost::invalid_shape);
    return none;
  }
  launch_shape shape;
  std::copy_n(e.grid.size, 3, shape.grid);
  std::copy_n(e.block.size, 3, shape.block);
  shape.registers = static_cast<std::uint32_t>(*registers);
  // The profiler gives static and dynamic together.
  shape.dynamic_shared_memory = static_cast<std::uint32_t>(*shared);
  cached_shape& cached = shapes_[hash_of(shape) % shapes_.size()];
  if (cached.index == none || !equal(cached.shape, shape)) {
    cached = {shape, trace_.intern_shape(shape)};
  }
  return cached.index;
}

std::uint32_t builder::node_of(const event& e) {
  if (e.node.empty()) {
    return none;
  }
  const auto id = identifier(e.node);
  if (!id || *id == 0) {
    losses_.add(lost::invalid_node, id ? 0 : 1);
    return none;
  }
  const auto [known, added] = nodes_.try_emplace(*id, static_cast<std::uint32_t>(nodes_.size()));
  if (added) {
    graph_node node;
    node.id = *id;
    trace_.graph_nodes.push_back(node);
    graph_of_node_.push_back(identifier(e.graph).value_or(0));
  }
  return known->second;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

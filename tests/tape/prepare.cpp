// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "tape/prepare.hpp"

#include "cupti/records.hpp"
#include "standin_cupti/names.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace varve_tape {
namespace {

namespace cupti = varve::cupti;
using cupti::record_kind;

[[noreturn]] void fail(const event& e, const std::string& what) {
  throw std::runtime_error((e.line != 0 ? "line " + std::to_string(e.line) + ": " : std::string{}) + what);
}

std::uint32_t known_id(bool runtime, const std::string& name) {
#define VARVE_TAPE_ID(constant, id, text) {#text, id},
  static const std::map<std::string, std::uint32_t> of_runtime{STANDIN_RUNTIME_IDS(VARVE_TAPE_ID)};
  static const std::map<std::string, std::uint32_t> of_driver{STANDIN_DRIVER_IDS(VARVE_TAPE_ID)};
#undef VARVE_TAPE_ID
  const auto& all = runtime ? of_runtime : of_driver;
  const auto found = all.find(name);
  return found != all.end() ? found->second : 0;
}

void name_call(prepared& p, const event& e, call& c) {
  const bool runtime = !c.runtime.empty();
  if (c.id == 0) {
    c.id = known_id(runtime, c.name());
  }
  if (c.id == 0) {
    fail(e, "nothing says what the callback id of '" + c.name() + "' is: give it as id=");
  }
  if (p.names.try_emplace({runtime, c.id}, c.name()).first->second != c.name()) {
    fail(e, "the callback id " + std::to_string(c.id) + " has two names");
  }
}

/// By hand a handle is its own id.
void number_handles(resource& r) {
  const auto take = [](auto& id, std::uint64_t handle) {
    if (id == 0) {
      id = static_cast<std::remove_reference_t<decltype(id)>>(handle);
    }
  };
  take(r.graph_id, r.graph);
  take(r.original_graph_id, r.original_graph);
  take(r.node_id, r.node);
  take(r.original_node_id, r.original_node);
  take(r.exec_id, r.exec);
}

class layout {
 public:
  layout(record_kind kind, std::uint32_t version) : version_{version}, data_(cupti::size_of(kind, version)) {
    if (!data_.empty()) {
      put(cupti::kind_of, kind);
    }
  }
  template <class T>
  void put(cupti::field<T> f, std::common_type_t<T> value) {
    if (version_ >= f.since) {
      std::memcpy(data_.data() + f.offset, &value, sizeof value);
    }
  }
  /// What all that ran has.
  template <class Start, class End, class Id>
  void put_work(const record& r, Start start, End end, Id device, Id context, Id stream, Id correlation) {
    put(start, r.begin);
    put(end, r.end);
    put(device, r.device);
    put(context, r.context);
    put(stream, r.stream);
    put(correlation, r.correlation);
  }
  bytes take() { return std::move(data_); }

 private:
  std::uint32_t version_;
  bytes data_;
};

bytes lay_out(const event& e, record& r, std::uint32_t version) {
  const auto kind = static_cast<record_kind>(r.kind.number);
  layout to{kind, version};
  switch (kind) {
    case record_kind::concurrent_kernel: {
      namespace f = cupti::kernel;
      to.put_work(r, f::start, f::end, f::device_id, f::context_id, f::stream_id, f::correlation_id);
      to.put(f::graph_node_id, r.node);
      to.put(f::graph_id, r.graph);
      r.name_at = f::name.offset;
      break;
    }
    case record_kind::memcpy: {
      namespace f = cupti::copy;
      to.put_work(r, f::start, f::end, f::device_id, f::context_id, f::stream_id, f::correlation_id);
      to.put(f::direction, static_cast<cupti::copy_direction>(r.direction));
      to.put(f::bytes, r.length);
      to.put(f::graph_node_id, r.node);
      to.put(f::graph_id, r.graph);
      to.put(f::copy_count, 1);
      break;
    }
    case record_kind::memcpy_p2p: {
      namespace f = cupti::peer_copy;
      to.put_work(r, f::start, f::end, f::device_id, f::context_id, f::stream_id, f::correlation_id);
      to.put(f::direction, cupti::copy_direction::peer_to_peer);
      to.put(f::bytes, r.length);
      to.put(f::graph_node_id, r.node);
      to.put(f::graph_id, r.graph);
      break;
    }
    case record_kind::memset: {
      namespace f = cupti::set;
      to.put_work(r, f::start, f::end, f::device_id, f::context_id, f::stream_id, f::correlation_id);
      to.put(f::bytes, r.length);
      to.put(f::graph_node_id, r.node);
      to.put(f::graph_id, r.graph);
      break;
    }
    case record_kind::graph_trace: {
      namespace f = cupti::graph_trace;
      to.put_work(r, f::start, f::end, f::device_id, f::context_id, f::stream_id, f::correlation_id);
      to.put(f::graph_id, r.graph);
      break;
    }
    default:
      fail(e, "a record of kind " + std::to_string(r.kind) + " is not laid out: give its bytes as data=");
  }
  return to.take();
}

/// What is in the record, whatever its line calls it.
std::uint32_t kind_in(const record& r) {
  std::uint32_t kind = 0;
  if (r.data.size() >= sizeof kind) {
    std::memcpy(&kind, r.data.data(), sizeof kind);
  }
  return kind;
}

void lay_out(const event& e, buffer& b, std::uint32_t version) {
  if (b.size != 0) {
    return;
  }
  for (record& r : b.records) {
    if (r.data.empty()) {
      r.data = lay_out(e, r, version);
    }
    r.offset = b.size;
    b.size += (r.data.size() + cupti::record_alignment - 1) & ~(cupti::record_alignment - 1);
  }
}

/// Collectors step from record to record by the sizes of kinds: those must not differ. The last record of a
/// buffer reaches to its end, whatever is there: it tells no size, and is looked at when all are known.
void measure(prepared& p, const event& e, const buffer& b, bool last) {
  for (std::size_t i = 0; i < b.records.size(); ++i) {
    const record& r = b.records[i];
    if (last != (i + 1 == b.records.size())) {
      continue;
    }
    const std::uint32_t kind = kind_in(r);
    if (kind == 0) {
      if (!last) {
        fail(e, "a record without a kind");
      }
      continue;
    }
    const std::size_t size = last ? r.data.size() : b.records[i + 1].offset - r.offset;
    const std::size_t least = cupti::size_of(static_cast<record_kind>(kind), p.t.head.cupti);
    if (size < least) {
      fail(e, "a record of kind " + std::to_string(kind) + " has " + std::to_string(size) +
                  " bytes, that of CUPTI " + std::to_string(p.t.head.cupti) + " has " +
                  std::to_string(least));
    }
    const auto known = last ? p.sizes.find(kind) : p.sizes.try_emplace(kind, size).first;
    if (known != p.sizes.end() && (last ? size < known->second : size != known->second)) {
      fail(e, "records of kind " + std::to_string(kind) + " have " + std::to_string(known->second) +
                  " bytes and " + std::to_string(size));
    }
  }
}

/// Checks that what begins ends, and in order.
class nesting {
 public:
  void see(const event& e) {
    if (std::holds_alternative<begin>(e.what)) {
      ++depth_.at(e.thread);
    } else if (std::holds_alternative<end>(e.what) && depth_.at(e.thread)-- == 0) {
      fail(e, "ends a range that was not begun");
    } else if (std::holds_alternative<start>(e.what)) {
      check(e, !running_, "starts twice");
    } else if (std::holds_alternative<stop>(e.what)) {
      check(e, running_, "stops what was not started");
    }
  }
  void finish() const {
    if (!started_ || running_) {
      throw std::runtime_error(started_ ? "the tape starts and does not stop" : "the tape never starts");
    }
  }

 private:
  void check(const event& e, bool right, const char* what) {
    if (!right || e.thread != 0) {
      fail(e, right ? "starts or stops on another thread than the first" : what);
    }
    running_ = !running_;
    started_ = true;
  }

  std::array<std::size_t, 64> depth_{};
  bool running_ = false;
  bool started_ = false;
};

}  // namespace

prepared prepare(tape t) {
  if (!t.finished) {
    throw std::runtime_error("the tape is cut: it has no 'finish'");
  }
  if (t.head.cupti < cupti::cuda_12_0) {
    throw std::runtime_error("the tape is of CUPTI " + std::to_string(t.head.cupti) + ", older than 12.0");
  }
  prepared p;
  p.t = std::move(t);
  nesting all;
  for (event& e : p.t.events) {
    all.see(e);
    if (auto* const c = std::get_if<call>(&e.what)) {
      name_call(p, e, *c);
    } else if (auto* const r = std::get_if<resource>(&e.what); r != nullptr && p.t.by_hand()) {
      number_handles(*r);
    } else if (auto* const b = std::get_if<buffer>(&e.what)) {
      lay_out(e, *b, p.t.head.cupti);
      measure(p, e, *b, false);
    }
  }
  for (const event& e : p.t.events) {
    if (const auto* const b = std::get_if<buffer>(&e.what)) {
      measure(p, e, *b, true);
    }
  }
  all.finish();
  return p;
}

}  // namespace varve_tape

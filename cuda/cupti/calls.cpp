// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/calls.hpp"

#include "cupti/classify.hpp"

#include "record/log.hpp"
#include "record/registry.hpp"

#include <algorithm>
#include <atomic>
#include <string_view>

namespace varve::cupti {

namespace {

/// The outermost call that is open on a thread. A call whose end was never told, since the session stopped in
/// it, is forgotten in the next era.
struct open_call {
  std::uint32_t era = 0;
  std::uint32_t depth = 0;
  std::uint32_t correlation = 0;
  bool recorded = false;
  bool captured = false;
  bool builds = false;  // graphs
  bool launches = false;
  std::uint32_t inner = 0;  // correlation of the last call inside it
};

/// Both ids in one word, on a cache line of its own: threads that launch do not slow each other down.
struct alignas(64) last_launch {
  std::atomic<std::uint64_t> ids{0};
};
std::array<last_launch, most_last_launches> launches;
std::atomic<std::size_t> threads{0};

last_launch& launch_of_this_thread() noexcept {
  thread_local const std::size_t mine __attribute__((tls_model("initial-exec"))) = threads++;
  return launches[mine % launches.size()];
}

std::uint8_t special_of(std::string_view name) noexcept {
  const auto holds = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return holds("GraphExecUpdate")      ? call_kinds::graph_update
         : holds("StreamBeginCapture") ? call_kinds::capture_begin
         : holds("StreamEndCapture")   ? call_kinds::capture_end
         : holds("GraphInstantiate")   ? call_kinds::graph_instantiate
                                       : std::uint8_t{0};
}

thread_local open_call this_call __attribute__((tls_model("initial-exec")));

}  // namespace

call_kinds::call_kinds(const library& lib) {
  runtime_.fill(not_watched);
  driver_.fill(not_watched);
  learn(lib, callback_domain::runtime_api, runtime_);
  learn(lib, callback_domain::driver_api, driver_);
}

void call_kinds::learn(const library& lib, callback_domain domain, std::array<std::uint8_t, most>& kinds) {
  for (std::uint32_t id = 1; id < most; ++id) {
    const char* name = nullptr;
    if (lib.call.get_callback_name(domain, id, &name) != result::success || name == nullptr) {
      continue;  // ids have gaps
    }
    if (std::string_view{name} == "INVALID") {
      continue;
    }
    const std::optional<call_kind> kind = classify(name);
    if (!kind) {
      unknown_.emplace_back(name);
    } else if (*kind != call_kind::other) {
      kinds[id] = static_cast<std::uint8_t>(static_cast<std::uint8_t>(*kind) | special_of(name));
    }
  }
}

void enter_call(std::uint8_t kind, std::uint32_t correlation, std::uint32_t era) noexcept {
  using namespace record;
  open_call& c = this_call;
  if (c.era != era) {
    if (c.recorded && this_log != nullptr) {
      this_log->append_kept(make_slot(event::call_end, now(), c.correlation));  // gives its slot back
    }
    c = {};
    c.era = era;
  }
  thread_log* const log = this_log != nullptr ? this_log : registry.acquire();
  if (c.depth++ != 0) {
    // Inside another call: part of it, whichever of the two ids the records carry.
    c.inner = correlation;
    if (c.recorded && correlation != c.correlation) {
      log->append_alias(correlation, c.correlation);
    }
    return;
  }
  const auto what = static_cast<call_kind>(kind & ~call_kinds::special);
  c.correlation = correlation;
  c.captured = false;
  c.builds = what == call_kind::graph_build;
  c.launches = what == call_kind::launch || what == call_kind::graph_launch;
  c.inner = correlation;
  c.recorded = false;
  if (log != nullptr) {
    const slot s = make_slot(event::call_begin, now(), call_payload(what, correlation));
    c.recorded = log->append(&s, 1, 1);
  }
}

void leave_call(std::uint32_t era, bool succeeded) noexcept {
  using namespace record;
  open_call& c = this_call;
  if (c.era != era || c.depth == 0 || --c.depth != 0) {
    return;
  }
  if (c.recorded && this_log != nullptr) {
    c.recorded = false;
    this_log->append_kept(
        make_slot(event::call_end, now(), c.correlation | (c.captured ? call_captured : 0)));
  }
  if (c.launches && succeeded && !c.captured) {
    launch_of_this_thread().ids.store(std::uint64_t{c.correlation} << 32U | c.inner,
                                      std::memory_order_relaxed);
  }
}

bool call_is_captured() noexcept {
  if (this_call.depth == 0 || this_call.builds) {
    return false;
  }
  this_call.captured = true;
  return true;
}

std::array<launch_ids, most_last_launches> last_launches() noexcept {
  std::array<launch_ids, most_last_launches> out;
  std::transform(launches.begin(), launches.end(), out.begin(), [](const last_launch& l) {
    const std::uint64_t ids = l.ids.load(std::memory_order_relaxed);
    return launch_ids{static_cast<std::uint32_t>(ids >> 32U), static_cast<std::uint32_t>(ids)};
  });
  return out;
}

void forget_last_launches() noexcept {
  for (last_launch& l : launches) {
    l.ids.store(0, std::memory_order_relaxed);
  }
}

}  // namespace varve::cupti

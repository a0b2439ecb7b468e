// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The markers' entry points.
#include <varve/varve.h>

#include "record/copies.hpp"
#include "record/device_source.hpp"
#include "record/graph_labels.hpp"
#include "record/nvtx.hpp"
#include "record/range_counter.hpp"
#include "record/recording.hpp"
#include "record/registry.hpp"
#include "record/span_source.hpp"

#include <algorithm>
#include <atomic>

using namespace varve::record;

namespace {

// Nobody marks a request or a pass while looking into how it is stored.
std::atomic<std::uint64_t> last_request{0};

bool is_recording(std::uint32_t state) noexcept { return (state & VARVE_STATE_RECORDING) != 0; }
bool is_kept(std::uint32_t state) noexcept {
  return (state & (VARVE_STATE_RECORDING | VARVE_STATE_ARMED)) != 0;
}

thread_log* log_of_thread() noexcept {
  thread_log* const log = this_log;
  return __builtin_expect(log != nullptr, 1) ? log : registry.acquire();
}

/// The state, once the first marker has looked for tools.
std::uint32_t settled_state() noexcept {
  const std::uint32_t state = varve_load_state_();
  if (__builtin_expect((state & VARVE_STATE_FRESH) != 0, 0)) {
    activate();
    return varve_load_state_();
  }
  return state;
}

/// What others are told of a range that has begun.
std::uint64_t announce(std::uint32_t state, std::uint64_t token, int kind, const char* name,
                       std::int32_t index) noexcept {
  if ((state & state_counting) != 0 && token != 0) {
    built_in_counter().begin(token, kind, name);
  }
  if ((state & VARVE_STATE_NVTX) != 0) {
    nvtx::push(name, index);
    token |= token_nvtx;
  }
  return token;
}

/// Tools and counters are told of every begin and end.
constexpr std::uint32_t state_told = VARVE_STATE_NVTX | state_counting;

void append(const slot* slots, std::uint32_t count) noexcept {
  if (is_recording(varve_load_state_())) {
    if (thread_log* const log = log_of_thread()) {
      log->append(slots, count);
    }
  }
}

/// `flags` stand beside the number of the pipe. Null: the work could not be told.
void declare(std::uint64_t id, const varve_work_t* work, std::uint64_t flags) noexcept {
  if ((id & token_marked) == 0 || !is_recording(varve_load_state_())) {
    return;
  }
  if (work == nullptr) {
    if (thread_log* const log = log_of_thread()) {
      thread_log::count(log->lost.failed_work);
    }
    return;
  }
  const slot slots[] = {
      make_slot(event::work, static_cast<std::uint32_t>(work->math) | flags, id),
      {static_cast<std::uint64_t>(work->flops), static_cast<std::uint64_t>(work->weight_bytes)},
      {static_cast<std::uint64_t>(work->kv_bytes), static_cast<std::uint64_t>(work->activation_bytes)}};
  append(slots, 3);
}

int arm(bool devices) noexcept {
  activate();
  __atomic_or_fetch(&varve_state_, VARVE_STATE_ARMED, __ATOMIC_RELAXED);
  built_in_source().arm(devices);
  return other_copies().empty() ? 0 : -1;
}

}  // namespace

extern "C" {

uint32_t varve_state_ = VARVE_STATE_FRESH;

uint64_t varve_push_(int kind, const char* name, int32_t index) noexcept {
  const std::uint32_t state = settled_state();
  std::uint64_t token = 0;
  if (__builtin_expect(is_kept(state), 1)) {
    if (thread_log* const log = log_of_thread()) {
      token = log->push(kind, name, index, is_recording(state));
    }
  }
  return __builtin_expect((state & state_told) != 0, 0) ? announce(state, token, kind, name, index) : token;
}

void varve_pop_(uint64_t id) noexcept {
  if (__builtin_expect((id & token_nvtx) != 0, 0)) {
    nvtx::pop();
  }
  if (__builtin_expect((id & token_marked) != 0, 1)) {
    const std::uint32_t state = varve_load_state_();
    if (__builtin_expect((state & state_counting) != 0, 0)) {
      built_in_counter().end(id & ~token_nvtx);
    }
    if (thread_log* const log = log_of_thread()) {
      log->pop(id, is_recording(state));
    }
  }
}

uint64_t varve_next_(uint64_t id, const char* name, int32_t index) noexcept {
  const std::uint32_t state = varve_load_state_();
  const bool tool = (id & token_nvtx) != 0 || (state & state_told) != 0;
  if (__builtin_expect((id & token_marked) == 0 || tool, 0)) {
    varve_pop_(id);
    return state != 0 ? varve_push_(VARVE_KIND_LAYER, name, index) : 0;
  }
  thread_log* const log = log_of_thread();
  return log != nullptr ? log->next(id, name, index, is_recording(state)) : 0;
}

varve_range varve_step_(varve_range range, const char* name, int32_t index) noexcept {
  const std::uint32_t state = varve_load_state_();
  if ((range.id & token_marked) == 0 || (range.id & token_nvtx) != 0 || (state & state_told) != 0) {
    varve_close_(range);
    return state != 0 ? varve_open_(VARVE_KIND_LAYER, name, index) : varve_range{0, 0};
  }
  return {varve_next_(range.id, name, index), 0};
}

varve_range varve_open_(int kind, const char* name, int32_t index) noexcept {
  const std::uint32_t state = settled_state();
  varve_range range = {0, 0};
  if (is_kept(state)) {
    if (thread_log* const log = log_of_thread()) {
      range.id = log->push(kind, name, index, is_recording(state));
    }
  }
  if ((state & state_counting) != 0 && range.id != 0) {
    built_in_counter().begin(range.id, kind, name);
  }
  if ((state & VARVE_STATE_NVTX) != 0) {
    range.nvtx = nvtx::start(name, index);
    range.id |= token_nvtx;
  }
  return range;
}

void varve_close_(varve_range range) noexcept {
  if ((range.id & token_nvtx) != 0) {
    nvtx::end(range.nvtx);
  }
  varve_pop_(range.id & ~token_nvtx);
}

void varve_end_elsewhere_(uint64_t id) noexcept {
  if ((id & token_marked) != 0) {
    const slot slots[] = {make_slot(event::attribute, key_ended, id), {now(), 0}};
    append(slots, 2);
  }
}

void varve_attribute_(uint64_t id, int attribute, int64_t value) noexcept {
  if ((id & token_marked) != 0) {
    const slot slots[] = {make_slot(event::attribute, static_cast<std::uint32_t>(attribute), id),
                          {static_cast<std::uint64_t>(value), 0}};
    append(slots, 2);
  }
}

void varve_model_(uint64_t id, const char* name) noexcept {
  if ((id & token_marked) != 0) {
    const slot slots[] = {make_slot(event::attribute, key_model, id),
                          {reinterpret_cast<std::uintptr_t>(name), 0}};
    append(slots, 2);
  }
}

void varve_stream_(uint64_t id, void* cuda_stream) noexcept {
  if ((id & token_marked) == 0 || !is_recording(varve_load_state_()) || !built_in_spans().running() ||
      built_in_source().running()) {
    return;
  }
  thread_log* const log = log_of_thread();
  if (log != nullptr && log->mark_streamed(id)) {
    built_in_spans().begin(id & ~token_nvtx, cuda_stream);
  } else {
    built_in_spans().refuse();
  }
}

void varve_sequence_(uint64_t id, int decode, uint32_t tokens, uint32_t context) noexcept {
  if ((id & token_marked) != 0) {
    const slot slots[] = {make_slot(event::attribute, key_sequence, id),
                          {static_cast<std::uint64_t>(tokens) << 32U | context, decode != 0 ? 1U : 0U}};
    append(slots, 2);
  }
}

void varve_declare_(uint64_t id, const varve_work_t* work) noexcept { declare(id, work, 0); }

void varve_declare_here_(const varve_work_t* work) noexcept {
  const thread_log* const log = this_log;
  declare(log != nullptr ? log->innermost() : 0, work, work_by_shapes);
}

uint64_t varve_request_begin_(const char* name, int32_t index) noexcept {
  const std::uint64_t id = last_request.fetch_add(1, std::memory_order_relaxed) + 1;
  const slot slots[] = {make_slot(event::request, now(), id),
                        {reinterpret_cast<std::uintptr_t>(name), static_cast<std::uint32_t>(index)}};
  append(slots, 2);
  return id;
}

void varve_request_end_(uint64_t id) noexcept {
  const slot slots[] = {make_slot(event::request, now(), id), {0, 0}};
  append(slots, 2);
}

void varve_serves_(uint64_t pass, uint64_t request) noexcept {
  if ((pass & token_marked) != 0) {
    const slot slots[] = {make_slot(event::attribute, key_serves, pass), {request, 0}};
    append(slots, 2);
  }
}

void varve_here_(varve_handoff_t* where) noexcept {
  *where = {};
  const thread_log* const log = this_log;
  if (log == nullptr || log->depth() == 0) {
    return;
  }
  where->id = log->innermost();
  where->depth = std::min<std::uint32_t>(log->depth(), VARVE_HANDOFF_DEPTH);
  for (std::uint32_t i = 0; i < where->depth; ++i) {
    const open_range& step = log->stack()[i];
    where->kinds[i] = static_cast<std::uint32_t>(step.kind);
    where->path[i] = {step.name, step.index};
  }
}

uint64_t varve_adopt_(const varve_handoff_t* where) noexcept {
  const std::uint32_t state = settled_state();
  if (where->depth == 0 || !is_kept(state)) {
    return 0;
  }
  thread_log* const log = log_of_thread();
  return log != nullptr ? log->adopt(*where, is_recording(state)) : 0;
}

void varve_cuda_(int initialised) noexcept {
  if (initialised != 0) {
    built_in_source().cuda_starts();
  } else {
    built_in_source().expect_cuda();
  }
}

void varve_unload_(void) noexcept { drain_before_unload(); }

int varve_version(void) noexcept { return VARVE_VERSION; }

int varve_arm(void) noexcept { return arm(false); }

int varve_arm_devices(void) noexcept { return arm(true); }

void varve_disarm(void) noexcept {
  const std::uint32_t state =
      __atomic_and_fetch(&varve_state_, ~std::uint32_t{VARVE_STATE_ARMED}, __ATOMIC_RELAXED);
  built_in_source().disarm();
  if (!is_recording(state)) {
    labels_of_graphs().clear();
  }
}

}  // extern "C"

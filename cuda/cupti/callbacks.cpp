// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What CUPTI calls: on the engine's threads around its calls, and on threads of its own with full buffers.
// Nothing here throws, waits for a session, or calls CUPTI while it holds a lock.
#include "cupti/collector.hpp"

#include <varve/varve.h>

#include "cupti/explain.hpp"

#include "record/log.hpp"

#include <cstring>
#include <new>

namespace varve::cupti {

namespace {

thread_local recent_contexts last_contexts __attribute__((tls_model("initial-exec")));

/// Whether this thread's call of the runtime has updated a graph by one of the driver, which has told of it.
thread_local bool updated_inside __attribute__((tls_model("initial-exec"))) = false;

/// For libraries that crash where they are given no buffer: what lands in it is lost, and its bytes are
/// counted.
alignas(64) std::uint8_t nowhere[buffer_pool::spare_bytes];

/// Whether a stream captures on although its capture was to end: not from this thread (CUresult and
/// cudaError_t have the same number). All other failures leave it without one.
bool captures_on(int answer) noexcept { return answer == 908; }

/// Of calls that begin or end a capture.
stream_handle stream_of(const void* params) noexcept {
  return params != nullptr ? *static_cast<const stream_handle*>(params) : nullptr;
}

bool a_session_records() noexcept { return (varve_load_state_() & VARVE_STATE_RECORDING) != 0; }

}  // namespace

void collector::called_back(void* self, callback_domain domain, std::uint32_t id, const void* data) noexcept {
  auto& me = *static_cast<collector*>(self);
  if (me.left_.load(std::memory_order_relaxed)) {
    return;
  }
  // Before any lock is taken: a child that finds one taken finds this said too.
  if (!me.cuda_used_.load(std::memory_order_relaxed)) {
    me.cuda_used_ = true;
  }
  if (domain == callback_domain::resource &&
      static_cast<resource_event>(id) == resource_event::cu_init_finished) {
    me.heed_exit(told_to_heed::initialised);
    return;
  }
  if (data == nullptr) {
    return;
  }
  switch (domain) {
    case callback_domain::runtime_api:
    case callback_domain::driver_api:
      me.on_call(domain, id, *static_cast<const callback_data*>(data));
      break;
    case callback_domain::resource:
      me.on_resource(static_cast<resource_event>(id), *static_cast<const resource_data*>(data));
      break;
    case callback_domain::state:
      me.on_state(*static_cast<const state_data*>(data));
      break;
    default:
      break;
  }
}

void collector::on_call(callback_domain domain, std::uint32_t id, const callback_data& d) noexcept {
  attachment& a = *attached_.load(std::memory_order_relaxed);
  const std::uint8_t kind = a.kinds.of(domain, id);
  if (kind == call_kinds::not_watched) {
    return;
  }
  const std::uint32_t era = era_.load(std::memory_order_relaxed);
  if (d.site == callback_site::enter) {
    if ((kind & call_kinds::graph_update) != 0 && domain == callback_domain::runtime_api) {
      updated_inside = false;
    }
    if (recording_.load(std::memory_order_relaxed) && a_session_records()) {
      enter_call(kind, d.correlation_id, era);
    }
    return;
  }
  if ((kind & call_kinds::graph_instantiate) != 0) {
    a.graphs.instantiated();
  }
  if ((kind & call_kinds::special) != 0 && d.function_return_value != nullptr) {
    const int answer = *static_cast<const int*>(d.function_return_value);
    switch (answer == 0 || (kind & call_kinds::capture_end) != 0 ? kind & call_kinds::special : 0) {
      case call_kinds::graph_update: {
        struct update {  // how the parameters of all such functions begin
          graph_exec_handle exec;
          graph_handle graph;
        };
        const bool told = domain == callback_domain::runtime_api && updated_inside;
        updated_inside = domain == callback_domain::driver_api;
        if (!told && d.function_params != nullptr) {
          const auto& p = *static_cast<const update*>(d.function_params);
          a.graphs.updated(p.exec, p.graph, d.correlation_id);
        }
        break;
      }
      case call_kinds::capture_begin:
        contexts_.capture_begins(d.context, stream_of(d.function_params));
        break;
      case call_kinds::capture_end:
        if (!captures_on(answer)) {
          contexts_.capture_ends(stream_of(d.function_params));
        }
        break;
      default:
        break;
    }
  }
  leave_call(era,
             d.function_return_value == nullptr || *static_cast<const int*>(d.function_return_value) == 0);
  if (d.context != nullptr && last_contexts.is_new(d.context, era)) {
    contexts_.saw(d.context);
  }
}

void collector::on_resource(resource_event what, const resource_data& d) noexcept {
  if (what == resource_event::context_created) {
    heed_exit(told_to_heed::has_context);
    contexts_.made(d.context);
  } else if (what == resource_event::context_destroy_starting) {
    contexts_.gone(d.context);
  } else if (what == resource_event::stream_destroy_starting) {
    contexts_.stream_gone(d.stream);
  } else if (d.descriptor != nullptr) {
    if (what == resource_event::graph_node_created &&
        (call_is_captured() || looks_for_captures_.load(std::memory_order_relaxed))) {
      contexts_.call_was_captured();
    }
    attached_.load(std::memory_order_relaxed)
        ->graphs.happened(what, *static_cast<const graph_data*>(d.descriptor));
  }
}

void collector::on_state(const state_data& d) noexcept {
  const std::lock_guard lock{told_mutex_};
  try {
    if (errors_++ == 0) {
      constexpr std::size_t most = 200;
      first_error_ = explain(d.code, "in its own work");
      if (d.message != nullptr) {
        first_error_ += " (" + std::string{d.message, ::strnlen(d.message, most)} + ")";
      }
    }
  } catch (const std::bad_alloc&) {
    // the number is kept
  }
}

void collector::buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) noexcept {
  collector& me = the_collector();
  const bool wanted = !me.left_ && !me.inherited_;  // by a session, or by arming
  const buffer_pool::piece piece = wanted ? me.pool_.take() : buffer_pool::piece{};
  *buffer = piece.data;
  *size = piece.size;
  *records = 0;
  if (piece.is_short) {
    record::wake_reader();  // which makes more
  }
  // Before 12.9 a missing buffer is a crash.
  if (piece.data == nullptr && me.attached_.load()->lib.version < cuda_12_9) {
    *buffer = nowhere;
    *size = sizeof nowhere;
  }
}

void collector::buffer_completed(context_handle /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                                 std::size_t /*size*/, std::size_t valid) noexcept {
  collector& me = the_collector();
  if (me.left_ || buffer == nullptr) {
    return;
  }
  if (buffer == nowhere) {
    // Several may have it at a time: what is in it is nobody's record, so that it is not even freed.
    me.lost_bytes_ += valid;
    return;
  }
  ++me.completing_;
  if (me.recording_ && valid != 0) {
    me.attached_.load()->records.read(buffer, valid);
    record::wake_reader();
  } else if (valid != 0) {
    const std::size_t records = me.attached_.load()->records.discard(buffer, valid);
    me.late_ += me.pool_.loan_of(buffer) < me.fetched_ ? records : 0;
  }
  me.pool_.give(buffer);
  --me.completing_;
}

}  // namespace varve::cupti

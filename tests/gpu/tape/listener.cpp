// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "gpu/tape/listener.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "gpu/tape/call_params.hpp"
#include "gpu/tape/read_callbacks.hpp"

namespace varve_tape {
namespace {

listener* running = nullptr;

/// Calls by the hundred while CUDA initialises, which no collector looks at.
bool is_idle_talk(std::string_view name) {
  for (const std::string_view start :
       {"cuGetProcAddress", "cuGetExportTable", "cuDeviceGet", "cuDriverGet"}) {
    if (name.substr(0, start.size()) == start) {
      return true;
    }
  }
  return false;
}

std::string name_of(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const char* name = nullptr;
  return cuptiGetCallbackName(domain, id, &name) == CUPTI_SUCCESS && name != nullptr ? name : "";
}

}  // namespace

listener::listener(const std::string& path, header head, listener_options options)
    : options_{std::move(options)}, file_{std::fopen(path.c_str(), "wbx")} {
  if (file_ == nullptr) {
    throw std::runtime_error("cannot write " + path + ", or it is there already");
  }
  running = this;
  head.version = format_version;
  head.origin = "recorded";
  (void)cuptiGetVersion(&head.cupti);
  put(to_line(head));
}

listener::~listener() {
  std::fclose(file_);
  running = nullptr;
}

void listener::start() {
  varve_tape::start line;
  line.whole_graphs = std::find(options_.kinds.begin(), options_.kinds.end(),
                                CUPTI_ACTIVITY_KIND_GRAPH_TRACE) != options_.kinds.end();
  add(line);
  tell("cuptiSubscribe", cuptiSubscribe(&subscriber_, on_callback, this));
  tell("cuptiActivityRegisterCallbacks", cuptiActivityRegisterCallbacks(on_request, on_complete));
  for (const CUpti_ActivityKind kind : options_.kinds) {
    tell(("cuptiActivityEnable of kind " + std::to_string(kind)).c_str(), cuptiActivityEnable(kind));
  }
  for (const CUpti_CallbackDomain domain :
       {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RESOURCE}) {
    tell("cuptiEnableDomain", cuptiEnableDomain(1, subscriber_, domain));
  }
}

void listener::stop() {
  add(varve_tape::stop{});
  flush(false);
  for (const CUpti_ActivityKind kind : options_.kinds) {
    tell("cuptiActivityDisable", cuptiActivityDisable(kind));
  }
  flush(true);
  tell("cuptiUnsubscribe", cuptiUnsubscribe(subscriber_));
  subscriber_ = nullptr;
}

void listener::flush(bool forced) {
  add(step{forced ? "flushes by force" : "flushes"});
  tell("cuptiActivityFlushAll", cuptiActivityFlushAll(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0));
}

void listener::finish() { put(finish_line(left_out_)); }

void listener::tell(const char* what, CUptiResult result) {
  if (result != CUPTI_SUCCESS) {
    add(step{std::string{what} + " returned " + std::to_string(result)});
  }
}

void listener::add_event(event e) {
  (void)cuptiGetTimestamp(&e.at);
  const std::lock_guard guard{lock_};
  e.thread =
      threads_.emplace(std::this_thread::get_id(), static_cast<std::uint32_t>(threads_.size())).first->second;
  const std::string lines = to_lines(e);
  std::fwrite(lines.data(), 1, lines.size(), file_);
  std::fflush(file_);
}

void listener::put(const std::string& lines) {
  const std::lock_guard guard{lock_};
  std::fwrite(lines.data(), 1, lines.size(), file_);
  std::fflush(file_);
}

void listener::on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  listener& r = *static_cast<listener*>(self);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    r.add(resource_of(id, static_cast<const CUpti_ResourceData*>(data)));
  } else if (data != nullptr) {
    r.add_call(domain, id, *static_cast<const CUpti_CallbackData*>(data));
  }
}

void listener::add_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  call c;
  c.enter = data.callbackSite == CUPTI_API_ENTER;
  (domain == CUPTI_CB_DOMAIN_RUNTIME_API ? c.runtime : c.driver) = name_of(domain, id);
  c.id = id;
  if (is_idle_talk(c.name())) {
    left_out_ += c.enter ? 1 : 0;
    return;
  }
  c.symbol = c.enter && data.symbolName != nullptr ? data.symbolName : "";
  c.correlation = data.correlationId;
  c.context = data.contextUid;
  if (data.correlationData != nullptr) {
    if (c.enter) {
      *data.correlationData = ++next_call_;
    }
    c.data = *data.correlationData;
  }
  if (!c.enter && data.functionReturnValue != nullptr) {
    // cudaError_t and CUresult are both an int.
    int result = 0;
    std::memcpy(&result, data.functionReturnValue, sizeof result);
    c.result = result;
  }
  if (data.functionParams != nullptr) {
    const auto* const first = static_cast<const std::byte*>(data.functionParams);
    c.params.assign(first, first + params_size(domain, id));
  }
  add(std::move(c));
}

void listener::on_request(std::uint8_t** memory, std::size_t* size, std::size_t* max_records) {
  *size = running->options_.buffer_size;
  *memory = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *max_records = 0;
  request r;
  r.size = *size;
  {
    const std::lock_guard guard{running->lock_};
    r.buffer = running->lent_[*memory] = ++running->buffers_;
  }
  running->add(r);
}

void listener::on_complete(CUcontext context, std::uint32_t stream, std::uint8_t* memory,
                           std::size_t /*size*/, std::size_t valid) {
  buffer b = buffer_of(context, stream, memory, valid);
  {
    const std::lock_guard guard{running->lock_};
    b.buffer = running->lent_[memory];
    running->lent_.erase(memory);
  }
  running->add(std::move(b));
  std::free(memory);
}

}  // namespace varve_tape

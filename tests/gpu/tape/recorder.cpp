// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "gpu/tape/recorder.hpp"

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "gpu/tape/call_params.hpp"
#include "gpu/tape/read_callbacks.hpp"

namespace varve_tape {
namespace {

recorder* running = nullptr;

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

header header_of(const std::string& name, const machine& on) {
  header out;
  out.version = 1;
  out.name = name;
  out.device = on.device;
  out.capability = on.capability;
  (void)cuptiGetVersion(&out.cupti);
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess) {
    out.driver = static_cast<std::uint32_t>(version);
  }
  if (cudaRuntimeGetVersion(&version) == cudaSuccess) {
    out.runtime = static_cast<std::uint32_t>(version);
  }
  return out;
}

}  // namespace

recorder::recorder(const std::string& path, const std::string& name, const machine& on,
                   recorder_options options)
    : options_{std::move(options)}, file_{std::fopen(path.c_str(), "wbx")} {
  if (file_ == nullptr) {
    throw std::runtime_error("cannot write " + path + ", or it is there already");
  }
  running = this;
  put(to_line(header_of(name, on)));
}

recorder::~recorder() {
  std::fclose(file_);
  running = nullptr;
}

void recorder::start() {
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

void recorder::stop() {
  varve_gpu::check(cudaDeviceSynchronize());
  flush(false);
  for (const CUpti_ActivityKind kind : options_.kinds) {
    tell("cuptiActivityDisable", cuptiActivityDisable(kind));
  }
  flush(true);
  tell("cuptiUnsubscribe", cuptiUnsubscribe(subscriber_));
  subscriber_ = nullptr;
}

void recorder::flush(bool forced) {
  step(forced ? "flushes by force" : "flushes");
  tell("cuptiActivityFlushAll", cuptiActivityFlushAll(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0));
}

void recorder::finish() {
  const varve_gpu::counts kernels = expected();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i] != 0) {
      add(varve_tape::expect{"layer", static_cast<std::int64_t>(i), static_cast<std::uint64_t>(kernels[i])});
    }
  }
  put(finish_line(left_out_));
}

void recorder::begin_pass(bool capture) { add(varve_tape::begin{capture ? "capture" : "decode", -1}); }
void recorder::begin_layer(int layer) { add(varve_tape::begin{"layer", layer}); }
void recorder::end() { add(varve_tape::end{}); }
void recorder::step(const std::string& text) { add(varve_tape::step{text}); }

void recorder::tell(const char* what, CUptiResult result) {
  if (result != CUPTI_SUCCESS) {
    step(std::string{what} + " returned " + std::to_string(result));
  }
}

template <class What>
void recorder::add(What what) {
  event e;
  (void)cuptiGetTimestamp(&e.at);
  e.what = std::move(what);
  const std::lock_guard guard{lock_};
  e.thread =
      threads_.emplace(std::this_thread::get_id(), static_cast<std::uint32_t>(threads_.size())).first->second;
  const std::string lines = to_lines(e);
  std::fwrite(lines.data(), 1, lines.size(), file_);
  std::fflush(file_);
}

void recorder::put(const std::string& lines) {
  const std::lock_guard guard{lock_};
  std::fwrite(lines.data(), 1, lines.size(), file_);
  std::fflush(file_);
}

void recorder::on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  recorder& r = *static_cast<recorder*>(self);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    r.add(resource_of(id, static_cast<const CUpti_ResourceData*>(data)));
  } else if (data != nullptr) {
    r.add_call(domain, id, *static_cast<const CUpti_CallbackData*>(data));
  }
}

void recorder::add_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  call c;
  c.enter = data.callbackSite == CUPTI_API_ENTER;
  c.domain = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "runtime" : "driver";
  c.cbid = id;
  c.name = name_of(domain, id);
  if (is_idle_talk(c.name)) {
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

void recorder::on_request(std::uint8_t** memory, std::size_t* size, std::size_t* max_records) {
  *size = running->options_.buffer_size;
  *memory = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *max_records = 0;
  running->add(request{*size});
}

void recorder::on_complete(CUcontext context, std::uint32_t stream, std::uint8_t* memory,
                           std::size_t /*size*/, std::size_t valid) {
  running->add(buffer_of(context, stream, memory, valid));
  std::free(memory);
}

}  // namespace varve_tape

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// An NVTX tool for tests: writes down what is pushed, popped, started and ended in named domains. NVTX loads
// it from NVTX_INJECTION64_PATH at the first call.
#include "support/nvtx_tool.hpp"

#include <nvtx3/nvToolsExt.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <utility>

namespace {

// One for the process: NVTX never unloads a tool.
struct state {
  std::mutex mutex;
  std::vector<nvtx_event> events;
  std::deque<std::string> texts;  // domains and registered strings: their addresses are the handles
  std::map<nvtxRangeId_t, std::string> started;
  nvtxRangeId_t last_range = 0;
};

state& the_state() {
  static auto* one = new state;
  return *one;
}

template <class Handle>
Handle keep(const char* text) {
  state& s = the_state();
  const std::scoped_lock lock{s.mutex};
  return reinterpret_cast<Handle>(&s.texts.emplace_back(text));
}

template <class Handle>
std::string kept(Handle handle) {
  return handle != nullptr ? *reinterpret_cast<const std::string*>(handle) : std::string{"(none)"};
}

std::string name_of(const nvtxEventAttributes_t& event) {
  return event.messageType == NVTX_MESSAGE_TYPE_REGISTERED ? kept(event.message.registered)
         : event.messageType == NVTX_MESSAGE_TYPE_ASCII    ? std::string{event.message.ascii}
                                                           : std::string{"(no message)"};
}

std::string payload_of(const nvtxEventAttributes_t& event) {
  switch (event.payloadType) {
    case NVTX_PAYLOAD_UNKNOWN:
      return {};
    case NVTX_PAYLOAD_TYPE_INT32:
      return std::to_string(event.payload.iValue);
    case NVTX_PAYLOAD_TYPE_INT64:
      return std::to_string(event.payload.llValue);
    default:
      return "(payload of another type)";
  }
}

void note(state& s, nvtx_event::what kind, nvtxDomainHandle_t domain, std::string text, std::string name = {},
          std::string payload = {}) {
  s.events.push_back(
      {kind, kept(domain), std::move(text), std::move(name), std::move(payload), std::this_thread::get_id()});
}

std::string note_begin(state& s, nvtx_event::what kind, nvtxDomainHandle_t domain,
                       const nvtxEventAttributes_t& event) {
  const std::string name = name_of(event);
  const std::string payload = payload_of(event);
  std::string text = payload.empty() ? name : name + ' ' + payload;
  note(s, kind, domain, text, name, payload);
  return text;
}

void write_events() {
  state& s = the_state();
  const std::scoped_lock lock{s.mutex};
  std::ofstream file{std::getenv(nvtx_tool_file_variable)};
  constexpr std::array words{"push", "pop", "start", "end"};
  for (const nvtx_event& e : s.events) {
    file << words[e.kind] << '\t' << e.thread << '\t' << e.domain << '\t' << e.name << '\t' << e.payload
         << '\n';
  }
}

nvtxDomainHandle_t NVTX_API create_domain(const char* name) { return keep<nvtxDomainHandle_t>(name); }

nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const char* text) {
  return keep<nvtxStringHandle_t>(text);
}

int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  state& s = the_state();
  const std::scoped_lock lock{s.mutex};
  note_begin(s, nvtx_event::push, domain, *event);
  return 0;
}

int NVTX_API pop(nvtxDomainHandle_t domain) {
  state& s = the_state();
  const std::scoped_lock lock{s.mutex};
  note(s, nvtx_event::pop, domain, {});
  return 0;
}

nvtxRangeId_t NVTX_API start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  state& s = the_state();
  const std::scoped_lock lock{s.mutex};
  s.started[++s.last_range] = note_begin(s, nvtx_event::start, domain, *event);
  return s.last_range;
}

void NVTX_API end(nvtxDomainHandle_t domain, nvtxRangeId_t range) {
  state& s = the_state();
  const std::scoped_lock lock{s.mutex};
  const auto started = s.started.find(range);
  note(s, nvtx_event::end, domain, started != s.started.end() ? started->second : "(never started)");
  s.started.erase(range);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void nvtx_tool_take(std::vector<nvtx_event>& out) {
  state& s = the_state();
  const std::scoped_lock lock{s.mutex};
  out = std::exchange(s.events, {});
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that NVTX looks for
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &functions, &size) == 0 ||
      size <= NVTX_CBID_CORE2_DomainCreateA) {
    return 0;
  }
  const auto hook = [&](int id, auto* function) {
    *functions[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  };
  hook(NVTX_CBID_CORE2_DomainCreateA, create_domain);
  hook(NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  hook(NVTX_CBID_CORE2_DomainRangePushEx, push);
  hook(NVTX_CBID_CORE2_DomainRangePop, pop);
  hook(NVTX_CBID_CORE2_DomainRangeStartEx, start);
  hook(NVTX_CBID_CORE2_DomainRangeEnd, end);
  if (std::getenv(nvtx_tool_file_variable) != nullptr) {
    std::atexit(write_events);
  }
  return 1;
}

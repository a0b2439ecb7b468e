// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Marks (nvtxMark) have no length, and categories no time: neither is recorded.
#include "inject/nvtx.hpp"

#include "inject/labels.hpp"
#include "inject/ranges.hpp"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

namespace varve::inject {

namespace {

/// A domain's handle is an address in here; names do not matter, only which is which.
struct domains {
  std::atomic<std::uint32_t> used{0};
  char handles[4096];  // further ones share the last
};

domains the_domains;

const range_mark& mark_of_text(const char* text) noexcept {
  return mark_of(text != nullptr ? std::string_view{text, ::strnlen(text, longest_text)} : "");
}

const range_mark& mark_of_text(const wchar_t* text) noexcept {
  try {
    return mark_of(text != nullptr ? narrow(text) : std::string{});
  } catch (...) {
    return mark_of("");
  }
}

const range_mark& mark_of_event(const nvtxEventAttributes_t* event) noexcept {
  if (event != nullptr) {
    switch (event->messageType) {
      case NVTX_MESSAGE_TYPE_ASCII:
        return mark_of_text(event->message.ascii);
      case NVTX_MESSAGE_TYPE_UNICODE:
        return mark_of_text(event->message.unicode);
      case NVTX_MESSAGE_TYPE_REGISTERED:
        if (event->message.registered != nullptr) {
          return *reinterpret_cast<const range_mark*>(event->message.registered);
        }
        break;
      default:
        break;
    }
  }
  return mark_of("(no name)");
}

/// A number that an index can be.
template <class T>
std::int32_t index_of(T value) noexcept {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
  return value >= 0 && static_cast<std::uint64_t>(value) <= most ? static_cast<std::int32_t>(value)
                                                                 : no_index;
}

std::int32_t payload_of(const nvtxEventAttributes_t* event) noexcept {
  if (event != nullptr) {
    switch (event->payloadType) {
      case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
        return index_of(event->payload.ullValue);
      case NVTX_PAYLOAD_TYPE_INT64:
        return index_of(event->payload.llValue);
      case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
        return index_of(event->payload.uiValue);
      case NVTX_PAYLOAD_TYPE_INT32:
        return index_of(event->payload.iValue);
      default:
        break;  // times, rates and the like
    }
  }
  return no_index;
}

// --- what NVTX calls ---

int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return push_range(domain, mark_of_event(event), payload_of(event));
}
int NVTX_API push_event(const nvtxEventAttributes_t* event) { return domain_push(nullptr, event); }
template <class Char>
int NVTX_API push_text(const Char* text) {
  return push_range(nullptr, mark_of_text(text), no_index);
}

int NVTX_API domain_pop(nvtxDomainHandle_t domain) {
  const int depth = pop_range(domain);
  return depth < 0 ? NVTX_NO_PUSH_POP_TRACKING : depth;
}
int NVTX_API pop() { return domain_pop(nullptr); }

nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t /*domain*/, const nvtxEventAttributes_t* event) {
  return start_range(mark_of_event(event), payload_of(event));
}
nvtxRangeId_t NVTX_API start_event(const nvtxEventAttributes_t* event) {
  return domain_start(nullptr, event);
}
template <class Char>
nvtxRangeId_t NVTX_API start_text(const Char* text) {
  return start_range(mark_of_text(text), no_index);
}

void NVTX_API end(nvtxRangeId_t id) { end_range(id); }
void NVTX_API domain_end(nvtxDomainHandle_t /*domain*/, nvtxRangeId_t id) { end_range(id); }

template <class Char>
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t /*domain*/, const Char* text) {
  const auto* const mark = kept_mark_of(mark_of_text(text));
  return reinterpret_cast<nvtxStringHandle_t>(const_cast<range_mark*>(mark));
}

template <class Char>
nvtxDomainHandle_t NVTX_API create_domain(const Char* /*name*/) {
  const std::uint32_t number = the_domains.used.fetch_add(1, std::memory_order_relaxed);
  const std::size_t place = std::min<std::size_t>(number, sizeof the_domains.handles - 1);
  return reinterpret_cast<nvtxDomainHandle_t>(&the_domains.handles[place]);
}

/// Functions of a table, as far as that copy of NVTX has them.
class hooks {
 public:
  hooks(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) noexcept {
    if (callbacks.GetModuleFunctionTable(module, &functions_, &size_) == 0) {
      size_ = 0;
    }
  }
  template <class Function>
  hooks& set(unsigned id, Function* function) noexcept {
    if (id < size_ && functions_[id] != nullptr) {
      *functions_[id] = reinterpret_cast<NvtxFunctionPointer>(function);
    }
    return *this;
  }
  [[nodiscard]] bool any() const noexcept { return size_ > 0; }

 private:
  NvtxFunctionTable functions_ = nullptr;
  unsigned size_ = 0;
};

}  // namespace

bool attach(export_table_function table) noexcept {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr) {
    return false;
  }
  hooks core{*callbacks, NVTX_CB_MODULE_CORE};
  core.set(NVTX_CBID_CORE_RangePushEx, push_event)
      .set(NVTX_CBID_CORE_RangePushA, push_text<char>)
      .set(NVTX_CBID_CORE_RangePushW, push_text<wchar_t>)
      .set(NVTX_CBID_CORE_RangePop, pop)
      .set(NVTX_CBID_CORE_RangeStartEx, start_event)
      .set(NVTX_CBID_CORE_RangeStartA, start_text<char>)
      .set(NVTX_CBID_CORE_RangeStartW, start_text<wchar_t>)
      .set(NVTX_CBID_CORE_RangeEnd, end);
  hooks core2{*callbacks, NVTX_CB_MODULE_CORE2};
  core2.set(NVTX_CBID_CORE2_DomainRangePushEx, domain_push)
      .set(NVTX_CBID_CORE2_DomainRangePop, domain_pop)
      .set(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start)
      .set(NVTX_CBID_CORE2_DomainRangeEnd, domain_end)
      .set(NVTX_CBID_CORE2_DomainRegisterStringA, register_string<char>)
      .set(NVTX_CBID_CORE2_DomainRegisterStringW, register_string<wchar_t>)
      .set(NVTX_CBID_CORE2_DomainCreateA, create_domain<char>)
      .set(NVTX_CBID_CORE2_DomainCreateW, create_domain<wchar_t>);
  return core.any() || core2.any();
}

}  // namespace varve::inject

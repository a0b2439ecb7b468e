// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/nvtx.hpp"

#include <varve/varve.h>

#if defined(VARVE_HAS_NVTX)
#include <nvtx3/nvToolsExt.h>
#endif

namespace varve::record::nvtx {

#if defined(VARVE_HAS_NVTX)

namespace {

nvtxDomainHandle_t the_domain = nullptr;

// Markers read the state relaxed. Whoever saw in it that a tool is attached must also see what attaching did.
nvtxDomainHandle_t domain() noexcept {
  static_cast<void>(__atomic_load_n(&varve_state_, __ATOMIC_ACQUIRE));
  return the_domain;
}

nvtxEventAttributes_t attributes(const char* name, std::int32_t index) noexcept {
  nvtxEventAttributes_t a{};
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.messageType = NVTX_MESSAGE_TYPE_ASCII;
  a.message.ascii = name;
  if (index != VARVE_NO_INDEX) {
    a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    a.payload.llValue = index;
  }
  return a;
}

}  // namespace

// Without a tool NVTX gives no domain.
bool attach() noexcept {
  the_domain = nvtxDomainCreateA("varve");
  return the_domain != nullptr;
}

void push(const char* name, std::int32_t index) noexcept {
  const nvtxEventAttributes_t a = attributes(name, index);
  nvtxDomainRangePushEx(domain(), &a);
}

void pop() noexcept { nvtxDomainRangePop(domain()); }

std::uint64_t start(const char* name, std::int32_t index) noexcept {
  const nvtxEventAttributes_t a = attributes(name, index);
  return nvtxDomainRangeStartEx(domain(), &a);
}

void end(std::uint64_t id) noexcept { nvtxDomainRangeEnd(domain(), id); }

#else

bool attach() noexcept { return false; }
void push(const char* /*name*/, std::int32_t /*index*/) noexcept {}
void pop() noexcept {}
std::uint64_t start(const char* /*name*/, std::int32_t /*index*/) noexcept { return 0; }
void end(std::uint64_t /*id*/) noexcept {}

#endif

}  // namespace varve::record::nvtx

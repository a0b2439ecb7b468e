// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Marks (nvtxMark) have no length, and categories no time: neither is recorded.
#include "inject/nvtx.hpp"

#include "inject/labels.hpp"
#include "inject/life.hpp"

#include <varve/varve.h>

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

namespace varve::inject {

namespace {

/// A domain's handle is an address in here; names do not matter, only which is which.
struct domains {
  std::atomic<std::uint32_t> used{0};
  char handles[4096];  // further ones share the last
};

/// Ranges that other threads ended, until their own threads take them off their stacks.
struct ends {
  static constexpr std::size_t most = 4096;
  std::mutex mutex;
  std::vector<std::uint64_t> tokens;
  std::array<std::atomic<std::uint32_t>, 2048> waiting{};  // a bit for each log of which there are any

  [[nodiscard]] bool any(std::uint64_t log) const noexcept {
    return (waiting[log / 32].load(std::memory_order_relaxed) >> (log % 32) & 1U) != 0;
  }
};

domains the_domains;

ends& ended_elsewhere() noexcept {
  static auto* const leaked = new ends;  // outlives every thread and static destructor
  return *leaked;
}

/// What a thread has pushed. Of no destructor: ranges may come after those of a thread's objects.
struct pushed {
  const void* domain;
  std::uint64_t token;
};
struct thread_state {
  std::uint64_t log = 0;    // which log of the recorder the thread writes: in the upper bits of its tokens
  std::uint32_t depth = 0;  // may be beyond what fits
  std::array<pushed, 512> stack;
};
thread_local thread_state this_thread;

constexpr std::uint64_t log_of(std::uint64_t token) noexcept { return token >> 48U; }

/// Takes off this thread's stack what others ended.
void take_ended(thread_state& t) noexcept {
  ends& e = ended_elsewhere();
  std::array<std::uint64_t, 64> mine{};
  std::size_t count = 0;
  {
    const std::lock_guard lock{e.mutex};
    const auto end = std::remove_if(e.tokens.begin(), e.tokens.end(), [&](std::uint64_t token) {
      const bool taken = count < mine.size() && log_of(token) == t.log;
      if (taken) {
        mine[count++] = token;
      }
      return taken;
    });
    e.tokens.erase(end, e.tokens.end());
    if (count < mine.size()) {
      e.waiting[t.log / 32].fetch_and(~(1U << t.log % 32), std::memory_order_relaxed);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    varve_pop_(mine[i]);
  }
}

thread_state& enter() noexcept {
  ensure_session();
  thread_state& t = this_thread;
  if (__builtin_expect(ended_elsewhere().any(t.log), 0)) {
    take_ended(t);
  }
  return t;
}

std::uint64_t begin(thread_state& t, const range_mark& mark, std::int32_t payload) noexcept {
  if (mark.ignored) {
    return 0;
  }
  const std::uint64_t token =
      varve_push_(mark.kind, mark.name, mark.index != no_index ? mark.index : payload);
  if (token != 0) {
    t.log = log_of(token);
    for (const auto& [key, value] : mark.attributes) {
      varve_attribute_(token, key, value);
    }
  }
  return token;
}

int push(thread_state& t, const void* domain, std::uint64_t token) noexcept {
  if (t.depth < t.stack.size()) {
    t.stack[t.depth] = {domain, token};
  }
  return static_cast<int>(t.depth++);
}

int pop(const void* domain) noexcept {
  thread_state& t = enter();
  if (t.depth > t.stack.size()) {
    return static_cast<int>(--t.depth);  // one of those that did not fit, of whatever domain
  }
  std::uint32_t at = t.depth;
  while (at > 0 && t.stack[at - 1].domain != domain) {
    --at;
  }
  if (at == 0) {
    return NVTX_NO_PUSH_POP_TRACKING;  // popped more often than pushed
  }
  varve_pop_(t.stack[at - 1].token);
  std::copy(t.stack.begin() + at, t.stack.begin() + t.depth, t.stack.begin() + at - 1);
  return static_cast<int>(--t.depth);
}

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
  thread_state& t = enter();
  return push(t, domain, begin(t, mark_of_event(event), payload_of(event)));
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) { return pop(domain); }

nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t /*domain*/, const nvtxEventAttributes_t* event) {
  return begin(enter(), mark_of_event(event), payload_of(event));
}

void NVTX_API end(nvtxRangeId_t id) {
  const thread_state& t = enter();
  if (id == 0) {
    return;
  }
  if (log_of(id) == t.log) {
    varve_pop_(id);
    return;
  }
  varve_end_elsewhere_(id);
  try {
    ends& e = ended_elsewhere();
    const std::lock_guard lock{e.mutex};
    if (e.tokens.size() < ends::most) {
      e.tokens.push_back(id);
      e.waiting[log_of(id) / 32].fetch_or(1U << log_of(id) % 32, std::memory_order_relaxed);
    }
  } catch (...) {
    // stays on its thread's stack until that ends; its time is right
  }
}
void NVTX_API domain_end(nvtxDomainHandle_t /*domain*/, nvtxRangeId_t id) { end(id); }

int NVTX_API push_event(const nvtxEventAttributes_t* event) { return domain_push(nullptr, event); }
nvtxRangeId_t NVTX_API start_event(const nvtxEventAttributes_t* event) {
  return domain_start(nullptr, event);
}
template <class Char>
int NVTX_API push_text(const Char* text) {
  thread_state& t = enter();
  return push(t, nullptr, begin(t, mark_of_text(text), no_index));
}
template <class Char>
nvtxRangeId_t NVTX_API start_text(const Char* text) {
  return begin(enter(), mark_of_text(text), no_index);
}
int NVTX_API pop_range() { return pop(nullptr); }

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
      .set(NVTX_CBID_CORE_RangePop, pop_range)
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

void lock_ranges() noexcept { ended_elsewhere().mutex.lock(); }
void unlock_ranges() noexcept { ended_elsewhere().mutex.unlock(); }

}  // namespace varve::inject

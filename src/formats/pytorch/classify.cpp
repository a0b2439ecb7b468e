// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/classify.hpp"

#include <algorithm>
#include <array>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

void drop_prefix(std::string_view& text, std::string_view prefix) noexcept {
  text.remove_prefix(text.starts_with(prefix) ? prefix.size() : 0);
}

struct rule {
  std::string_view prefix;
  call_kind kind;
};

// The first that fits decides.
constexpr rule rules[] = {
    {"LaunchHostFunc", call_kind::host_function},
    {"StreamAddCallback", call_kind::host_function},
    {"Launch", call_kind::launch},
    {"GraphLaunch", call_kind::graph_launch},
    {"Graphics", call_kind::other},
    {"Graph", call_kind::graph_build},
    {"StreamBeginCapture", call_kind::graph_build},
    {"StreamEndCapture", call_kind::graph_build},
    {"StreamUpdateCapture", call_kind::graph_build},
    {"Memcpy", call_kind::copy},
    {"Memset", call_kind::set},
    {"Event", call_kind::event},
    {"StreamWaitEvent", call_kind::event},
    {"Malloc", call_kind::allocate},
    {"Free", call_kind::allocate},
    {"HostAlloc", call_kind::allocate},
    {"HostMalloc", call_kind::allocate},
    {"HostFree", call_kind::allocate},
    {"HostRegister", call_kind::allocate},
    {"HostUnregister", call_kind::allocate},
    {"MemAlloc", call_kind::allocate},
    {"MemFree", call_kind::allocate},
    {"MemHostAlloc", call_kind::allocate},
    {"MemHostRegister", call_kind::allocate},
    {"MemHostUnregister", call_kind::allocate},
    {"MemCreate", call_kind::allocate},
    {"MemRelease", call_kind::allocate},
    {"MemMap", call_kind::allocate},
    {"MemUnmap", call_kind::allocate},
    {"MemAddressReserve", call_kind::allocate},
    {"MemAddressFree", call_kind::allocate},
    {"MemSetAccess", call_kind::allocate},
    {"MemPoolCreate", call_kind::allocate},
    {"MemPoolDestroy", call_kind::allocate},
    {"MemPoolTrimTo", call_kind::allocate},
    {"ArrayCreate", call_kind::allocate},
    {"ArrayDestroy", call_kind::allocate},
};

}  // namespace

category category_of(std::string_view cat) noexcept {
  std::array<char, 32> letters{};
  if (cat.size() > letters.size()) {
    return category::unread;
  }
  std::transform(cat.begin(), cat.end(), letters.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const std::string_view lower{letters.data(), cat.size()};
  if (lower == "kernel") {
    return category::kernel;
  }
  if (lower == "gpu_memcpy" || lower == "memcpy") {
    return category::copy;
  }
  if (lower == "gpu_memset" || lower == "memset") {
    return category::set;
  }
  if (lower == "user_annotation") {
    return category::annotation;
  }
  if (lower == "cpu_op" || lower == "operator") {
    return category::operation;
  }
  if (lower == "python_function") {
    return category::python;
  }
  if (lower == "overhead") {
    return category::overhead;
  }
  if (lower == "gpu_user_annotation") {
    return category::device_annotation;
  }
  if (lower == "cpu_instant_event") {
    return category::instant;
  }
  if (lower == "ac2g" || lower == "async_cpu_to_gpu" || lower == "async_gpu" || lower == "async") {
    return category::launch_flow;
  }
  if (lower == "fwdbwd" || lower == "fwd_bwd" || lower == "forward_backward") {
    return category::backward_flow;
  }
  // cuda_runtime, cuda_driver, Runtime, hip_runtime, …
  return lower.ends_with("runtime") || lower.ends_with("driver") ? category::call : category::unread;
}

call_kind kind_of_call(std::string_view name) noexcept {
  if (name.starts_with("hip")) {
    name.remove_prefix(3);
    drop_prefix(name, "Ext");
    drop_prefix(name, "Drv");
    drop_prefix(name, "Module");
  } else if (name.starts_with("cuda")) {
    name.remove_prefix(4);
  } else if (name.starts_with("cu")) {
    name.remove_prefix(2);
  } else {
    return call_kind::other;
  }
  if (name.find("Synchronize") != std::string_view::npos) {
    return call_kind::synchronise;
  }
  const auto* const found = std::find_if(std::begin(rules), std::end(rules),
                                         [&](const rule& r) { return name.starts_with(r.prefix); });
  return found != std::end(rules) ? found->kind : call_kind::other;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

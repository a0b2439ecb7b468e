// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/names.hpp"

#include "standin_cupti/control.hpp"
#include "standin_cupti/entry.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace standin {
namespace {

using cupti::callback_domain;

struct added_names {
  std::mutex mutex;
  std::atomic<bool> any{false};
  std::map<std::pair<callback_domain, std::uint32_t>, const char*> names;
  std::set<std::string> texts;  // never emptied: names are constants to whoever has one
};

added_names& added() {
  static auto& names = *new added_names;
  return names;
}

const char* known(callback_domain domain, std::uint32_t id) {
#define STANDIN_NAME(constant, value, text) \
  case value:                               \
    return #text;
  if (domain == callback_domain::runtime_api) {
    switch (id) { STANDIN_RUNTIME_IDS(STANDIN_NAME) }
  } else {
    switch (id) { STANDIN_DRIVER_IDS(STANDIN_NAME) }
  }
#undef STANDIN_NAME
  return "INVALID";
}

// One past the last id. Those of 13.0 are the toolkit's; what 12.x had is our belief.
std::uint32_t end_of(callback_domain domain) {
  const bool cuda_13 = settings().version >= cupti::cuda_13_0;
  return domain == callback_domain::runtime_api ? (cuda_13 ? 523 : 505) : (cuda_13 ? 807 : 776);
}

}  // namespace

const char* callback_name(callback_domain domain, std::uint32_t id) {
  if (domain != callback_domain::runtime_api && domain != callback_domain::driver_api) {
    return nullptr;
  }
  added_names& all = added();
  if (!all.any.load(std::memory_order_acquire)) {
    return id < end_of(domain) ? known(domain, id) : nullptr;
  }
  const std::lock_guard lock{all.mutex};
  if (const auto found = all.names.find({domain, id}); found != all.names.end()) {
    return found->second;
  }
  const auto last = all.names.upper_bound({domain, 0xFFFFFFFF});
  const bool below_added = last != all.names.begin() && std::prev(last)->first.first == domain &&
                           std::prev(last)->first.second > id;
  return id < end_of(domain) ? known(domain, id) : below_added ? "INVALID" : nullptr;
}

void reset_names() {
  const std::lock_guard lock{added().mutex};
  added().names.clear();
  added().any = false;
}

void add_callback(callback_domain domain, std::uint32_t id, std::string_view name) {
  const std::lock_guard lock{added().mutex};
  added().any = true;
  added().names[{domain, id}] = added().texts.emplace(name).first->c_str();
}

}  // namespace standin

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/entry.hpp"

#include <atomic>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace standin {
namespace {

using entry_hook = std::function<void(std::string_view)>;
using clock_function = std::function<std::uint64_t()>;

constexpr std::size_t most_logged = 10000;  // a soak calls for hours

struct entry_state {
  std::mutex mutex;
  std::deque<config> configurations{config{}};  // never shortened: readers hold no lock
  std::atomic<const config*> current{&configurations.back()};
  std::vector<fault> faults;
  std::atomic<bool> has_faults{false};
  std::shared_ptr<const entry_hook> hook;
  std::atomic<bool> has_hook{false};
  std::atomic<bool> hook_runs{false};
  std::shared_ptr<const clock_function> clock;
  std::atomic<bool> has_clock{false};
  std::map<std::string, std::size_t, std::less<>> counts;
  std::vector<call_entry> log;
  std::vector<std::string> misuses;
};

entry_state& the_entry() {
  static auto& all = *new entry_state;
  return all;
}

void configure(entry_state& all, const config& settings) {
  all.configurations.push_back(settings);
  all.current.store(&all.configurations.back(), std::memory_order_release);
}

void run_hook(entry_state& all, const char* function) {
  if (!all.has_hook.load(std::memory_order_acquire) || all.hook_runs.exchange(true)) {
    return;
  }
  std::shared_ptr<const entry_hook> hook;
  {
    const std::lock_guard lock{all.mutex};
    hook = all.hook;
  }
  if (hook != nullptr) {
    (*hook)(function);
  }
  all.hook_runs.store(false);
}

cupti::result faulty(entry_state& all, const char* function, std::initializer_list<std::uint64_t> arguments) {
  const std::lock_guard lock{all.mutex};
  for (fault& f : all.faults) {
    const bool meant = (f.function.empty() || f.function == function) && f.times > 0 &&
                       (!f.argument || (arguments.size() > 0 && *arguments.begin() == *f.argument));
    if (!meant) {
      continue;
    }
    if (f.after > 0) {
      --f.after;
      continue;
    }
    --f.times;
    return f.code;
  }
  return cupti::result::success;
}

}  // namespace

const config& settings() { return *the_entry().current.load(std::memory_order_acquire); }

void change(const std::function<void(config&)>& edit) {
  config edited = settings();
  edit(edited);
  const std::lock_guard lock{the_entry().mutex};
  configure(the_entry(), edited);
}

void reset_entry(const config& settings) {
  entry_state& all = the_entry();
  const std::lock_guard lock{all.mutex};
  configure(all, settings);
  all.faults.clear();
  all.has_faults = false;
  all.hook = nullptr;
  all.has_hook = false;
  all.clock = nullptr;
  all.has_clock = false;
  all.counts.clear();
  all.log.clear();
  all.misuses.clear();
}

std::uint64_t now() {
  entry_state& all = the_entry();
  if (all.has_clock.load(std::memory_order_acquire)) {
    std::shared_ptr<const clock_function> clock;
    {
      const std::lock_guard lock{all.mutex};
      clock = all.clock;
    }
    if (clock != nullptr) {
      return (*clock)();
    }
  }
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

void use_clock(std::function<std::uint64_t()> nanoseconds) {
  entry_state& all = the_entry();
  const std::lock_guard lock{all.mutex};
  all.has_clock = nanoseconds != nullptr;
  all.clock = std::make_shared<const clock_function>(std::move(nanoseconds));
}

void misuse(std::string what) {
  const std::lock_guard lock{the_entry().mutex};
  if (the_entry().misuses.size() < most_logged) {
    the_entry().misuses.push_back(std::move(what));
  }
}

cupti::result arrive(const char* function, std::initializer_list<std::uint64_t> arguments, needs what) {
  entry_state& all = the_entry();
  run_hook(all, function);
  if (all.has_faults.load(std::memory_order_acquire)) {
    if (const cupti::result code = faulty(all, function, arguments); code != cupti::result::success) {
      return code;
    }
  }
  return what == needs::driver && !settings().driver ? cupti::result::unknown : cupti::result::success;
}

void leave(const char* function, std::initializer_list<std::uint64_t> arguments, cupti::result result,
           logging how) {
  entry_state& all = the_entry();
  const std::lock_guard lock{all.mutex};
  const auto found = all.counts.find(std::string_view{function});
  ++(found != all.counts.end() ? found->second : all.counts[function]);
  if (how == logging::full && all.log.size() < most_logged) {
    all.log.push_back({function, arguments, result});
  }
}

void fail(const fault& f) {
  const std::lock_guard lock{the_entry().mutex};
  the_entry().faults.push_back(f);
  the_entry().has_faults = true;
}

void clear_faults() {
  const std::lock_guard lock{the_entry().mutex};
  the_entry().faults.clear();
  the_entry().has_faults = false;
}

void on_entry(std::function<void(std::string_view function)> hook) {
  entry_state& all = the_entry();
  const std::lock_guard lock{all.mutex};
  all.has_hook = hook != nullptr;
  all.hook = hook != nullptr ? std::make_shared<const entry_hook>(std::move(hook)) : nullptr;
}

void traffic_inside_every_function() {
  on_entry([](std::string_view) { std::thread{[] { launch(stream{}, "foreign"); }}.join(); });
}

std::vector<call_entry> calls() {
  const std::lock_guard lock{the_entry().mutex};
  return the_entry().log;
}

std::size_t call_count(std::string_view function) {
  const std::lock_guard lock{the_entry().mutex};
  const auto found = the_entry().counts.find(function);
  return found != the_entry().counts.end() ? found->second : 0;
}

std::vector<std::string> misuses() {
  const std::lock_guard lock{the_entry().mutex};
  return the_entry().misuses;
}

}  // namespace standin

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_nvml/control.hpp"

#include "nvml/abi.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

namespace standin_nvml {

namespace {

constexpr int uninitialised = 1;
constexpr int invalid_argument = 2;
constexpr int not_found = 6;

struct entry {
  gpu shows;
  std::size_t rounds = 0;
};

struct state {
  std::mutex mutex;
  std::condition_variable read;
  std::map<std::string, std::unique_ptr<entry>> gpus;  // their addresses are handles
  std::map<std::string, int, std::less<>> faults;
  int initialised = 0;
  std::size_t calls = 0;
};

state& all() {
  static auto* const leaked = new state;
  return *leaked;
}

/// What every function begins with: 0, or what it returns.
int enter(state& s, std::string_view function) {
  ++s.calls;
  const auto fault = s.faults.find(function);
  if (fault != s.faults.end() && fault->second != 0) {
    return fault->second;
  }
  return s.initialised > 0 ? 0 : uninitialised;
}

template <class Value, class Get>
int read(std::string_view function, void* device, Value* to, const Get& get) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (const int result = enter(s, function); result != 0) {
    return result;
  }
  const auto found =
      std::find_if(s.gpus.begin(), s.gpus.end(), [&](const auto& g) { return g.second.get() == device; });
  if (found == s.gpus.end()) {
    return invalid_argument;
  }
  *to = get(*found->second);
  return 0;
}

}  // namespace

void reset() {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  s.gpus.clear();
  s.faults.clear();
  s.initialised = 0;
  s.calls = 0;
}

void set(const std::string& pci_bus_id, const gpu& shows) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  auto& found = s.gpus[pci_bus_id];
  if (found == nullptr) {
    found = std::make_unique<entry>();
  }
  found->shows = shows;
}

void fail(const std::string& function, int code) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  s.faults[function] = code;
}

std::size_t rounds(const std::string& pci_bus_id) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  return s.gpus.at(pci_bus_id)->rounds;
}

void wait_for_rounds(const std::string& pci_bus_id, std::size_t more) {
  state& s = all();
  std::unique_lock lock{s.mutex};
  const entry& e = *s.gpus.at(pci_bus_id);
  s.read.wait(lock, [&, until = e.rounds + more + 1] { return e.rounds >= until; });  // one may be under way
}

int initialised() {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  return s.initialised;
}

std::size_t calls() {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  return s.calls;
}

}  // namespace standin_nvml

using namespace standin_nvml;

// NOLINTBEGIN(readability-identifier-naming): NVML's names
extern "C" {

STANDIN_EXPORT int nvmlInit_v2() {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  ++s.initialised;
  const int result = enter(s, "nvmlInit");
  s.initialised -= result != 0 ? 1 : 0;
  return result;
}

STANDIN_EXPORT int nvmlShutdown() {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  const int result = enter(s, "nvmlShutdown");
  s.initialised -= result == 0 ? 1 : 0;
  return result;
}

STANDIN_EXPORT const char* nvmlErrorString(int result) {
  return result == varve::nvml::result::gpu_is_lost ? "GPU is lost" : "simulated error";
}

STANDIN_EXPORT int nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  std::strncpy(version, "13.580.65", length);
  return 0;
}

STANDIN_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* pci_bus_id, void** device) {
  state& s = all();
  const std::lock_guard lock{s.mutex};
  if (const int result = enter(s, "nvmlDeviceGetHandleByPciBusId"); result != 0) {
    return result;
  }
  const auto found = s.gpus.find(pci_bus_id);
  if (found == s.gpus.end()) {
    return not_found;
  }
  *device = found->second.get();
  return 0;
}

STANDIN_EXPORT int nvmlDeviceGetClockInfo(void* device, int which, unsigned* megahertz) {
  return read("nvmlDeviceGetClockInfo", device, megahertz, [&](const entry& e) {
    return which == varve::nvml::clock_memory ? e.shows.memory_clock : e.shows.sm_clock;
  });
}

STANDIN_EXPORT int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  return read("nvmlDeviceGetCurrentClocksEventReasons", device, reasons,
              [](const entry& e) { return e.shows.limits; });
}

STANDIN_EXPORT int nvmlDeviceGetTemperature(void* device, int /*sensor*/, unsigned* celsius) {
  return read("nvmlDeviceGetTemperature", device, celsius,
              [](const entry& e) { return e.shows.temperature; });
}

STANDIN_EXPORT int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  return read("nvmlDeviceGetPowerUsage", device, milliwatts, [](const entry& e) { return e.shows.power; });
}

/// Comes last in a round.
STANDIN_EXPORT int nvmlDeviceGetMemoryInfo(void* device, varve::nvml::memory* to) {
  const int result = read("nvmlDeviceGetMemoryInfo", device, to, [](entry& e) {
    ++e.rounds;
    return varve::nvml::memory{80'000'000, 80'000'000 - e.shows.memory_used, e.shows.memory_used};
  });
  all().read.notify_all();
  return result;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

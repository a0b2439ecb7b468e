// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "driver/driver.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <string_view>

namespace varve::cuda {

namespace {

// CUdevice_attribute, of cuda.h.
constexpr int clock_rate = 13;  // kHz, as the memory's
constexpr int multiprocessor_count = 16;
constexpr int memory_clock_rate = 36;
constexpr int memory_bus_width = 37;
constexpr int l2_cache_size = 38;
constexpr int capability_major = 75;
constexpr int capability_minor = 76;

const stream legacy_stream = reinterpret_cast<stream>(std::uintptr_t{1});

template <class Function>
void find(void* library, const char* name, Function& to) noexcept {
  to = reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

// No lock: a forked child would find it taken by a thread that it does not have.
const driver* find_driver(bool load) noexcept {
  static std::atomic<const driver*> found{nullptr};
  if (const driver* const known = found.load(std::memory_order_acquire)) {
    return known;
  }
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | (load ? 0 : RTLD_NOLOAD));
  if (library == nullptr) {
    return nullptr;
  }
  auto made = std::unique_ptr<driver>{new (std::nothrow) driver{}};
  if (made == nullptr) {
    return nullptr;
  }
  driver& d = *made;
  find(library, "cuDeviceGetCount", d.device_get_count);
  find(library, "cuDeviceGet", d.device_get);
  find(library, "cuDeviceGetName", d.device_get_name);
  find(library, "cuDeviceGetAttribute", d.device_get_attribute);
  find(library, "cuDeviceTotalMem_v2", d.device_total_memory);
  find(library, "cuDeviceGetPCIBusId", d.device_get_pci_bus_id);
  find(library, "cuCtxPushCurrent_v2", d.context_push);
  find(library, "cuCtxPopCurrent_v2", d.context_pop);
  find(library, "cuCtxSynchronize", d.context_synchronize);
  find(library, "cuCtxGetCurrent", d.context_get_current);
  find(library, "cuCtxGetDevice", d.context_get_device);
  find(library, "cuStreamCreate", d.stream_create);
  find(library, "cuStreamDestroy_v2", d.stream_destroy);
  find(library, "cuStreamGetCtx", d.stream_get_context);
  find(library, "cuStreamIsCapturing", d.stream_is_capturing);
  find(library, "cuThreadExchangeStreamCaptureMode", d.exchange_capture_mode);
  find(library, "cuEventCreate", d.event_create);
  find(library, "cuEventDestroy_v2", d.event_destroy);
  find(library, "cuEventRecord", d.event_record);
  find(library, "cuEventQuery", d.event_query);
  find(library, "cuEventElapsedTime", d.event_elapsed);
  const driver* other = nullptr;
  if (found.compare_exchange_strong(other, made.get(), std::memory_order_acq_rel)) {
    return made.release();  // as long as the process
  }
  return other;
}

bool is_initialised(const driver& d) noexcept {
  int count = 0;
  return d.device_get_count != nullptr && d.device_get_count(&count) != not_initialised;
}

bool has_devices_open() noexcept {
  // Of unified memory, which tools that only watch devices do not open; and what Tegra and WSL have instead.
  static constexpr std::string_view files[] = {"nvidia-uvm", "nvmap", "dxg"};
  DIR* const all = ::opendir("/proc/self/fd");
  if (all == nullptr) {
    return true;
  }
  bool found = false;
  while (const dirent* const one = found ? nullptr : ::readdir(all)) {
    char target[256];
    const ssize_t size = ::readlinkat(::dirfd(all), one->d_name, target, sizeof target);
    const std::string_view path{target, size > 0 ? static_cast<std::size_t>(size) : 0};
    const std::string_view name = path.substr(path.rfind('/') + 1);
    found = std::find(std::begin(files), std::end(files), name) != std::end(files);
  }
  ::closedir(all);
  return found;
}

std::vector<device_info> devices(const driver& d) {
  std::vector<device_info> out;
  int count = 0;
  if (d.device_get_count == nullptr || d.device_get == nullptr || d.device_get_count(&count) != success) {
    return out;
  }
  const auto attribute = [&](int device, int which) {
    int value = 0;
    return d.device_get_attribute != nullptr && d.device_get_attribute(&value, which, device) == success
               ? value
               : 0;
  };
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int device = 0;
    if (d.device_get(&device, ordinal) != success) {
      continue;
    }
    device_info info;
    info.id = static_cast<std::uint32_t>(ordinal);
    char name[256] = {};
    if (d.device_get_name != nullptr && d.device_get_name(name, sizeof name - 1, device) == success) {
      info.name = name;
    }
    info.multiprocessors = attribute(device, multiprocessor_count);
    info.compute_capability = attribute(device, capability_major) * 10 + attribute(device, capability_minor);
    constexpr std::int64_t kilo = 1000;
    info.clock = kilo * attribute(device, clock_rate);
    info.memory_clock = kilo * attribute(device, memory_clock_rate);
    info.memory_bus = attribute(device, memory_bus_width);
    info.l2_bytes = attribute(device, l2_cache_size);
    std::size_t bytes = 0;
    if (d.device_total_memory != nullptr && d.device_total_memory(&bytes, device) == success) {
      info.memory_bytes = static_cast<std::int64_t>(bytes);
    }
    out.push_back(std::move(info));
  }
  return out;
}

int synchronize(const driver& d, context c) noexcept {
  if (d.context_push == nullptr || d.context_pop == nullptr || d.context_synchronize == nullptr) {
    return not_found;
  }
  const outside_captures guard{d};
  const in_context current{d, c};
  if (current.result() != success) {
    return current.result();
  }
  int status = not_capturing;
  const int asked =
      d.stream_is_capturing != nullptr ? d.stream_is_capturing(legacy_stream, &status) : success;
  return is_of_capture(asked) ? asked : d.context_synchronize();
}

}  // namespace varve::cuda

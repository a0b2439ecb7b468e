// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The gauges of the GPUs that the process uses, by NVML. Which those are the CUDA driver tells, by their
// place on the PCI bus: ordinals differ where CUDA_VISIBLE_DEVICES chooses.
#include "driver/driver.hpp"
#include "nvml/library.hpp"
#include "record/device_gauges.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <mutex>
#include <new>

namespace varve {
namespace nvml {

namespace {

/// Of the process that has asked the library anything: its locks and handles are no forked child's.
std::atomic<pid_t> used_by{0};

struct limit_bit {
  unsigned long long theirs;
  clock_limit ours;
};
constexpr limit_bit limit_bits[] = {{clocks_event::idle, clock_limit::idle},
                                    {clocks_event::application_clocks, clock_limit::application_clocks},
                                    {clocks_event::power_cap, clock_limit::power_cap},
                                    {clocks_event::hardware_slowdown, clock_limit::hardware_slowdown},
                                    {clocks_event::sync_boost, clock_limit::sync_boost},
                                    {clocks_event::thermal, clock_limit::thermal},
                                    {clocks_event::hardware_thermal, clock_limit::hardware_thermal},
                                    {clocks_event::power_brake, clock_limit::power_brake},
                                    {clocks_event::display, clock_limit::display}};
static_assert(std::size(limit_bits) == clock_limits);

std::int64_t limits_of(unsigned long long reasons) noexcept {
  std::int64_t out = 0;
  for (const limit_bit& bit : limit_bits) {
    out |= (reasons & bit.theirs) != 0 ? std::int64_t{1} << static_cast<unsigned>(bit.ours) : 0;
  }
  return out;
}

class gauges final : public record::device_gauges {
 public:
  explicit gauges(library found) : library_{std::move(found)}, error_{library_.error} {
    if (const pid_t user = used_by; error_.empty() && user != 0 && user != ::getpid()) {
      error_ =
          "no clocks, temperature and power of GPUs: this process was forked from one that read them; start "
          "the program anew (exec) to read them here";
    }
  }
  gauges(const gauges&) = delete;
  gauges& operator=(const gauges&) = delete;
  ~gauges() override {
    if (state_ == state::reading && library_.call.shutdown != nullptr && used_by == ::getpid()) {
      library_.call.shutdown();
    }
  }

  [[nodiscard]] bool available() const noexcept override {
    const std::lock_guard lock{mutex_};
    return error_.empty();
  }

  void read(std::vector<gauge_sample>& to) noexcept override {
    try {
      if (state_ == state::waiting) {
        begin();
      }
      for (gpu& g : gpus_) {
        read(g, to);
      }
    } catch (const std::bad_alloc&) {
      const std::lock_guard lock{mutex_};
      ++failures_;
    }
  }

  [[nodiscard]] collector_status status() const override {
    const std::lock_guard lock{mutex_};
    collector_status out;
    out.name = "nvml";
    out.version = version_;
    out.state = error_.empty() ? collector_state::running : collector_state::unavailable;
    out.detail = !error_.empty() ? error_
                 : count_ == 0   ? std::string{"waits for the process to use CUDA"}
                                 : "clocks, what limits them, temperature, power and memory of " +
                                     std::to_string(count_) + (count_ == 1 ? " GPU" : " GPUs");
    return out;
  }

  [[nodiscard]] std::vector<loss> losses() const override {
    std::vector<loss> out;
    const std::lock_guard lock{mutex_};
    if (failures_ != 0) {
      out.push_back({"readings that NVML failed to give" + (failure_.empty() ? "" : ", at last: " + failure_),
                     "nvml", failures_});
    }
    if (unmatched_ != 0) {
      out.push_back({"GPUs of the process that NVML does not know by their PCI bus id", "nvml", unmatched_});
    }
    return out;
  }

 private:
  enum class state : std::uint8_t { waiting, reading, failed };

  struct gpu {
    nvml::device handle = nullptr;
    std::uint32_t ordinal = 0;
    std::array<bool, gauge_kinds> unsupported{};
  };

  /// Once CUDA is in use; asked for each time until then.
  void begin() {
    const cuda::driver* const driver = cuda::has_devices_open() ? cuda::find_driver(false) : nullptr;
    if (driver == nullptr || !cuda::is_initialised(*driver)) {
      return;
    }
    used_by = ::getpid();
    if (const int result = library_.call.init(); result != result::success) {
      fail("NVML could not be initialised: " + text_of(result));
      return;
    }
    state_ = state::reading;
    char version[80] = {};
    if (library_.call.system_get_version != nullptr) {
      library_.call.system_get_version(version, sizeof version - 1);
    }
    match(*driver);
    const std::lock_guard lock{mutex_};
    version_ = version;
    count_ = gpus_.size();
    if (gpus_.empty()) {
      error_ = "no clocks, temperature and power of GPUs: NVML knows none of those that the process uses";
    }
  }

  void match(const cuda::driver& driver) {
    int count = 0;
    if (driver.device_get_pci_bus_id == nullptr || driver.device_get == nullptr ||
        driver.device_get_count(&count) != cuda::success) {
      return;
    }
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      int device = 0;
      char id[32] = {};
      gpu found;
      found.ordinal = static_cast<std::uint32_t>(ordinal);
      if (driver.device_get(&device, ordinal) == cuda::success &&
          driver.device_get_pci_bus_id(id, sizeof id - 1, device) == cuda::success &&
          library_.call.device_get_handle(id, &found.handle) == result::success) {
        gpus_.push_back(found);
      } else {
        const std::lock_guard lock{mutex_};
        ++unmatched_;
      }
    }
  }

  void read(gpu& g, std::vector<gauge_sample>& to) {
    const auto add = [&](gauge_kind what, int result, std::int64_t value) {
      if (result == result::success) {
        to.push_back({0, value, g.ordinal, what});
      } else if (result == result::not_supported) {
        g.unsupported[static_cast<std::size_t>(what)] = true;
      } else {
        const std::lock_guard lock{mutex_};
        ++failures_;
        failure_ = text_of(result);
      }
    };
    const auto wanted = [&](gauge_kind what, bool there) {
      return there && !g.unsupported[static_cast<std::size_t>(what)];
    };
    const functions& call = library_.call;
    unsigned value = 0;
    constexpr std::int64_t mega = 1'000'000;
    for (const auto& [what, clock] :
         {std::pair{gauge_kind::sm_clock, clock_sm}, std::pair{gauge_kind::memory_clock, clock_memory}}) {
      if (wanted(what, call.device_get_clock != nullptr)) {
        const int result = call.device_get_clock(g.handle, clock, &value);
        add(what, result, mega * value);
      }
    }
    if (wanted(gauge_kind::clock_limits, call.device_get_clocks_event_reasons != nullptr)) {
      unsigned long long reasons = 0;
      const int result = call.device_get_clocks_event_reasons(g.handle, &reasons);
      add(gauge_kind::clock_limits, result, limits_of(reasons));
    }
    if (wanted(gauge_kind::temperature, call.device_get_temperature != nullptr)) {
      const int result = call.device_get_temperature(g.handle, temperature_gpu, &value);
      add(gauge_kind::temperature, result, value);
    }
    if (wanted(gauge_kind::power, call.device_get_power != nullptr)) {
      const int result = call.device_get_power(g.handle, &value);
      add(gauge_kind::power, result, value);
    }
    if (wanted(gauge_kind::memory_used, call.device_get_memory != nullptr)) {
      memory m{};
      const int result = call.device_get_memory(g.handle, &m);
      add(gauge_kind::memory_used, result, static_cast<std::int64_t>(m.used));
    }
  }

  void fail(std::string why) {
    state_ = state::failed;
    const std::lock_guard lock{mutex_};
    error_ = "no clocks, temperature and power of GPUs: " + std::move(why);
  }

  [[nodiscard]] std::string text_of(int result) const {
    const char* const text =
        library_.call.error_string != nullptr ? library_.call.error_string(result) : nullptr;
    std::string out = text != nullptr ? text : "error";
    out += " (" + std::to_string(result) + ')';
    switch (result) {
      case result::no_permission:
        return out + "; let the process read /dev/nvidiactl and the GPUs' device files";
      case result::driver_not_loaded:
        return out + "; load the kernel module nvidia";
      case result::version_mismatch:
        return out + "; the kernel module is of another driver than libnvidia-ml: reload it, or restart";
      case result::gpu_is_lost:
        return out + "; dmesg tells why, as Xid";
      default:
        return out;
    }
  }

  library library_;
  state state_ = state::waiting;
  std::vector<gpu> gpus_;

  mutable std::mutex mutex_;  // guards what follows
  std::string error_;
  std::string version_;
  std::size_t count_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t unmatched_ = 0;
  std::string failure_;
};

}  // namespace

}  // namespace nvml

namespace record {

std::unique_ptr<device_gauges> open_device_gauges(const std::string& library) {
  return std::make_unique<nvml::gauges>(nvml::load(library));
}

}  // namespace record
}  // namespace varve

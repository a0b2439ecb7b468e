// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/gauges.hpp"

#include "record/device_gauges.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace varve::record {

namespace {

using steady = std::chrono::steady_clock;

/// "10 ms", "2.5 s".
std::string period_text(time_ns period) {
  const bool seconds = period >= 1'000'000'000;
  const double value = static_cast<double>(period) / (seconds ? 1e9 : 1e6);
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return text + (seconds ? " s" : " ms");
}

/// After so many times that readings were thinned out.
time_ns stretched(time_ns period, unsigned doublings) noexcept {
  constexpr time_ns longest = 3'600'000'000'000;
  return std::min(std::min(period, longest) << doublings, longest);
}

/// When what is due every `period` is due next.
class schedule {
 public:
  explicit schedule(time_ns period) noexcept : period_{period} {}

  [[nodiscard]] bool is_due(steady::time_point now) const noexcept { return period_ > 0 && now >= next_; }
  [[nodiscard]] steady::time_point next() const noexcept {
    return period_ > 0 ? next_ : steady::time_point::max();
  }
  void advance(steady::time_point now, unsigned doublings) noexcept {
    next_ = now + std::chrono::nanoseconds{stretched(period_, doublings)};
  }

 private:
  time_ns period_;
  steady::time_point next_;
};

}  // namespace

device_gauges::~device_gauges() = default;

struct gauge_sampler::state {
  gauge_options options;
  pid_t owner = ::getpid();
  std::unique_ptr<device_gauges> devices;  // null: not wanted
  std::unique_ptr<std::thread> thread;

  mutable std::mutex mutex;  // guards what follows
  std::condition_variable wake;
  bool stopping = false;
  bool running = true;
  std::vector<gauge_sample> samples;  // times are ticks
  unsigned doublings = 0;
  std::uint64_t thinned = 0;
  std::uint64_t no_memory = 0;
  std::string error;

  void keep(const gauge_sample* first, std::size_t count);
  void thin();
  void read_process();
  void read_devices(std::vector<gauge_sample>& found);
  void run() noexcept;
};

// Under the lock. Every other round of the process, and of the devices; the first ones stay.
void gauge_sampler::state::thin() {
  struct rounds {
    time_ns at = std::numeric_limits<time_ns>::min();
    bool kept = false;
  };
  std::array<rounds, 2> of;
  std::size_t kept = 0;
  for (const gauge_sample& s : samples) {
    rounds& r = of[s.device == none ? 0 : 1];
    if (s.at != r.at) {
      r = {s.at, !r.kept};
    }
    if (r.kept) {
      samples[kept++] = s;
    }
  }
  thinned += samples.size() - kept;
  samples.resize(kept);
  doublings = std::min(doublings + 1, 20U);
}

void gauge_sampler::state::keep(const gauge_sample* first, std::size_t count) {
  const std::lock_guard lock{mutex};
  const std::size_t most = options.memory / sizeof(gauge_sample);
  if (samples.size() + count > most) {
    thin();
  }
  if (samples.size() + count > most) {
    no_memory += count;
    return;
  }
  try {
    samples.insert(samples.end(), first, first + count);
  } catch (const std::bad_alloc&) {
    no_memory += count;
  }
}

void gauge_sampler::state::read_process() {
  rusage used{};
  if (options.host_period <= 0 || ::getrusage(RUSAGE_SELF, &used) != 0) {
    return;
  }
  const auto at = static_cast<time_ns>(now());
  const std::array<gauge_sample, 4> found{{{at, used.ru_minflt, none, gauge_kind::minor_faults},
                                           {at, used.ru_majflt, none, gauge_kind::major_faults},
                                           {at, used.ru_nvcsw, none, gauge_kind::voluntary_switches},
                                           {at, used.ru_nivcsw, none, gauge_kind::involuntary_switches}}};
  keep(found.data(), found.size());
}

void gauge_sampler::state::read_devices(std::vector<gauge_sample>& found) {
  found.clear();
  devices->read(found);
  const auto at = static_cast<time_ns>(now());
  for (gauge_sample& s : found) {
    s.at = at;
  }
  if (!found.empty()) {
    keep(found.data(), found.size());
  }
}

void gauge_sampler::state::run() noexcept {
  std::vector<gauge_sample> found;
  bool reads_devices = devices != nullptr && devices->available();
  schedule process{options.host_period};
  schedule gpu{reads_devices ? options.gpu_period : 0};
  process.advance(steady::now(), 0);
  std::unique_lock lock{mutex};
  bool first = true;
  for (;;) {
    const bool last = stopping;
    const unsigned times = doublings;
    lock.unlock();
    const auto at = steady::now();
    if (process.is_due(at) && !last) {
      read_process();
      process.advance(at, times);
    }
    if (gpu.is_due(at) || (reads_devices && (first || last))) {
      read_devices(found);
      gpu.advance(at, times);
      if (!devices->available()) {
        reads_devices = false;
        gpu = schedule{0};
      }
    }
    lock.lock();
    if (last) {
      return;
    }
    first = false;
    const auto next = std::min(process.next(), gpu.next());
    const auto told = [this] { return stopping; };
    if (next == steady::time_point::max()) {
      wake.wait(lock, told);
    } else {
      wake.wait_until(lock, next, told);
    }
  }
}

gauge_sampler::gauge_sampler() noexcept = default;

gauge_sampler::~gauge_sampler() {
  if (state_ != nullptr && state_->owner != ::getpid()) {
    static_cast<void>(state_.release());  // its thread is the parent's
    return;
  }
  stop();
}

void gauge_sampler::start(const gauge_options& options, bool devices) noexcept {
  const bool reads_devices = devices && options.gpu_period > 0;
  if (options.host_period <= 0 && !reads_devices) {
    return;
  }
  try {
    state_ = std::make_unique<state>();
    state_->options = options;
    if (reads_devices) {
      state_->devices = open_device_gauges(options.nvml_library);
    }
    state_->read_process();
    if (options.host_period > 0 || state_->devices->available()) {
      state_->thread = std::make_unique<std::thread>(&state::run, state_.get());
    }
  } catch (const std::exception& e) {
    if (state_ != nullptr) {
      state_->running = false;
      state_->error = std::string{"no thread or memory to read them: "} + e.what();
    }
  }
}

void gauge_sampler::stop() noexcept {
  if (state_ == nullptr || state_->thread == nullptr) {
    return;
  }
  state_->read_process();
  {
    const std::lock_guard lock{state_->mutex};
    state_->stopping = true;
    state_->running = false;
  }
  state_->wake.notify_all();
  state_->thread->join();
  state_->thread.reset();
}

void gauge_sampler::add_to(trace& t, const clock_mapping& clock) const {
  if (state_ == nullptr) {
    return;
  }
  const std::lock_guard lock{state_->mutex};
  t.gauges = state_->samples;
  std::stable_sort(t.gauges.begin(), t.gauges.end(),
                   [](const gauge_sample& a, const gauge_sample& b) { return a.at < b.at; });
  for (gauge_sample& s : t.gauges) {
    s.at = clock(static_cast<std::uint64_t>(s.at));
  }
}

void gauge_sampler::forget_until(time_ns end, const clock_mapping& clock) noexcept {
  if (state_ == nullptr) {
    return;
  }
  const std::lock_guard lock{state_->mutex};
  std::vector<gauge_sample>& all = state_->samples;
  try {
    std::vector<gauge_sample> kept;
    std::vector<std::pair<gauge_kind, std::uint32_t>> held;  // of before the end
    for (auto s = all.rbegin(); s != all.rend(); ++s) {
      if (clock(static_cast<std::uint64_t>(s->at)) <= end) {
        const std::pair gauge{s->what, s->device};
        if (std::find(held.begin(), held.end(), gauge) != held.end()) {
          continue;
        }
        held.push_back(gauge);
      }
      kept.push_back(*s);
    }
    std::reverse(kept.begin(), kept.end());
    all = std::move(kept);
    state_->doublings = 0;
  } catch (const std::bad_alloc&) {
    // they stay, and are thinned out when there are too many
  }
}

std::vector<collector_status> gauge_sampler::status() const {
  std::vector<collector_status> out;
  if (state_ == nullptr) {
    return out;
  }
  const std::lock_guard lock{state_->mutex};
  const auto current = state_->running ? collector_state::running : collector_state::stopped;
  if (!state_->error.empty()) {
    out.push_back({"gauges", "", collector_state::unavailable, state_->error});
    return out;
  }
  if (state_->options.host_period > 0) {
    out.push_back({"gauges", "", current,
                   "page faults and context switches, every " +
                       period_text(stretched(state_->options.host_period, state_->doublings))});
  }
  if (state_->devices != nullptr) {
    out.push_back(state_->devices->status());
    if (out.back().state == collector_state::running) {
      out.back().state = current;
      out.back().detail += ", every " + period_text(stretched(state_->options.gpu_period, state_->doublings));
    }
  }
  return out;
}

std::vector<loss> gauge_sampler::losses() const {
  if (state_ == nullptr) {
    return {};
  }
  std::vector<loss> out = state_->devices != nullptr ? state_->devices->losses() : std::vector<loss>{};
  const std::lock_guard lock{state_->mutex};
  if (state_->thinned != 0) {
    out.push_back(
        {"readings thinned out, every other one: their memory was full (raise gauge_options::memory)",
         "gauges", state_->thinned});
  }
  if (state_->no_memory != 0) {
    out.push_back(
        {"readings not kept: no memory (raise gauge_options::memory)", "gauges", state_->no_memory});
  }
  return out;
}

}  // namespace varve::record

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/session.hpp>

#include <varve/collector.hpp>

#include "record/copies.hpp"
#include "record/device_source.hpp"
#include "record/gauges.hpp"
#include "record/host.hpp"
#include "record/range_counter.hpp"
#include "record/recording.hpp"
#include "record/span_source.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace varve {
inline namespace v0 {

namespace {
constexpr const char* null_collector =
    "no collector: a null pointer in session_options::collectors was skipped";
}

struct session::impl {
  session_options options;
  std::size_t null_collectors = 0;  // taken out of the options
  std::string error;
  double marker_ns = 0;
  std::vector<std::string> copies;
  mutable std::mutex life;  // stop, snapshot and status of several threads, one after another
  std::atomic<bool> running{false};
  bool spans = false;                  // of passes are measured where there are no records of GPUs
  pid_t owner = 0;                     // the process that started it
  std::vector<collector_status> last;  // as they were at the stop
  record::gauge_sampler gauges;
  std::vector<loss> told;  // with what was taken, in all
  time_ns overhead_told = 0;
  std::uint64_t lost_records = 0;  // that were taken
  /// Nothing of it is the child's to wait for or to end.
  [[nodiscard]] bool is_a_parents() const noexcept { return owner != 0 && owner != ::getpid(); }

  void start(int headers) noexcept;
  void begin_recording(int headers);
  trace stop(bool keep);
  void say(log_level level, std::string_view text) const noexcept;
  [[nodiscard]] bool records_gpus() const noexcept {
    return options.gpu.enabled && !options.counters.enabled;
  }
  [[nodiscard]] bool tells_of_spans() const;
  [[nodiscard]] std::vector<collector_status> collectors() const;
  time_ns describe(trace& t, std::size_t records) const;
  void leave_out_told(trace& t) const;
  trace take();
};

void session::impl::say(log_level level, std::string_view text) const noexcept {
  if (options.log) {
    try {
      options.log(level, text);
    } catch (...) {
      // an engine's log must not stop a session; there is nobody else to tell
    }
  }
}

void session::impl::start(int headers) noexcept {
  try {
    begin_recording(headers);
  } catch (const std::exception& e) {
    error = std::string{"the session could not start: "} + e.what();
  }
  if (!error.empty()) {
    say(log_level::error, error);
  }
}

void session::impl::begin_recording(int headers) {
  if (headers / 100 != VARVE_VERSION / 100) {
    error = "this program was compiled against varve " + record::version_text(headers) +
            " and loaded varve " + record::version_text(VARVE_VERSION) +
            ": build and run it with the same version";
    return;
  }
  record::activate();
  copies = record::other_copies();
  for (const std::string& copy : copies) {
    say(log_level::warning, "another copy of varve is loaded, its markers are not recorded: " + copy);
  }
  try {
    marker_ns = record::start_recording(options.marker_memory, options.trace_memory);
  } catch (const record::busy&) {
    error = "another session is running in this process: stop it before starting this one";
    return;
  }
  owner = ::getpid();
  running = true;
  auto& given = options.collectors;
  const auto null = std::remove(given.begin(), given.end(), nullptr);
  null_collectors = static_cast<std::size_t>(given.end() - null);
  given.erase(null, given.end());
  if (options.counters.enabled) {
    record::built_in_counter().start(options.counters, options.gpu);
    record::record_counts();
  } else if (options.gpu.enabled) {
    record::device_source& devices = record::built_in_source();
    devices.start(options.gpu);
    if (devices.waiting() || devices.running()) {
      record::record_devices();
    } else {
      say(log_level::info, "no records of GPUs: " + devices.status().detail);
    }
    if (!devices.running()) {
      record::built_in_spans().start();
      spans = true;
      record::record_spans();
    }
  }
  for (const auto& c : options.collectors) {
    c->start();
  }
  gauges.start(options.gauges, options.gpu.enabled);
  record::open_window();
  say(log_level::info, "session started");
}

/// A source of records that waited for CUDA may have begun since: then it alone tells of itself. What was
/// lost before is told all the same.
bool session::impl::tells_of_spans() const {
  return spans && record::built_in_source().status().state == collector_state::unavailable;
}

std::vector<collector_status> session::impl::collectors() const {
  const auto state = running ? collector_state::running : collector_state::stopped;
  std::vector<collector_status> out;
  out.push_back({"markers", record::version_text(VARVE_VERSION), state, record::clock_name()});
  if (const auto devices = record::host_devices(); !devices.empty()) {
    out.push_back({"host", record::version_text(VARVE_VERSION), state,
                   std::to_string(devices.size()) + (devices.size() == 1 ? " device" : " devices") +
                       " reported by the program"});
  }
  if (options.counters.enabled) {
    out.push_back(record::built_in_counter().status());
  }
  if (records_gpus()) {
    out.push_back(record::built_in_source().status());
    if (tells_of_spans() && record::built_in_spans().concerned()) {
      out.push_back(record::built_in_spans().status());
    }
  }
  if (!is_a_parents()) {
    for (collector_status& one : gauges.status()) {
      out.push_back(std::move(one));
    }
  }
  if ((varve_load_state_() & VARVE_STATE_NVTX) != 0) {
    out.push_back({"nvtx", "", collector_state::running, "a tool is attached: markers go to it too"});
  }
  std::vector<std::string> seen = copies;  // at the start; plugins may have come since
  for (std::string& copy : record::other_copies()) {
    if (std::find(seen.begin(), seen.end(), copy) == seen.end()) {
      seen.push_back(std::move(copy));
    }
  }
  for (const std::string& copy : seen) {
    out.push_back({"second copy of varve", "", collector_state::unavailable,
                   copy + ": its markers are not recorded; link it against the shared library"});
  }
  if (null_collectors != 0) {
    out.push_back({"collector", "", collector_state::unavailable, null_collector});
  }
  for (const auto& c : options.collectors) {
    try {
      out.push_back(c->status());
    } catch (...) {
      out.push_back({"collector", "", collector_state::unavailable, "its status() threw an exception"});
    }
  }
  return out;
}

/// Returns what sources have cost so far.
time_ns session::impl::describe(trace& t, std::size_t records) const {
  time_ns overhead = 0;
  t.source = "session";
  t.clock = record::clock_name();
  t.collectors = collectors();
  t.lose(null_collector, "session", null_collectors);
  t.own_overhead = static_cast<time_ns>(marker_ns * static_cast<double>(records));
  if (options.counters.enabled) {
    t.devices = record::built_in_counter().devices();
    for (const loss& l : record::built_in_counter().losses()) {
      t.lose(l.what, l.where, l.count);
    }
  }
  if (records_gpus()) {
    const record::device_source& devices = record::built_in_source();
    overhead += devices.own_overhead();
    for (const loss& l : devices.losses()) {
      t.lose(l.what, l.where, l.count);
    }
    std::vector<device_info> found = devices.devices();
    if (spans) {
      const record::span_source& source = record::built_in_spans();
      overhead += source.own_overhead();
      for (const loss& l : source.losses()) {
        t.lose(l.what, l.where, l.count);
      }
      if (found.empty() && !t.event_spans.empty()) {
        found = source.devices();
      }
    }
    for (device_info& device : found) {
      t.devices.push_back(std::move(device));
    }
  }
  gauges.add_to(t, record::session_clock());
  for (const loss& l : gauges.losses()) {
    t.lose(l.what, l.where, l.count);
  }
  t.lose("records lost: no memory to hand over what was taken (std::bad_alloc)", "session", lost_records);
  t.own_overhead += overhead - overhead_told;
  return overhead;
}

void session::impl::leave_out_told(trace& t) const {
  for (const loss& l : told) {
    for (loss& now : t.losses) {
      now.count -= now.what == l.what && now.where == l.where ? std::min(now.count, l.count) : 0;
    }
  }
  t.losses.erase(std::remove_if(t.losses.begin(), t.losses.end(), [](const loss& l) { return l.count == 0; }),
                 t.losses.end());
}

trace session::impl::take() {
  std::size_t at_stake = 0;
  try {
    record::recorded finished = record::take_recording(at_stake);
    trace& t = finished.records;
    const time_ns overhead = describe(t, finished.count);
    std::vector<loss> all = t.losses;
    leave_out_told(t);
    t.gauges.erase(
        std::find_if(t.gauges.begin(), t.gauges.end(), [&](const gauge_sample& s) { return s.at > t.end; }),
        t.gauges.end());
    gauges.forget_until(t.end, record::session_clock());
    told = std::move(all);
    overhead_told = overhead;
    return std::move(t);
  } catch (const std::bad_alloc&) {
    lost_records += at_stake;
    throw;
  }
}

trace session::impl::stop(bool keep) {
  trace out;
  if (is_a_parents()) {
    if (running.exchange(false)) {
      out.lose("session left with the parent process: a forked child starts its own", "session");
    }
    return out;
  }
  {
    const std::lock_guard lock{life};
    if (!running) {
      if (!error.empty()) {
        out.source = "session";
        out.lose("session refused: " + error, "session");
      }
      return out;
    }
    running = false;
    record::close_window();
    gauges.stop();
    record::built_in_source().stop();
    record::built_in_spans().stop();
    record::built_in_counter().stop();
    for (const auto& c : options.collectors) {
      c->stop();
    }
    record::recorded all = record::stop_recording(keep);
    last = collectors();
    if (keep) {
      out = std::move(all.records);
      for (const auto& c : options.collectors) {
        c->drain(out);
      }
      static_cast<void>(describe(out, all.count));
      leave_out_told(out);
    }
  }
  say(log_level::info, "session stopped");
  return out;
}

session::session(session_options options, int headers) noexcept {
  try {
    impl_ = std::make_unique<impl>();
    impl_->options = std::move(options);
    impl_->start(headers);
  } catch (...) {
    impl_.reset();  // no memory for a session: status() says so
  }
}

session::session(session&&) noexcept = default;

session& session::operator=(session&& other) noexcept {
  if (this != &other) {
    session ended{std::move(*this)};
    impl_ = std::move(other.impl_);
  }
  return *this;
}

session::~session() {
  if (impl_ != nullptr && impl_->running) {
    try {
      static_cast<void>(impl_->stop(false));
    } catch (...) {
      impl_->say(log_level::error, "the session did not stop cleanly");
    }
  }
}

trace session::stop() { return impl_ != nullptr ? impl_->stop(true) : trace{}; }

trace session::snapshot() {
  if (impl_ == nullptr || impl_->is_a_parents()) {
    return {};
  }
  const std::lock_guard lock{impl_->life};
  if (!impl_->running) {
    return {};
  }
  record::recorded now = record::copy_recording();
  static_cast<void>(impl_->describe(now.records, now.count));
  impl_->leave_out_told(now.records);
  return std::move(now.records);
}

trace session::take() {
  if (impl_ == nullptr || impl_->is_a_parents()) {
    return {};
  }
  const std::lock_guard lock{impl_->life};
  return impl_->running ? impl_->take() : trace{};
}

session_status session::status() const {
  session_status out;
  if (impl_ == nullptr) {
    out.error = "no session: this object was moved from, or there was no memory for one";
    return out;
  }
  std::unique_lock lock{impl_->life, std::defer_lock};
  if (!impl_->is_a_parents()) {  // a thread of the parent's may have had it at the fork
    lock.lock();
  }
  out.running = impl_->running;
  out.error = impl_->error;
  out.clock = record::clock_name();
  out.marker_ns = impl_->marker_ns;
  out.collectors = impl_->running ? impl_->collectors() : impl_->last;
  if (impl_->running && !impl_->is_a_parents()) {
    out.losses = record::recording_losses();
    if (impl_->options.counters.enabled) {
      for (loss& l : record::built_in_counter().losses()) {
        out.losses.push_back(std::move(l));
      }
    }
    if (impl_->records_gpus()) {
      for (loss& l : record::built_in_source().losses()) {
        out.losses.push_back(std::move(l));
      }
      if (impl_->spans) {
        for (loss& l : record::built_in_spans().losses()) {
          out.losses.push_back(std::move(l));
        }
      }
    }
    for (loss& l : impl_->gauges.losses()) {
      out.losses.push_back(std::move(l));
    }
    if (impl_->null_collectors != 0) {
      out.losses.push_back({null_collector, "session", impl_->null_collectors});
    }
  }
  return out;
}

session::operator bool() const noexcept { return impl_ != nullptr && impl_->running; }

}  // namespace v0
}  // namespace varve

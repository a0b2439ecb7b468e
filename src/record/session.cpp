// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/session.hpp>

#include <varve/collector.hpp>

#include "record/copies.hpp"
#include "record/graph_labels.hpp"
#include "record/host.hpp"
#include "record/names.hpp"
#include "record/nvtx.hpp"
#include "record/registry.hpp"
#include "record/session_state.hpp"
#include "record/store.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace varve {

namespace record {

namespace {

/// What there is one of in a process. Leaked: markers may come during static destruction.
struct process_state {
  std::mutex mutex;                // guards what follows; held while draining
  std::unique_ptr<store> records;  // of the running session
  clock_anchor started;
  clock_mapping clock;

  std::mutex wake_mutex;
  std::condition_variable wake;
  bool woken = false;
  bool stopping = false;
};

process_state& process() noexcept {
  static auto* const leaked = new process_state;
  return *leaked;
}

// Around a fork all locks are held, so that the child finds none taken by a thread that it does not have.
void before_fork() noexcept {
  process().mutex.lock();
  process().wake_mutex.lock();
  registry.lock();
  pool.lock();
  labels_of_graphs().lock();
  lock_names();
}

void after_fork() noexcept {
  unlock_names();
  labels_of_graphs().unlock();
  pool.unlock();
  registry.unlock();
  process().wake_mutex.unlock();
  process().mutex.unlock();
}

// The session and its reader stay with the parent; the child may start a session of its own.
void in_child() noexcept {
  __atomic_and_fetch(&varve_state_, ~std::uint32_t{VARVE_STATE_RECORDING}, __ATOMIC_RELAXED);
  static_cast<void>(
      process().records.release());  // what the parent's threads were writing is not ours to free
  after_fork();
}

// Drains now and then, and when markers say that memory runs low.
void read_logs() {
  process_state& p = process();
  for (;;) {
    {
      std::unique_lock lock{p.wake_mutex};
      p.wake.wait_for(lock, std::chrono::milliseconds{100}, [&] { return p.woken || p.stopping; });
      if (p.stopping) {
        return;
      }
      p.woken = false;
    }
    const std::lock_guard lock{p.mutex};
    if (p.records) {
      p.records->drain();
    }
  }
}

}  // namespace

void wake_reader() noexcept {
  process_state& p = process();
  {
    const std::lock_guard lock{p.wake_mutex};
    if (p.woken) {
      return;
    }
    p.woken = true;
  }
  p.wake.notify_all();  // a child inherits a waiter that never wakes
}

clock_mapping session_clock() noexcept {
  process_state& p = process();
  const std::lock_guard lock{p.mutex};
  return p.records ? clock_mapping{p.started, read_anchor()} : p.clock;
}

void drain_before_unload() noexcept {
  if ((varve_load_state_() & VARVE_STATE_RECORDING) == 0) {
    return;
  }
  process_state& p = process();
  const std::lock_guard lock{p.mutex};
  if (p.records) {
    p.records->drain();
    p.records->forget_addresses();
  }
}

// Threads that end and processes that fork call back into this module: once active it must not be unloaded
// with the plugin that brought it along. Executables are not found by their name, and stay anyway.
void stay_loaded() noexcept {
  Dl_info self;
  if (::dladdr(reinterpret_cast<const void*>(&varve_version), &self) != 0 && self.dli_fname != nullptr) {
    static_cast<void>(::dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
  }
}

void activate() noexcept {
  static const bool once = [] {
    stay_loaded();
    const bool tool = nvtx::attach();
    pthread_atfork(before_fork, after_fork, in_child);
    if (tool) {
      __atomic_or_fetch(&varve_state_, VARVE_STATE_NVTX, __ATOMIC_RELEASE);
    }
    __atomic_and_fetch(&varve_state_, ~std::uint32_t{VARVE_STATE_FRESH}, __ATOMIC_RELAXED);
    return true;
  }();
  static_cast<void>(once);
}

// The cost of a begin and an end on this machine, on a log of its own; the least of a few tries.
double measure_marker_ns() {
  constexpr int pairs = 900;
  const auto stack = std::make_unique<open_range[]>(thread_log::max_depth);
  const auto log = std::make_unique<thread_log>();
  log->stack_ = stack.get();
  log->number_ = 1;
  log->epoch_ = current_epoch.load();
  log->chunk_ = pool.take();
  if (log->chunk_ == nullptr) {
    return 0;
  }
  double best = 1e9;
  for (int attempt = 0; attempt < 4; ++attempt) {
    log->cursor_ = log->chunk_->slots;
    log->limit_ = log->chunk_->slots + chunk::capacity - 1;
    const time_ns before = monotonic();
    for (int i = 0; i < pairs; ++i) {
      log->pop(log->push(VARVE_KIND_LAYER, "calibration", i, true), true);
    }
    best = std::min(best, static_cast<double>(monotonic() - before) / pairs);
  }
  pool.give(log->chunk_);
  return best;
}

}  // namespace record

inline namespace v0 {

using record::process;

struct session::impl {
  session_options options;
  std::string error;
  double marker_ns = 0;
  std::thread reader;
  std::vector<std::string> copies;
  bool running = false;
  pid_t owner = 0;                     // the process that started it
  std::vector<collector_status> last;  // as they were at the stop

  void start(int headers) noexcept;
  void begin_recording(int headers);
  trace stop(bool keep);
  void say(log_level level, std::string_view text) const noexcept;
  [[nodiscard]] std::vector<collector_status> collectors() const;
  void describe(trace& t, std::size_t records) const;
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
  record::process_state& p = process();
  copies = record::other_copies();
  for (const std::string& copy : copies) {
    say(log_level::warning, "another copy of varve is loaded, its markers are not recorded: " + copy);
  }
  {
    const std::lock_guard lock{p.mutex};
    if (p.records) {
      error = "another session is running in this process: stop it before starting this one";
      return;
    }
    record::pool.open(options.marker_memory);
    record::current_epoch.fetch_add(1, std::memory_order_release);
    marker_ns = record::measure_marker_ns();
    p.started = record::read_anchor();
    p.records =
        std::make_unique<record::store>(record::current_epoch.load(), p.started.ticks, options.trace_memory);
    owner = ::getpid();
    p.stopping = false;
    p.woken = false;
  }
  running = true;
  try {
    reader = std::thread{record::read_logs};
  } catch (...) {
    static_cast<void>(stop(false));
    throw;
  }
  for (const auto& c : options.collectors) {
    c->start();
  }
  __atomic_or_fetch(&varve_state_, VARVE_STATE_RECORDING, __ATOMIC_RELEASE);
  say(log_level::info, "session started");
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
  for (const auto& c : options.collectors) {
    out.push_back(c->status());
  }
  return out;
}

void session::impl::describe(trace& t, std::size_t records) const {
  t.source = "session";
  t.clock = record::clock_name();
  t.collectors = collectors();
  t.own_overhead = static_cast<time_ns>(marker_ns * static_cast<double>(records));
}

trace session::impl::stop(bool keep) {
  trace out;
  if (!running) {
    if (!error.empty()) {
      out.source = "session";
      out.lose("session refused: " + error, "session");
    }
    return out;
  }
  if (owner != ::getpid()) {
    static_cast<void>(
        new std::thread{std::move(reader)});  // it exists in the parent only: leaked, not joined
    running = false;
    out.lose("session left with the parent process: a forked child starts its own", "session");
    return out;
  }
  __atomic_and_fetch(&varve_state_, ~std::uint32_t{VARVE_STATE_RECORDING}, __ATOMIC_RELEASE);
  record::process_state& p = process();
  for (const auto& c : options.collectors) {
    c->stop();
  }
  if (reader.joinable()) {
    {
      const std::lock_guard lock{p.wake_mutex};
      p.stopping = true;
    }
    p.wake.notify_all();
    reader.join();
  }
  const std::lock_guard lock{p.mutex};
  if (keep) {
    p.records->drain(UINT64_MAX);  // also what threads wrote that were about to when recording stopped
  }
  const record::clock_anchor end = record::read_anchor();
  p.clock = record::clock_mapping{p.started, end};
  if (keep) {
    const std::size_t records = p.records->records();
    out = p.records->take(p.clock, end.ticks);
    for (const auto& c : options.collectors) {
      c->drain(out);
    }
    running = false;
    describe(out, records);
  }
  last = collectors();
  running = false;
  p.records.reset();
  record::pool.close();
  record::labels_of_graphs().purge();
  if ((varve_load_state_() & VARVE_STATE_ARMED) == 0) {
    record::labels_of_graphs().clear();
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
  trace out;
  if (impl_ == nullptr || !impl_->running || impl_->owner != ::getpid()) {
    return out;
  }
  record::process_state& p = process();
  const std::lock_guard lock{p.mutex};
  const record::clock_anchor now = record::read_anchor();
  p.records->drain(now.ticks);
  out = p.records->copy({p.started, now}, now.ticks);
  impl_->describe(out, p.records->records());
  return out;
}

session_status session::status() const {
  session_status out;
  if (impl_ == nullptr) {
    out.error = "no memory for a session";
    return out;
  }
  out.running = impl_->running;
  out.error = impl_->error;
  out.clock = record::clock_name();
  out.marker_ns = impl_->marker_ns;
  out.collectors = impl_->running ? impl_->collectors() : impl_->last;
  record::process_state& p = process();
  const std::lock_guard lock{p.mutex};
  if (impl_->running && impl_->owner == ::getpid()) {
    out.losses = p.records->losses();
  }
  return out;
}

session::operator bool() const noexcept { return impl_ != nullptr && impl_->running; }

}  // namespace v0
}  // namespace varve

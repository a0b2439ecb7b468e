// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/life.hpp"

#include "inject/exits.hpp"
#include "inject/futex.hpp"
#include "inject/labels.hpp"
#include "inject/patience.hpp"
#include "inject/ranges.hpp"
#include "inject/results.hpp"
#include "inject/settings.hpp"
#include "inject/signal_mask.hpp"
#include "inject/signals.hpp"
#include "inject/variables.hpp"

#include <varve/varve.h>
#include <varve/session.hpp>

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <thread>
#include <utility>

namespace varve::inject {

std::atomic<life> current_life{life::none};

namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_interval{100};

/// What the writing thread is asked for, beside the reasons in `why`.
constexpr std::uint32_t nothing = 0;
constexpr std::uint32_t quit = 100;

/// Of one process; never freed, since signals and threads may come at any time.
struct recording {
  pid_t owner;
  settings asked;
  results files;
  std::unique_ptr<session> running;
  std::unique_ptr<std::thread> writer;
  std::atomic<pid_t> writer_id{0};
  std::atomic<pid_t> exiting_id{0};  // the thread in which the session ends at the exit
  word request{nothing};
  std::atomic<pid_t> writing_id{0};  // the thread that writes records which are taken
  std::size_t written_records = 0;

  explicit recording(settings of_run) : owner{::getpid()}, asked{std::move(of_run)}, files{asked} {}
};
std::atomic<recording*> current{nullptr};

pid_t thread_id() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }

/// Of a thread of this process; not 0.
std::chrono::nanoseconds processor_time(pid_t thread) noexcept {
  constexpr unsigned of_thread = 6;  // the kernel's, as pthread_getcpuclockid() makes them
  timespec t{};
  ::clock_gettime(static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3U) | of_thread), &t);
  return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec + 1};
}

/// While `busy`, or until patience ends. Async-signal-safe.
template <class Busy>
void wait_for_writer(recording& r, Busy busy) noexcept {
  constexpr milliseconds step{100};
  using clock = std::chrono::steady_clock;
  const clock::time_point begin = clock::now();
  patience left;
  while (busy()) {
    const pid_t writing = r.writing_id;
    const auto worked = writing != 0 ? processor_time(writing) : std::chrono::nanoseconds{0};
    if (left.is_over(std::chrono::floor<milliseconds>(clock::now() - begin), worked)) {
      return;
    }
    wait_while(r.request, r.request.load(), step);
  }
}

void write(recording& r, trace&& t, stage at) noexcept {
  r.writing_id = thread_id();
  r.files.write(std::move(t), at);
  r.writing_id = 0;
}

/// As the last results or, when there is more than before, as a snapshot.
void write_records(recording& r, stage at) {
  trace t = r.running->snapshot();
  const std::size_t records = t.ranges.size() + t.calls.size() + t.activities.size();
  const bool more = std::exchange(r.written_records, records) != records;
  if (more || at == stage::last) {
    write(r, std::move(t), at);
  }
}

void end_session(recording& r) { write(r, r.running->stop(), stage::last); }

bool take_end() noexcept {
  life expected = life::running;
  return current_life.compare_exchange_strong(expected, life::ending);
}

void answer(recording& r, why reason) {
  switch (reason) {
    case why::perhaps:
    case why::crash:  // an end would wait for threads that may hang
      write_records(r, stage::last);
      break;
    case why::end:
      if (take_end()) {
        end_session(r);
        current_life = life::over;
      }
      break;
  }
}

/// What is asked for is done, or could not be; perhaps more has been asked for meanwhile.
void done(recording& r, std::uint32_t request) noexcept {
  r.request.compare_exchange_strong(request, nothing);
  wake_all(r.request);
}

/// Snapshots take at most a thirtieth of the time, however large the trace is.
void serve(recording& r) noexcept {
  using clock = std::chrono::steady_clock;
  r.writer_id = thread_id();
  ::pthread_setname_np(::pthread_self(), "varve");
  milliseconds interval = std::min(first_interval, r.asked.interval);
  clock::time_point next = clock::now() + interval;
  while (current_life != life::over) {
    std::uint32_t request = nothing;
    try {
      const auto left = std::chrono::ceil<milliseconds>(next - clock::now());
      request = r.request.load();
      if (request == quit) {
        break;
      }
      if (request != nothing) {
        answer(r, static_cast<why>(request));
        done(r, request);
      } else if (r.asked.interval.count() == 0) {
        wait_while(r.request, nothing, std::chrono::hours{1});
      } else if (left.count() > 0) {
        wait_while(r.request, nothing, left);
      } else {
        const clock::time_point begin = clock::now();
        next = begin + std::chrono::hours{1};  // where it throws
        watch_exits();                         // of modules that came since
        write_records(r, stage::snapshot);
        const auto took = std::chrono::ceil<milliseconds>(clock::now() - begin);
        interval = std::max(std::min(2 * interval, r.asked.interval), 30 * took);
        next = clock::now() + interval;
      }
    } catch (const std::exception& e) {
      say(log_level::error, e.what());
      if (current_life == life::ending) {
        current_life = life::over;
      }
      done(r, request);
    }
  }
}

void before_fork() noexcept {
  lock_marks();
  lock_ranges();
  lock_exits();
}
void after_fork() noexcept {
  unlock_exits();
  unlock_ranges();
  unlock_marks();
}
/// The session stays with the parent. A child that marks ranges of its own gets one of its own.
void in_child() noexcept {
  after_fork();
  current = nullptr;
  if (current_life != life::over) {
    current_life = life::none;
  }
}

void prepare_process() {
  static const bool once = [] {
    std::atexit(end_at_exit);
    std::at_quick_exit(end_at_exit);
    ::pthread_atfork(before_fork, after_fork, in_child);
    watch_signals();
    watch_exits();
    return true;
  }();
  static_cast<void>(once);
}

/// Products of cuBLAS tell this recorder their work, where the process was made to load what sees them.
void listen_to_cublas() noexcept {
  using listen = void (*)(const std::uint32_t*, void (*)(const varve_work_t*) noexcept);
  if (void* const found = ::dlsym(RTLD_DEFAULT, cublas_function)) {
    reinterpret_cast<listen>(found)(&varve_state_, varve_declare_here_);
  }
}

life begin_session() {
  auto asked = read_settings();
  if (!asked) {
    return life::over;
  }
  const signals_blocked blocked{signals_blocked::all};  // new threads take no signals of the engine's
  set_rules(asked->rules);
  auto r = std::make_unique<recording>(*std::move(asked));
  session_options options;
  options.trace_memory = r->asked.memory;
  options.counters = r->asked.counters;
  options.log = say;
  r->running = std::make_unique<session>(std::move(options));
  if (!*r->running) {
    return life::over;  // the log has said why
  }
  prepare_process();
  listen_to_cublas();
  recording* const made = r.release();
  made->writer = std::make_unique<std::thread>([made] { serve(*made); });
  current = made;
  return life::running;
}

}  // namespace

void start_session() noexcept {
  life expected = life::none;
  if (!current_life.compare_exchange_strong(expected, life::starting)) {
    return;
  }
  life now = life::over;
  try {
    now = begin_session();
  } catch (const std::exception& e) {
    say(log_level::error, e.what());
  }
  current_life = now;
}

void end_at_exit() noexcept {
  recording* const r = current.load();
  if (r == nullptr || r->owner != ::getpid()) {
    return;
  }
  // What would end the process comes when all is written, or waits for that on another thread.
  const signals_blocked blocked{signals_blocked::but_faults};
  const pid_t me = thread_id();
  pid_t exiting = 0;
  const bool first = r->exiting_id.compare_exchange_strong(exiting, me);
  if (!first || !take_end()) {
    if (exiting != me) {
      wait_for_writer(*r, [] { return current_life == life::ending; });
    }
    if (first) {
      r->exiting_id = 0;
    }
    return;
  }
  r->request = quit;
  wake_all(r->request);
  try {
    r->writer->join();
    end_session(*r);
  } catch (const std::exception& e) {
    say(log_level::error, e.what());
  }
  current_life = life::over;
  wake_all(r->request);
}

void write_now(why reason) noexcept {
  recording* const r = current.load();
  const pid_t me = thread_id();
  if (r == nullptr || r->owner != ::getpid() || r->writer_id == me || r->exiting_id == me) {
    return;
  }
  const auto wanted = static_cast<std::uint32_t>(reason);
  std::uint32_t asked = r->request.load();
  while (current_life == life::running && asked < wanted &&
         !r->request.compare_exchange_weak(asked, wanted)) {
  }
  wake_all(r->request);
  wait_for_writer(*r, [&] {  // also for an end that another signal or thread has asked for
    const life now = current_life;
    return now == life::ending || (now == life::running && r->request >= wanted);
  });
}

}  // namespace varve::inject

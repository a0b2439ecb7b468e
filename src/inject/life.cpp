// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/life.hpp"

#include "inject/exits.hpp"
#include "inject/futex.hpp"
#include "inject/labels.hpp"
#include "inject/ranges.hpp"
#include "inject/results.hpp"
#include "inject/settings.hpp"
#include "inject/signals.hpp"

#include <varve/session.hpp>

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

namespace varve::inject {

std::atomic<life> current_life{life::none};

namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_interval{100};
/// Of a process that dies: while records are to be taken, for which locks are needed that may never be free,
/// and in all, with the time in which they are analysed and written.
constexpr milliseconds patience_to_take{20'000};
constexpr milliseconds patience_to_write{600'000};

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
  word request{nothing};
  std::atomic<bool> writing{false};  // records that are taken
  std::size_t written_records = 0;

  explicit recording(settings of_run) : owner{::getpid()}, asked{std::move(of_run)}, files{asked} {}
};
std::atomic<recording*> current{nullptr};

/// While `busy`, or until patience ends. Async-signal-safe.
template <class Busy>
void wait_for_writer(recording& r, Busy busy) noexcept {
  constexpr milliseconds step{100};
  using clock = std::chrono::steady_clock;
  const clock::time_point begin = clock::now();
  clock::time_point moved = begin;
  while (busy()) {
    const clock::time_point now = clock::now();
    moved = r.writing ? now : moved;
    if (now - moved >= patience_to_take || now - begin >= patience_to_write) {
      return;
    }
    wait_while(r.request, r.request.load(), step);
  }
}

pid_t thread_id() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }

void write(recording& r, const trace& t, stage at) noexcept {
  r.writing = true;
  r.files.write(t, at);
  r.writing = false;
}

/// As the last results or, when there is more than before, as a snapshot.
void write_records(recording& r, stage at) {
  const trace t = r.running->snapshot();
  const std::size_t records = t.ranges.size() + t.calls.size() + t.activities.size();
  const bool more = std::exchange(r.written_records, records) != records;
  if (more || at == stage::last) {
    write(r, t, at);
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

/// New threads take no signals of the engine's.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;
  ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

void before_fork() noexcept {
  lock_marks();
  lock_ranges();
}
void after_fork() noexcept {
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

life begin_session() {
  auto asked = read_settings();
  if (!asked) {
    return life::over;
  }
  const signals_blocked blocked;
  set_rules(asked->rules);
  auto r = std::make_unique<recording>(*std::move(asked));
  session_options options;
  options.trace_memory = r->asked.memory;
  options.log = say;
  r->running = std::make_unique<session>(std::move(options));
  if (!*r->running) {
    return life::over;  // the log has said why
  }
  prepare_process();
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
  if (!take_end()) {
    wait_for_writer(*r, [] { return current_life == life::ending; });
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
}

void write_now(why reason) noexcept {
  recording* const r = current.load();
  if (r == nullptr || r->owner != ::getpid() || r->writer_id == thread_id() ||
      current_life != life::running) {
    return;
  }
  std::uint32_t asked = r->request.load();
  while (asked < static_cast<std::uint32_t>(reason) &&
         !r->request.compare_exchange_weak(asked, static_cast<std::uint32_t>(reason))) {
  }
  wake_all(r->request);
  wait_for_writer(*r, [&] { return r->request >= static_cast<std::uint32_t>(reason); });
}

}  // namespace varve::inject

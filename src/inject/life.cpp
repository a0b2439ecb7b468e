// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/life.hpp"

#include "inject/exits.hpp"
#include "inject/futex.hpp"
#include "inject/labels.hpp"
#include "inject/ranges.hpp"
#include "inject/settings.hpp"
#include "inject/signals.hpp"
#include "inject/variables.hpp"

#include <varve/io.hpp>
#include <varve/session.hpp>

#include <fcntl.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

namespace varve::inject {

std::atomic<life> current_life{life::none};

namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_interval{100};
/// Of a process that dies: until the records are taken, for which locks are needed that may never be free,
/// and until they are written.
constexpr milliseconds patience_to_take{20'000};
constexpr milliseconds patience_to_write{600'000};

/// What the writing thread is asked for, beside the reasons in `why`.
constexpr std::uint32_t nothing = 0;
constexpr std::uint32_t quit = 100;

/// Of one process; never freed, since signals and threads may come at any time.
struct recording {
  pid_t owner = 0;
  settings asked;
  std::string base;  // of the names of its files
  std::unique_ptr<session> running;
  std::unique_ptr<std::thread> writer;
  std::atomic<pid_t> writer_id{0};
  word request{nothing};
  std::atomic<bool> taken{false};  // records, which are being written
  std::size_t written_records = 0;
  bool early_end = false;  // its last file is there, and it lives on
  bool complained = false;
};
std::atomic<recording*> current{nullptr};

/// While `busy`, or until patience ends. Async-signal-safe.
template <class Busy>
void wait_for_writer(recording& r, Busy busy) noexcept {
  constexpr milliseconds step{100};
  const auto begin = std::chrono::steady_clock::now();
  while (busy() &&
         std::chrono::steady_clock::now() - begin < (r.taken ? patience_to_write : patience_to_take)) {
    wait_while(r.request, r.request.load(), step);
  }
}

pid_t thread_id() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }

/// Claims the first free number of this process, which may have been other programs before.
std::string claim(const settings& asked) {
  for (int number = 0; number < 10000; ++number) {
    std::string base = asked.folder + '/' + std::to_string(::getpid()) + '.' + std::to_string(number);
    const int file = ::open(base.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
      const std::string_view name = program_invocation_short_name;
      const bool good = ::write(file, name.data(), name.size()) >= 0;
      ::close(file);
      if (good) {
        return base;
      }
    } else if (errno != EEXIST) {
      break;
    }
  }
  throw error{asked.folder + ": cannot be written: " + std::generic_category().message(errno)};
}

/// False, and said once, where that fails.
bool write(recording& r, const trace& t, const char* suffix) {
  r.taken = true;
  r.written_records = t.ranges.size() + t.calls.size() + t.activities.size();
  try {
    write_chrome_trace(t, r.base + suffix);
    return true;
  } catch (const std::exception& e) {
    if (!r.complained) {
      r.complained = true;
      say(log_level::error, e.what());
    }
    return false;
  }
}

void remove(const recording& r, const char* suffix) noexcept {
  static_cast<void>(::unlink((r.base + suffix).c_str()));
}

/// Writes what is recorded so far, to its last place or, when it is more than before, as a snapshot.
void write_snapshot(recording& r, bool last) {
  const trace t = r.running->snapshot();
  if (last) {
    r.early_end = write(r, t, final_suffix);
  } else if (r.written_records != t.ranges.size() + t.calls.size() + t.activities.size()) {
    if (write(r, t, snapshot_suffix) && std::exchange(r.early_end, false)) {
      remove(r, final_suffix);
    }
  }
}

void end_session(recording& r) {
  if (write(r, r.running->stop(), final_suffix)) {
    remove(r, snapshot_suffix);
  }
}

bool take_end() noexcept {
  life expected = life::running;
  return current_life.compare_exchange_strong(expected, life::ending);
}

void answer(recording& r, why reason) {
  switch (reason) {
    case why::perhaps:
    case why::crash:  // an end would wait for threads that may hang
      write_snapshot(r, true);
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
        write_snapshot(r, false);
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
  auto r = std::make_unique<recording>();
  r->owner = ::getpid();
  r->base = claim(*asked);
  session_options options;
  options.trace_memory = asked->memory;
  options.log = say;
  r->asked = *std::move(asked);
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
  r->taken = false;
  std::uint32_t asked = r->request.load();
  while (asked < static_cast<std::uint32_t>(reason) &&
         !r->request.compare_exchange_weak(asked, static_cast<std::uint32_t>(reason))) {
  }
  wake_all(r->request);
  wait_for_writer(*r, [&] { return r->request >= static_cast<std::uint32_t>(reason); });
}

}  // namespace varve::inject

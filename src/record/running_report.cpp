// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/running_report.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace varve {
inline namespace v0 {

struct running_report::impl {
  impl(session& s, const running_options& o) : of{s}, options{o} { options.analysis.histograms = true; }

  session& of;
  running_options options;
  const pid_t owner = ::getpid();
  bool no_thread = false;
  std::unique_ptr<std::thread> thread;

  std::mutex adding;  // guards what follows
  report total;
  trace unheld;  // what windows of no length have told since the last that had some
  bool stopped = false;
  std::uint64_t failed = 0;  // windows that there was no memory for

  std::mutex ending;  // guards `thread`, once it runs
  std::mutex waking;
  std::condition_variable wake;
  bool stopping = false;

  void add(trace t) noexcept;
  void take() noexcept;
  void run() noexcept;
  void end_thread() noexcept;
  [[nodiscard]] report shown() const;
};

/// Under the lock. What there is no memory for is left out as a whole. A window of no length has no place
/// among others: what it tells goes with the next.
void running_report::impl::add(trace t) noexcept {
  try {
    for (const loss& l : unheld.losses) {
      t.lose(l.what, l.where, l.count);
    }
    t.own_overhead += unheld.own_overhead;
    if (t.end <= t.begin) {
      unheld = std::move(t);
      return;
    }
    report sum = total;
    add_report(sum, analyze(t, options.analysis));
    std::swap(total, sum);
    unheld = {};
  } catch (const std::bad_alloc&) {
    ++failed;
  }
}

void running_report::impl::take() noexcept {
  const std::lock_guard lock{adding};
  try {
    add(of.take());
  } catch (const std::bad_alloc&) {
    ++failed;
  }
}

void running_report::impl::run() noexcept {
  const std::chrono::nanoseconds period{std::min<time_ns>(options.period, 86'400'000'000'000)};
  for (std::unique_lock lock{waking}; !wake.wait_for(lock, period, [this] { return stopping; });) {
    lock.unlock();
    take();
    lock.lock();
  }
}

void running_report::impl::end_thread() noexcept {
  {
    const std::lock_guard lock{waking};
    stopping = true;
  }
  wake.notify_all();
  const std::lock_guard lock{ending};
  if (thread != nullptr) {
    thread->join();
    thread.reset();
  }
}

report running_report::impl::shown() const {
  report r = total;
  if (total.end == 0) {
    r = analyze(unheld, options.analysis);
  } else {
    r.quality.losses.insert(r.quality.losses.end(), unheld.losses.begin(), unheld.losses.end());
  }
  if (failed != 0) {
    r.quality.losses.push_back(
        {"windows left out: no memory to add them up (std::bad_alloc)", "running report", failed});
  }
  if (no_thread) {
    r.quality.losses.push_back(
        {"no thread, or no memory for one: it takes only when it is asked", "running report", 1});
  }
  return r;
}

running_report::running_report(session& of, const running_options& options) noexcept {
  try {
    impl_ = std::make_unique<impl>(of, options);
    if (options.period > 0) {
      impl_->thread = std::make_unique<std::thread>(&impl::run, impl_.get());
    }
  } catch (const std::exception&) {
    if (impl_ != nullptr) {
      impl_->no_thread = true;
    }
  }
}

running_report::~running_report() {
  if (impl_ == nullptr) {
    return;
  }
  if (impl_->owner != ::getpid()) {
    static_cast<void>(impl_.release());  // its thread is the parent's
    return;
  }
  impl_->end_thread();
}

report running_report::so_far() {
  if (impl_ == nullptr) {
    throw std::bad_alloc{};  // there was none from the beginning
  }
  if (impl_->owner != ::getpid()) {
    return {};
  }
  impl_->take();
  const std::lock_guard lock{impl_->adding};
  return impl_->shown();
}

report running_report::stop() {
  if (impl_ == nullptr) {
    throw std::bad_alloc{};
  }
  if (impl_->owner != ::getpid()) {
    return {};
  }
  impl_->end_thread();
  const std::lock_guard lock{impl_->adding};
  if (!impl_->stopped) {
    trace rest = impl_->of.stop();
    impl_->stopped = true;
    impl_->add(std::move(rest));
  }
  return impl_->shown();
}

}  // namespace v0
}  // namespace varve

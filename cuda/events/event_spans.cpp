// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What runs on the engine's threads, and what the source says of itself; collect.cpp has the rest.
#include "events/event_spans.hpp"

#include "record/fork.hpp"
#include "record/log.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace varve {

namespace cuda {

/// A call of the engine's threads: stop() waits for it, never the other way round.
class event_spans::engine_call {
 public:
  explicit engine_call(event_spans& source) noexcept : source_{source} {
    ++source_.calls_;
    runs_ = source_.running_.load();
    began_ = runs_ ? source_.limits_.monotonic() : 0;
  }
  engine_call(const engine_call&) = delete;
  engine_call& operator=(const engine_call&) = delete;
  ~engine_call() {
    if (runs_) {
      source_.overhead_ += source_.limits_.monotonic() - began_;
    }
    --source_.calls_;
  }
  explicit operator bool() const noexcept { return runs_; }

 private:
  event_spans& source_;
  bool runs_;
  time_ns began_;
};

void event_spans::start() noexcept {
  if (left_) {
    return;
  }
  for (std::atomic<std::uint64_t>* counter : {&named_, &measured_, &without_driver_, &capturing_, &exhausted_,
                                              &failed_, &unfinished_, &abandoned_, &refused_}) {
    *counter = 0;
  }
  error_ = 0;
  overhead_ = 0;
  try {
    const std::lock_guard lock{mutex_};
    done_.clear();
    open_.reserve(limits_.events / 2);
    pending_.reserve(limits_.events / 2);
    running_ = true;
  } catch (const std::bad_alloc&) {
    // not running: passes that name their stream get no spans
  }
}

const driver* event_spans::find() noexcept {
  const driver* const d = find_driver(false);
  if (d == nullptr || !d->has_events()) {
    ++without_driver_;
    return nullptr;
  }
  if (!knows_context_id_) {
    if (void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) {
      context_id_ = reinterpret_cast<context_id_function>(::dlsym(library, "cuCtxGetId"));
      ::dlclose(library);
    }
    knows_context_id_ = true;
  }
  return d;
}

/// Of no other context in this process, before or after it. 0 before CUDA 12.0.
std::uint64_t event_spans::id_of(context c) const noexcept {
  unsigned long long id = 0;
  const context_id_function ask = context_id_.load();
  return ask != nullptr && ask(c, &id) == success ? id : 0;
}

void event_spans::fail(int result) noexcept {
  last_failure_ = result;
  ++failed_;
}

/// False, and counted, where the stream captures or can't be asked.
bool event_spans::may_record(const driver& d, stream s) noexcept {
  int status = not_capturing;
  const int result = d.stream_is_capturing(s, &status);
  if (result == success && status == not_capturing) {
    return true;
  }
  if (result == success || result == capture_implicit) {
    ++capturing_;
  } else {
    fail(result);
  }
  return false;
}

/// Under the lock: what was made in it is no more.
void event_spans::forget(timed_context& c) noexcept {
  c.gone = true;
  events_ -= c.free.size();
  c.free.clear();
}

void event_spans::forget_if_gone(timed_context& c, int result) noexcept {
  if (result == invalid_context || result == context_is_destroyed) {
    const std::lock_guard lock{mutex_};
    if (!c.gone) {
      forget(c);
    }
  }
}

/// Under the lock. nullptr where there are too many, or no memory.
event_spans::timed_context* event_spans::context_of(context c, std::uint64_t id) noexcept {
  const auto known = std::find_if(contexts_.begin(), contexts_.end(),
                                  [&](const timed_context& t) { return t.handle == c && !t.gone; });
  if (known != contexts_.end()) {
    if (known->id == id) {
      return &*known;
    }
    forget(*known);
  }
  contexts_.remove_if([](const timed_context& t) { return t.gone && t.spans == 0; });
  if (contexts_.size() == limits_.contexts) {
    return nullptr;
  }
  try {
    timed_context added;
    added.handle = c;
    added.id = id;
    added.free.reserve(limits_.events);
    contexts_.push_back(std::move(added));
    return &contexts_.back();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// In its context: takes two events from the pool, or makes them. False where there is none, which is
/// counted.
bool event_spans::reserve(const driver& d, open_span& span) noexcept {
  for (event* e : {&span.begin, &span.end}) {
    bool make = false;
    {
      const std::lock_guard lock{mutex_};
      if (!span.in->free.empty()) {
        *e = span.in->free.back();
        span.in->free.pop_back();
      } else if (events_ < limits_.events) {
        ++events_;
        make = true;
      }
    }
    if (make) {
      if (const int result = d.event_create(e, 0); result != success) {
        *e = nullptr;
        const std::lock_guard lock{mutex_};
        --events_;
        fail(result);
        return false;
      }
    } else if (*e == nullptr) {
      ++exhausted_;
      record::wake_reader();
      return false;
    }
  }
  return true;
}

/// Under the lock: the span is over, and its events are free.
void event_spans::put_back(const open_span& span) noexcept {
  for (const event e : {span.begin, span.end}) {
    if (e != nullptr && span.in->gone) {
      --events_;
    } else if (e != nullptr) {
      span.in->free.push_back(e);
    }
  }
  --span.in->spans;
}

void event_spans::give_back(const open_span& span) noexcept {
  const std::lock_guard lock{mutex_};
  put_back(span);
}

void event_spans::begin(std::uint64_t pass, void* handle) noexcept {
  const engine_call call{*this};
  if (!call) {
    return;
  }
  ++named_;
  open_span span;
  span.pass = pass;
  span.on = static_cast<stream>(handle);
  const driver* const d = find();
  if (d == nullptr) {
    return;
  }
  const outside_captures guard{*d};
  if (guard.result() != success) {
    fail(guard.result());
    return;
  }
  context c = nullptr;
  if (!may_record(*d, span.on)) {
    return;
  }
  if (const int result = d->stream_get_context(span.on, &c); result != success || c == nullptr) {
    fail(result);
    return;
  }
  const std::uint64_t id = id_of(c);
  {
    const std::lock_guard lock{mutex_};
    const bool again = std::any_of(open_.begin(), open_.end(),
                                   [&](const open_span& o) { return o.pass == pass && o.on == span.on; });
    if (again) {
      --named_;
      return;
    }
    span.in = context_of(c, id);
    if (span.in != nullptr) {
      ++span.in->spans;
    }
  }
  if (span.in == nullptr) {
    ++exhausted_;
    return;
  }
  const in_context current{*d, c};
  int result = current.result();
  if (result != success) {
    fail(result);
    give_back(span);
    return;
  }
  if (!reserve(*d, span)) {
    give_back(span);
    return;
  }
  result = d->event_record(span.begin, span.on);
  if (result != success) {
    fail(result);
    give_back(span);
    return;
  }
  const std::lock_guard lock{mutex_};
  open_.push_back(span);
}

/// One of the pass's, as long as there are any.
bool event_spans::take_open(std::uint64_t pass, open_span& span) noexcept {
  const std::lock_guard lock{mutex_};
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const open_span& o) { return o.pass == pass; });
  if (found == open_.end()) {
    return false;
  }
  span = *found;
  open_.erase(found);
  return true;
}

void event_spans::end(std::uint64_t pass) noexcept {
  const engine_call call{*this};
  if (!call) {
    return;
  }
  open_span span;
  if (!take_open(pass, span)) {
    return;
  }
  const driver& d = *find_driver(false);
  const outside_captures guard{d};
  do {
    const inside current{*this, d, *span.in};
    int result = current.result();
    forget_if_gone(*span.in, result);
    if (result == success && !may_record(d, span.on)) {
      give_back(span);
      continue;
    }
    if (result == success) {
      result = d.event_record(span.end, span.on);
    }
    if (result != success) {
      fail(result);
      give_back(span);
      continue;
    }
    bool low = false;
    {
      const std::lock_guard lock{mutex_};
      pending_.push_back(span);
      low = pending_.size() * 4 > limits_.events;
    }
    if (low) {
      record::wake_reader();
    }
  } while (take_open(pass, span));
}

void event_spans::abandon(std::uint64_t pass) noexcept {
  const engine_call call{*this};
  if (!call) {
    return;
  }
  open_span span;
  while (take_open(pass, span)) {
    ++abandoned_;
    give_back(span);
  }
}

void event_spans::refuse() noexcept { ++refused_; }

void event_spans::hand_over(std::vector<record::device_span>& spans) noexcept {
  if (left_) {
    return;
  }
  const std::lock_guard lock{mutex_};
  try {
    spans.insert(spans.end(), done_.begin(), done_.end());
    done_.clear();
  } catch (const std::bad_alloc&) {
    // later: `done_` is bounded, and what it has no room for is counted
  }
}

bool event_spans::await(std::vector<std::uint64_t>& passes) {
  if (left_) {
    return true;
  }
  const std::unique_lock poll{polling_, std::try_to_lock};
  const std::lock_guard lock{mutex_};
  if (!poll || calls_ != 0) {
    return false;
  }
  for (const auto* const spans : {&open_, &pending_}) {
    std::for_each(spans->begin(), spans->end(), [&](const open_span& s) { passes.push_back(s.pass); });
  }
  std::for_each(done_.begin(), done_.end(), [&](const record::device_span& s) { passes.push_back(s.pass); });
  return true;
}

void event_spans::before_fork(bool in_use) noexcept {
  fork_in_poll_ = !record::lock_within(polling_, record::fork_patience);
  mutex_.lock();
  used_at_fork_ = in_use;
}

void event_spans::after_fork() noexcept {
  mutex_.unlock();
  if (!fork_in_poll_) {
    polling_.unlock();
  }
}

// A driver that is in use has handles and locks that are the parent's.
void event_spans::leave_to_parent() noexcept {
  left_ = left_ || fork_in_poll_ || used_at_fork_;
  running_ = false;
  calls_ = 0;
  if (!left_) {
    open_.clear();
    pending_.clear();
    done_.clear();
    contexts_.clear();
    events_ = 0;
  }
  after_fork();
}

bool event_spans::concerned() const noexcept { return left_ || named_ != 0 || find_driver(false) != nullptr; }

std::vector<device_info> event_spans::devices() const {
  const driver* const d = left_ ? nullptr : find_driver(false);
  return d != nullptr ? cuda::devices(*d) : std::vector<device_info>{};
}

std::vector<loss> event_spans::losses() const {
  std::vector<loss> out;
  if (left_) {
    return out;  // what is counted is the parent's
  }
  const auto lose = [&](std::uint64_t count, const std::string& what) {
    if (count != 0) {
      out.push_back({what, "cuda events", count});
    }
  };
  lose(without_driver_, "passes without a GPU span: no CUDA driver that times events is loaded");
  lose(capturing_, "passes without a GPU span: their stream, or one that it waits for, was being captured");
  lose(exhausted_, "passes without a GPU span: more were under way at once than are measured");
  lose(failed_, "passes without a GPU span: the CUDA driver refused an event, or its time (last with error " +
                    std::to_string(last_failure_) + ")");
  lose(unfinished_, "passes without a GPU span: they had not ended when the session stopped");
  lose(abandoned_, "passes without a GPU span: their thread ended in them");
  lose(refused_, "streams named for what is no open pass of the thread that named them");
  return out;
}

collector_status event_spans::status() const {
  collector_status out;
  out.name = "cuda events";
  if (left_) {
    out.state = collector_state::unavailable;
    out.detail =
        "a child forked while CUDA was in use: the GPU stays with its parent, and passes get no GPU spans; "
        "start the program anew (exec) to use one";
    return out;
  }
  out.state = running_ ? collector_state::running : collector_state::stopped;
  out.detail = named_ == 0
                   ? "no pass named its stream (varve::phase::stream, varve_stream): its time on the GPU is "
                     "not measured"
                   : "GPU spans " + std::to_string(measured_) + ", of " + std::to_string(named_) +
                         " streams that passes named";
  return out;
}

}  // namespace cuda

namespace record {

span_source::~span_source() = default;

span_source& built_in_spans() noexcept {
  static auto* const leaked = new cuda::event_spans;
  return *leaked;
}

}  // namespace record

}  // namespace varve

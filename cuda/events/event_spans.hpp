// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The source of GPU spans: an event on a pass's stream when the pass names it, another when the pass ends.
// The engine's threads record events and take them from a pool; whether they are done, and when, is asked
// later, on the recorder's thread. Nothing here waits for a device, or touches a stream that is being
// captured.
#ifndef VARVE_CUDA_EVENTS_EVENT_SPANS_HPP
#define VARVE_CUDA_EVENTS_EVENT_SPANS_HPP

#include "driver/driver.hpp"

#include "record/clock.hpp"
#include "record/span_source.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <vector>

namespace varve::cuda {

struct event_limits {
  std::size_t events = 4096;         ///< at once, two a span
  std::size_t contexts = 64;         ///< that streams are named of
  std::size_t spans = 1U << 16U;     ///< measured and not handed over
  time_ns patience = 1'000'000'000;  ///< at the stop, for what is pending
  std::uint64_t (*ticks)() noexcept = record::now;
  time_ns (*monotonic)() noexcept = record::monotonic;
};

// Of CUresult.
inline constexpr int invalid_context = 201;
inline constexpr int context_is_destroyed = 709;

/// There is one in a process, and it is never destroyed: passes may end until the very end.
class event_spans final : public record::span_source {
 public:
  explicit event_spans(const event_limits& limits = {}) noexcept : limits_{limits} {}

  void start() noexcept override;
  void stop() noexcept override;
  [[nodiscard]] bool running() const noexcept override { return running_.load(std::memory_order_relaxed); }

  void begin(std::uint64_t pass, void* stream) noexcept override;
  void end(std::uint64_t pass) noexcept override;
  void abandon(std::uint64_t pass) noexcept override;
  void refuse() noexcept override;

  void poll() noexcept override;
  void hand_over(std::vector<record::device_span>& spans) noexcept override;
  [[nodiscard]] bool await(std::vector<std::uint64_t>& passes) override;

  [[nodiscard]] std::vector<device_info> devices() const override;
  [[nodiscard]] std::vector<loss> losses() const override;
  [[nodiscard]] time_ns error() const noexcept override { return error_; }
  [[nodiscard]] time_ns own_overhead() const noexcept override { return overhead_; }
  [[nodiscard]] bool concerned() const noexcept override;
  [[nodiscard]] collector_status status() const override;

  void before_fork(bool in_use) noexcept override;
  void after_fork() noexcept override;
  void leave_to_parent() noexcept override;

 private:
  struct timed_context {
    context handle = nullptr;
    std::uint64_t id = 0;  // 0: the driver gives none
    std::uint32_t device = 0;
    std::size_t spans = 0;  // that are in it
    bool gone = false;      // with all that was made in it; its address may be another's
    std::vector<event> free;
    // Of whoever polls: a stream that is idle, for events whose time on the host is known.
    stream own_stream = nullptr;
    std::array<event, 3> moments{};
  };
  struct open_span {
    std::uint64_t pass = 0;
    stream on = nullptr;
    timed_context* in = nullptr;
    event begin = nullptr;
    event end = nullptr;
  };
  /// A moment on the device's clock and on the host's.
  struct moment {
    event at = nullptr;
    std::uint64_t ticks = 0;
    time_ns error = 0;
  };
  class engine_call;
  class inside;
  using context_id_function = int (*)(context c, unsigned long long* id);

  const driver* find() noexcept;
  std::uint64_t id_of(context c) const noexcept;
  bool may_record(const driver& d, stream s) noexcept;
  bool reserve(const driver& d, open_span& span) noexcept;
  timed_context* context_of(context c, std::uint64_t id) noexcept;
  bool take_open(std::uint64_t pass, open_span& span) noexcept;
  void put_back(const open_span& span) noexcept;
  void give_back(const open_span& span) noexcept;
  void forget(timed_context& c) noexcept;
  void forget_if_gone(timed_context& c, int result) noexcept;
  void fail(int result) noexcept;

  bool collect(const driver& d) noexcept;
  void collect_of(const driver& d, timed_context& c, std::span<open_span> spans) noexcept;
  bool prepare(const driver& d, timed_context& c) noexcept;
  bool find_moment(const driver& d, timed_context& c, moment& best) noexcept;
  void place(const driver& d, const open_span& span, const moment& m) noexcept;
  void release(const driver& d) noexcept;

  const event_limits limits_;
  std::atomic<bool> running_{false};
  std::atomic<bool> left_{false};  // this is a child forked while CUDA was in use
  std::atomic<int> calls_{0};      // of the engine's threads, under way
  std::atomic<context_id_function> context_id_{nullptr};
  std::atomic<bool> knows_context_id_{false};

  bool fork_in_poll_ = false;  // the forking thread could not wait for that to end
  bool used_at_fork_ = false;  // CUDA was
  std::mutex polling_;         // of poll and stop; taken before `mutex_`
  std::mutex mutex_;           // guards what follows; never held in a call of the driver
  std::list<timed_context> contexts_;
  std::size_t events_ = 0;          // made
  std::vector<open_span> open_;     // has room for all that there can be, like `pending_` and `free`
  std::vector<open_span> pending_;  // with both events recorded
  std::vector<record::device_span> done_;

  std::atomic<time_ns> error_{0};
  std::atomic<time_ns> overhead_{0};
  std::atomic<std::uint64_t> named_{0};
  std::atomic<std::uint64_t> measured_{0};
  std::atomic<std::uint64_t> without_driver_{0};
  std::atomic<std::uint64_t> capturing_{0};
  std::atomic<std::uint64_t> exhausted_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<int> last_failure_{0};
  std::atomic<std::uint64_t> unfinished_{0};
  std::atomic<std::uint64_t> abandoned_{0};
  std::atomic<std::uint64_t> refused_{0};
};

/// In a context, if it is still the one that it was.
class event_spans::inside {
 public:
  inside(const event_spans& source, const driver& d, const timed_context& c) noexcept
      : current_{d, c.handle}, result_{current_.result()} {
    if (result_ == success && source.id_of(c.handle) != c.id) {
      result_ = context_is_destroyed;
    }
  }
  [[nodiscard]] int result() const noexcept { return result_; }

 private:
  in_context current_;
  int result_;
};

}  // namespace varve::cuda

#endif  // VARVE_CUDA_EVENTS_EVENT_SPANS_HPP

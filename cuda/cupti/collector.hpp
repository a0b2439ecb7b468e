// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The source of GPU records: CUPTI's callbacks and activity records, from arming or a session's start to its
// end.
#ifndef VARVE_CUDA_CUPTI_COLLECTOR_HPP
#define VARVE_CUDA_CUPTI_COLLECTOR_HPP

#include "cupti/buffers.hpp"
#include "cupti/calls.hpp"
#include "cupti/contexts.hpp"
#include "cupti/decode.hpp"
#include "cupti/graphs.hpp"
#include "cupti/library.hpp"

#include "record/device_source.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace varve::cuda {
struct driver;
}

namespace varve::cupti {

/// There is one in a process, and it is never destroyed: CUPTI may call back until the very end.
class collector final : public record::device_source {
 public:
  void arm(bool kernels) noexcept override;
  void disarm() noexcept override;
  void start(const gpu_options& options) noexcept override;
  void stop() noexcept override;
  [[nodiscard]] bool running() const noexcept override { return recording_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool waiting() const noexcept override { return waiting_; }
  void expect_cuda() noexcept override { expects_cuda_ = true; }
  void cuda_starts() noexcept override;
  [[nodiscard]] time_ns now() const noexcept override;
  void poll(bool now) noexcept override;
  void hand_over(trace& batch, bool full) noexcept override;
  [[nodiscard]] bool hand_over_last(trace& batch) noexcept override;
  [[nodiscard]] std::vector<device_info> devices() const override;
  [[nodiscard]] std::vector<loss> losses() const override;
  [[nodiscard]] time_ns own_overhead() const noexcept override;
  [[nodiscard]] collector_status status() const override;
  [[nodiscard]] bool in_use() noexcept override;
  void before_fork(bool in_use) noexcept override;
  void after_fork() noexcept override;
  void leave_to_parent() noexcept override;

  /// For who may not disturb captures: they are followed until `ignore_captures`, whoever else arms or
  /// records. Where CUPTI refuses, none is known.
  void follow_captures(const std::string& library) noexcept;
  void ignore_captures() noexcept;
  [[nodiscard]] bool capturing() const noexcept { return contexts_.may_capture(); }
  [[nodiscard]] std::uint64_t captures_begun() const noexcept { return contexts_.captures_begun(); }

 private:
  /// What belongs to one loaded library.
  struct attachment {
    explicit attachment(const library& l) : lib{l}, kinds{l}, graphs{l}, records{l} {}
    const library& lib;
    call_kinds kinds;
    graph_book graphs;
    decoder records;
    bool used = false;  // it has taken our subscription
    // As it was seen to do, which nobody waits for twice:
    bool withholds = false;  // buffers, from flushes that aren't forced, although all in them is done
    bool keeps = false;      // buffers, from forced ones
  };

  /// While it lives and is true, an exit waits for the thread that asks CUPTI something; where it is false
  /// nothing may be asked any more. Taken before `life_`.
  class question {
   public:
    explicit question(const collector& c) noexcept : collector_{c} { ++collector_.asking_; }
    question(const question&) = delete;
    question& operator=(const question&) = delete;
    ~question() { --collector_.asking_; }
    explicit operator bool() const noexcept { return !collector_.exiting_; }

   private:
    const collector& collector_;
  };

  bool choose_library(const std::string& path);
  bool attach(const std::string& path);
  void detach() noexcept;
  [[nodiscard]] bool is_to_be_told() noexcept;
  [[nodiscard]] bool must_wait(bool told_later) const noexcept;
  [[nodiscard]] bool ask_driver() noexcept;
  [[nodiscard]] const cuda::driver* used_driver() const noexcept;
  void begin();
  void give_up() noexcept;
  /// Without a session: what `note` notes, and with CUPTI as soon as it may be asked.
  template <class Note>
  void attach_early(Note note) noexcept;
  void begin_arming();
  [[nodiscard]] bool stays_attached() const noexcept { return armed_ || following_captures_; }
  void settle_inheritance() noexcept;
  void switch_off() noexcept;
  void enable_calls(bool all);
  void avoid_defects();
  void enable_records(bool on);
  void enable_whole_graphs(bool on);
  void follow_graphs(bool on);
  bool wait_for_devices() noexcept;
  bool wait_for_records() noexcept;
  void look_for_captures() noexcept;
  [[nodiscard]] std::size_t launches_without_record() const noexcept;
  void wait_for_the_last(std::uint64_t loans) noexcept;
  void wait_for_completions() noexcept;
  bool flush(std::uint32_t flag) noexcept;
  void note(std::string_view text) noexcept;
  void fetch_the_last() noexcept;
  void end_asking() noexcept;
  enum class told_to_heed : std::uint32_t { attached = 1, initialised = 2, has_context = 4 };
  void heed_exit(told_to_heed when) noexcept;
  void count_dropped() noexcept;
  void refuse(std::string why) noexcept;

  // What CUPTI calls.
  static void called_back(void* self, callback_domain domain, std::uint32_t id, const void* data) noexcept;
  static void buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) noexcept;
  static void buffer_completed(context_handle context, std::uint32_t stream, std::uint8_t* buffer,
                               std::size_t size, std::size_t valid) noexcept;
  void on_call(callback_domain domain, std::uint32_t id, const callback_data& d) noexcept;
  void on_resource(resource_event what, const resource_data& d) noexcept;
  void on_state(const state_data& d) noexcept;

  mutable std::mutex life_;  // of start, stop, arm and poll; never taken in a callback
  gpu_options options_;
  std::atomic<attachment*> attached_{nullptr};  // once used it stays
  std::vector<std::unique_ptr<attachment>> attachments_;
  subscriber_handle subscriber_ = nullptr;
  std::string problem_;                    // why it does not run
  std::vector<std::string> switched_off_;  // kinds of records that this library refuses
  std::string not_watched_;                // calls that this library refuses to tell of
  std::string note_;                       // of what went wrong since
  bool armed_ = false;
  bool armed_kernels_ = false;
  bool following_captures_ = false;
  bool records_on_ = false;
  bool whole_graphs_on_ = false;
  time_ns last_flush_ = 0;
  time_ns looks_since_ = 0;  // for captures that began before

  buffer_pool pool_;
  std::atomic<bool> recording_{false};
  std::atomic<bool> left_{false};                // this is a child forked while CUDA was in use
  std::atomic<bool> inherited_{false};           // the subscription is of a parent that had not used CUDA
  std::atomic<bool> expects_cuda_{false};        // who is told of its initialisation tells us
  std::atomic<bool> cuda_started_{false};        // was told
  bool told_ = false;                            // under life_: who was told has been here
  std::atomic<bool> waiting_{false};             // for that, with a session
  std::atomic<bool> cuda_used_{false};           // as far as is known: by a call, or as the driver said
  std::atomic<bool> exiting_{false};             // this process is
  std::atomic<std::uint32_t> heeded_{0};         // when the exit was registered for, of told_to_heed
  std::atomic<bool> looks_for_captures_{false};  // any node that is made is one's
  std::atomic<std::uint32_t> era_{0};
  std::atomic<std::int32_t> completing_{0};      // buffers, on CUPTI's threads
  mutable std::atomic<std::int32_t> asking_{0};  // of our threads, in CUPTI, that an exit waits for
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> lost_bytes_{0};  // of records, for want of a buffer
  std::atomic<std::uint64_t> fetched_{0};     // loans of the pool that a forced flush has asked for
  std::atomic<std::uint64_t> late_{0};        // records of those that came when no session took them any more
  std::uint64_t late_before_ = 0;             // at the end of the session before
  std::uint64_t late_at_stop_ = 0;

  mutable std::mutex told_mutex_;
  std::uint64_t errors_ = 0;  // that CUPTI told of in its callbacks
  std::string first_error_;

  context_book contexts_;
};

/// The one.
collector& the_collector() noexcept;

}  // namespace varve::cupti

#endif  // VARVE_CUDA_CUPTI_COLLECTOR_HPP

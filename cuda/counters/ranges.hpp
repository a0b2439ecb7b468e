// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which ranges of the markers are counted, and what was counted in them.
#ifndef VARVE_CUDA_COUNTERS_RANGES_HPP
#define VARVE_CUDA_COUNTERS_RANGES_HPP

#include "counters/profiler.hpp"
#include "driver/driver.hpp"
#include "record/range_counter.hpp"

#include <atomic>
#include <charconv>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace varve::counters {

/// What a range is called where it is counted: its own name, since those of one name are counted together.
struct token_text {
  char text[24] = {};
  explicit token_text(std::uint64_t token) noexcept { std::to_chars(text, text + sizeof text - 1, token); }
};

/// A pass that is under way is owned by the thread that began it, and only that thread's ranges are told to
/// CUPTI; others are passed over, and take no lock.
class range_counter final : public record::range_counter {
 public:
  void start(const counter_options& options, const gpu_options& gpu) noexcept override;
  void stop() noexcept override;

  void begin(std::uint64_t token, int kind, const char* name) noexcept override;
  void end(std::uint64_t token) noexcept override;
  void abandon() noexcept override;

  bool hand_over(std::vector<record::counted_range>& counts) noexcept override;

  [[nodiscard]] std::vector<device_info> devices() const override;
  [[nodiscard]] std::vector<loss> losses() const override;
  [[nodiscard]] collector_status status() const override;

  void leave_to_parent() noexcept override;

 private:
  struct open_range {
    std::uint64_t token;
    bool is_pass;
    bool counted;
  };

  // Under the lock.
  void begin_pass(const char* name);
  void begin_inside(std::uint64_t token, int kind, const char* name);
  void end_pass();
  void unwind(std::size_t to);
  [[nodiscard]] bool wait();
  void push(open_range& r);
  void pop();
  [[nodiscard]] bool is_wanted(int kind, const char* name) const;
  [[nodiscard]] bool enable(cuda::context c);
  void keep(const profiler::outcome& found);
  void give_up(std::string why);

  functions call_{};
  std::atomic<bool> running_{false};
  std::atomic<bool> left_{false};
  std::atomic<bool> used_{false};
  std::atomic<std::uint64_t> busy_{0};  ///< ranges of other threads while a pass was counted
  std::atomic<std::thread::id> owner_{std::thread::id{}};  ///< set by itself, without the lock

  mutable std::mutex mutex_;  // guards what follows
  counter_options options_;
  std::uint32_t version_ = 0;
  std::string error_;
  std::unique_ptr<profiler> profiler_;
  std::unique_ptr<profiler> left_enabled_;  ///< of a session that stopped beside a capture
  cuda::context context_ = nullptr;
  std::uint32_t device_ = 0;
  std::map<std::string, std::size_t, std::less<>> turns_;  ///< by kind of pass: the next one's
  std::vector<open_range> open_;                           ///< of the owner
  bool counting_ = false;                                  ///< the pass that is under way
  bool whole_ = true;                                      ///< so far
  std::size_t turn_ = 0;
  std::size_t* next_turn_ = nullptr;  ///< of its kind of pass
  std::uint64_t captures_ = 0;        ///< of the process, when it began
  std::uint64_t pushed_ = 0;
  std::vector<record::counted_range> done_;
  std::vector<std::size_t> taken_;  ///< by turn: passes
  std::uint64_t passes_ = 0;
  std::uint64_t counted_ = 0;  ///< ranges
  std::uint64_t no_driver_ = 0;
  std::uint64_t no_context_ = 0;
  std::uint64_t other_context_ = 0;
  std::uint64_t failed_passes_ = 0;
  std::uint64_t beyond_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t not_kept_ = 0;
  std::uint64_t cut_ = 0;
  std::uint64_t captured_ = 0;
  std::string failure_;
};

}  // namespace varve::counters

#endif  // VARVE_CUDA_COUNTERS_RANGES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// CUPTI's range profiler in one context: passes whose ranges are counted, one turn of metrics each.
#ifndef VARVE_CUDA_COUNTERS_PROFILER_HPP
#define VARVE_CUDA_COUNTERS_PROFILER_HPP

#include "counters/metrics.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace varve::counters {

/// Not thread safe. Functions that fail say so in error().
class profiler {
 public:
  profiler(const functions& call, std::size_t most_ranges) noexcept
      : call_{call}, most_ranges_{most_ranges} {}
  profiler(const profiler&) = delete;
  profiler& operator=(const profiler&) = delete;

  /// Prepares to count on the device that `context` is of.
  [[nodiscard]] bool enable(cupti::context_handle context, std::uint32_t device, bool operations);
  /// Gives all back but what chip() and turns() say; nothing is to be started again.
  void disable() noexcept;

  [[nodiscard]] const std::string& chip() const noexcept { return chip_; }
  [[nodiscard]] const std::vector<turn>& turns() const noexcept { return turns_; }

  /// Ranges of a pass: less than was asked for where CUPTI had no room for so many.
  [[nodiscard]] std::size_t most_ranges() const noexcept { return most_ranges_; }

  /// What is pushed from now on is counted, by this turn's metrics; no more than most_ranges().
  [[nodiscard]] bool start(std::size_t turn);
  /// `name` is the range's own: those of one name are counted together.
  [[nodiscard]] bool push(const char* name) noexcept;
  [[nodiscard]] bool pop() noexcept;
  /// What was pushed since start(), once the device has done it; one value for each of the turn's counts.
  struct counted {
    std::string name;
    std::vector<double> values;
  };
  struct outcome {
    std::vector<counted> ranges;
    std::size_t dropped = 0;  ///< ranges, by CUPTI
  };
  [[nodiscard]] bool stop(outcome& to);
  /// Ends what start() began, its counts are lost.
  void cancel() noexcept;

  /// Of the last function that failed: cause and next step.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// Whether it would fail again.
  [[nodiscard]] bool is_final() const noexcept { return final_; }

 private:
  struct prepared {
    std::unique_ptr<host> metrics;  // null: not prepared yet
    std::vector<std::uint8_t> config;
    std::vector<std::uint8_t> image;
  };

  [[nodiscard]] bool check(result code, const char* function);
  void ask_availability();
  [[nodiscard]] result plan_turns(bool operations);
  [[nodiscard]] const std::uint8_t* availability() const noexcept;
  [[nodiscard]] bool acquire();
  void release() noexcept;
  [[nodiscard]] bool prepare(prepared& p, const turn& t);
  [[nodiscard]] bool try_to_start(std::size_t turn);
  [[nodiscard]] bool read(const prepared& p, const turn& t, std::vector<counted>& to);

  const functions& call_;
  std::size_t most_ranges_;
  cupti::context_handle context_ = nullptr;
  profiler_object object_ = nullptr;
  std::vector<std::uint8_t> availability_;
  std::string chip_;
  std::vector<turn> turns_;
  std::vector<prepared> prepared_;
  std::size_t turn_ = 0;
  bool started_ = false;
  std::thread::id open_on_{};      ///< where a range is open: by this thread
  result code_ = result::success;  ///< with error_
  std::string error_;
  bool final_ = false;
};

}  // namespace varve::counters

#endif  // VARVE_CUDA_COUNTERS_PROFILER_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The built-in source of counts: what devices do in ranges. Implemented in cuda/, which sees this interface
// and is seen by nobody.
#ifndef VARVE_RECORD_RANGE_COUNTER_HPP
#define VARVE_RECORD_RANGE_COUNTER_HPP

#include <varve/session.hpp>
#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve::record {

/// Beside those of varve.h: ranges are told to the range_counter.
inline constexpr std::uint32_t state_counting = 16;

/// What a device counted in a range: `count.range` is not set.
struct counted_range {
  std::uint64_t token = 0;
  range_count count;
};

class range_counter {
 public:
  virtual ~range_counter();

  /// Begins, as soon as a pass begins where CUDA is in use. Where it cannot, status() says why.
  virtual void start(const counter_options& options, const gpu_options& gpu) noexcept = 0;
  /// Ends it. A pass that is under way is not counted.
  virtual void stop() noexcept = 0;

  /// On the engine's threads, while it runs: a range has begun, and will end. The first thread that begins a
  /// pass counts until that ends; what others mark meanwhile is not counted. Waits for the GPU where a pass
  /// or a counted range begins and ends, and for nothing else.
  virtual void begin(std::uint64_t token, int kind, const char* name) noexcept = 0;
  virtual void end(std::uint64_t token) noexcept = 0;
  /// The calling thread ends: so do its ranges.
  virtual void abandon() noexcept = 0;

  /// Moves the counts since the last call behind those in `counts`. False, and nothing moved, while a pass or
  /// a range in it begins or ends: it may have some next time. Thread safe.
  virtual bool hand_over(std::vector<counted_range>& counts) noexcept = 0;

  [[nodiscard]] virtual std::vector<device_info> devices() const = 0;
  [[nodiscard]] virtual std::vector<loss> losses() const = 0;
  [[nodiscard]] virtual collector_status status() const = 0;

  /// In a forked child: all is the parent's.
  virtual void leave_to_parent() noexcept = 0;
};

/// There is one, for as long as the process.
range_counter& built_in_counter() noexcept;

}  // namespace varve::record

#endif  // VARVE_RECORD_RANGE_COUNTER_HPP

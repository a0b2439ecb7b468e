// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a session reads at intervals, on a thread of its own.
#ifndef VARVE_RECORD_GAUGES_HPP
#define VARVE_RECORD_GAUGES_HPP

#include <varve/session.hpp>
#include <varve/trace.hpp>

#include "record/clock.hpp"

#include <memory>
#include <vector>

namespace varve::record {

/// For one session, in the process that started it: a forked child calls nothing but the destructor, which
/// then leaves everything to the parent.
class gauge_sampler {
 public:
  gauge_sampler() noexcept;
  gauge_sampler(const gauge_sampler&) = delete;
  gauge_sampler& operator=(const gauge_sampler&) = delete;
  ~gauge_sampler();

  /// Takes the first reading of the process and starts the thread. `devices`: read theirs too. Where there is
  /// no memory or no thread, the status says so.
  void start(const gauge_options& options, bool devices) noexcept;
  /// Takes the last readings and ends the thread; waits for a reading that is under way.
  void stop() noexcept;

  /// The readings so far, by time. Thread safe, as what follows.
  void add_to(trace& t, const clock_mapping& clock) const;
  /// Forgets the readings until that time, but for the last of each gauge, which hold on.
  void forget_until(time_ns end, const clock_mapping& clock) noexcept;
  /// Of what was asked for.
  [[nodiscard]] std::vector<collector_status> status() const;
  [[nodiscard]] std::vector<loss> losses() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace varve::record

#endif  // VARVE_RECORD_GAUGES_HPP

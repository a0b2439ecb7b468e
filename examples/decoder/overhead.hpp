// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What recording costs an engine: the same decode passes without and with it, by turns.
#ifndef DECODER_OVERHEAD_HPP
#define DECODER_OVERHEAD_HPP

#include "backend.hpp"
#include "generator.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace decoder {

enum class recorder : std::uint8_t {
  never,         ///< no session was there yet in this process
  off,           ///< no session
  markers,       ///< a session that leaves the GPU alone
  everything,    ///< a session as it is by default
  added_up,      ///< the same, whose report goes on while records are thrown away
  whole_graphs,  ///< one record for a graph's launch
};

/// Seconds of one decode pass, of each repetition.
struct overhead_row {
  launch_mode mode = launch_mode::eager;
  recorder with = recorder::off;
  std::vector<double> host;
  std::vector<double> device;
  double attributed =
      0;  ///< share of the GPU time that belongs to a layer, at least; 0: nothing was recorded
  std::vector<double> kernels{};         ///< seconds in which the device ran any, as recorded
  std::vector<double> overhead_ratio{};  ///< wall ÷ busy of the decode passes, as recorded
  std::vector<double> seconds{};         ///< of all decode passes of a repetition
  std::string missing{};                 ///< what is not in a report, and why
};

/// The device hardly waits for the host in passes whose overhead ratio is at most this.
inline constexpr double most_of_gpu_bound = 1.1;

/// The middle one, or the mean of the middle two; 0 of none.
[[nodiscard]] double median(std::vector<double> values);

/// Warms up, then runs `repetitions` of each recorder by turns, eager and replayed; first those before any
/// session.
[[nodiscard]] std::vector<overhead_row> measure_overhead(backend& device, const model_config& config,
                                                         const std::vector<token_list>& prompts,
                                                         std::int64_t tokens, std::int64_t repetitions,
                                                         std::uint64_t seed);

/// Medians, their ratios to no session, how far host times lie apart, and whether the device's ratio tells
/// how much longer kernels take (passes that are GPU-bound as recorded), or what launching costs. At the end
/// each aim of what recording may cost: PASS; FAIL, missed by more than times lie apart; or OPEN.
[[nodiscard]] std::string to_table(const std::vector<overhead_row>& rows);

}  // namespace decoder

#endif  // DECODER_OVERHEAD_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The engine with a session around it: one that times, and one that counts.
#ifndef DECODER_PROFILE_HPP
#define DECODER_PROFILE_HPP

#include "backend.hpp"
#include "config.hpp"
#include "generator.hpp"

#include <varve/varve.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace decoder {

/// What the engine does, whichever session is around it.
struct workload {
  model_config model;
  std::vector<token_list> prompts;
  std::int64_t tokens = 1;  ///< generated for each prompt
  std::int64_t repeat = 1;  ///< times that the prompts are answered, each time anew
  std::uint64_t seed = 1;   ///< of the weights
};

struct profiled_run {
  std::vector<token_list> tokens;     ///< of the last answers
  std::optional<varve::trace> trace;  ///< none where no session was to be had, as where another one records
  std::string refusal;                ///< why there is none
};

/// Loads the engine, warms it up and lets it answer. It does so without a session, too.
[[nodiscard]] profiled_run profile(backend& device, const workload& w, launch_mode mode);

/// The passes of one kind that it takes to count all quantities: of the chips in docs/counters.md at most so
/// many sets of metrics take turns.
constexpr std::int64_t most_turns = 11;

/// Counts in passes like those of profile(), launched one by one, at least `most_turns` of each kind that
/// there is. Loading and warming up are not in it. Does nothing where no session is to be had.
[[nodiscard]] profiled_run count(backend& device, const workload& w);

[[nodiscard]] varve::report report_of(varve::trace trace, const model_config& model, varve::dtype type,
                                      const varve::analyze_options& analysis);

/// What a report of count() says of the counting, and of what was lost, a line each.
struct counting {
  bool any = false;  ///< something was counted
  std::vector<std::string> said;
};
[[nodiscard]] counting counting_of(const varve::report& counted);

}  // namespace decoder

#endif  // DECODER_PROFILE_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef DECODER_OPTIONS_HPP
#define DECODER_OPTIONS_HPP

#include "config.hpp"

#include <varve/work.hpp>

#include <cstdint>
#include <string>

namespace decoder {

extern const char* const usage;

struct options {
  model_config model;
  std::int64_t prompt = 128;  ///< tokens of each prompt
  std::int64_t tokens = 48;   ///< generated for each prompt
  std::int64_t batch = 4;     ///< sequences
  std::int64_t seed = 1;
  std::int64_t repeat = 1;                ///< times that the prompts are answered
  bool cuda = false;                      ///< on a GPU, else on the processor
  varve::dtype type = varve::dtype::f32;  ///< in which numbers are stored
  std::int64_t overhead = 0;              ///< repetitions of the overhead table; 0: tokens and reports
  bool eager = true;
  bool graphs = true;
  bool counters = false;  ///< count in a run of its own, for the reports
  bool help = false;
  std::string json;    ///< path for the report as JSON; none when empty
  std::string trace;   ///< path for the trace as Chrome JSON; none when empty
  std::string device;  ///< whose ceilings count: a name, or a JSON file; empty: not known
};

/// Throws std::invalid_argument, which names the flag and what is wrong with it.
options parse_options(int argc, const char* const* argv);

}  // namespace decoder

#endif  // DECODER_OPTIONS_HPP

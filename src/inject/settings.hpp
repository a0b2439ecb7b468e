// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What `varve run` asks of the injected library, from the environment.
#ifndef VARVE_INJECT_SETTINGS_HPP
#define VARVE_INJECT_SETTINGS_HPP

#include "inject/model_text.hpp"

#include <varve/io.hpp>
#include <varve/session.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace varve::inject {

struct settings {
  std::string folder;
  std::size_t memory = session_options{}.trace_memory;
  std::chrono::milliseconds interval{1000};  ///< 0: no snapshots
  std::vector<naming_rule> rules;
  analyze_options analysis;
  std::optional<model_description> description;  ///< which tells work
  counter_options counters;
  bool traced = false;                                ///< the trace is wanted too
  std::optional<log_level> log = log_level::warning;  ///< nothing: silence
};

/// Nothing where the process does not run under `varve run`. What makes no sense is left at its default.
std::optional<settings> read_settings();

/// One line on standard error, where the settings ask for that much. Allocates nothing.
void say(log_level level, std::string_view text) noexcept;

}  // namespace varve::inject

#endif  // VARVE_INJECT_SETTINGS_HPP

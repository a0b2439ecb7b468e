// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/settings.hpp"

#include "inject/counters_text.hpp"
#include "inject/device_text.hpp"
#include "inject/variables.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace varve::inject {

namespace {

constexpr int silent = 3;
std::atomic<int> least_level{static_cast<int>(log_level::warning)};

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// A number up to `most` in the variable, or nothing.
std::optional<std::uint32_t> number_in(const char* name, std::uint32_t most) {
  const std::string_view text = variable(name);
  std::uint32_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = !text.empty() && fault == std::errc{} && end == text.data() + text.size();
  return whole && value <= most ? std::optional{value} : std::nullopt;
}

std::vector<naming_rule> rules_in(std::string_view text) {
  std::vector<naming_rule> out;
  while (!text.empty()) {
    std::string_view one = text.substr(0, text.find(rule_end));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t end = one.find(field_end);
    if (one.size() < 2 || end == std::string_view::npos) {
      continue;
    }
    naming_rule rule;
    rule.as = one[0] == 'p'   ? naming_rule::kind::phase
              : one[0] == 'l' ? naming_rule::kind::layer
                              : naming_rule::kind::ignore;
    rule.pattern = one.substr(1, end - 1);
    rule.name = one.substr(end + 1);
    out.push_back(std::move(rule));
  }
  return out;
}

std::optional<log_level> level_in(std::string_view text) {
  return text == "info"    ? std::optional{log_level::info}
         : text == "error" ? std::optional{log_level::error}
         : text == "off"   ? std::nullopt
                           : std::optional{log_level::warning};
}

std::optional<model_description> description_in(const std::string& folder) {
  std::ifstream in{folder + '/' + model_file, std::ios::binary};
  if (!in) {
    return std::nullopt;
  }
  auto out = model_in(std::string{std::istreambuf_iterator<char>{in}, {}});
  if (!out) {
    say(log_level::error, "the model's description cannot be read: the report lacks the work that it tells");
  }
  return out;
}

}  // namespace

std::optional<settings> read_settings() {
  settings out;
  out.folder = variable(folder_variable);
  if (out.folder.empty() || out.folder.front() != '/') {
    return std::nullopt;
  }
  constexpr std::uint32_t most_mebibytes = 1U << 20U;
  if (const auto mebibytes = number_in(memory_variable, most_mebibytes)) {
    out.memory = std::size_t{*mebibytes} << 20U;
  }
  constexpr std::uint32_t day = 24 * 3600 * 1000;
  if (const auto interval = number_in(interval_variable, day)) {
    out.interval = std::chrono::milliseconds{*interval};
  }
  out.rules = rules_in(variable(rules_variable));
  const std::string_view analysis = variable(analysis_variable);
  out.analysis.by_batch = analysis.find("by-batch") != std::string_view::npos;
  out.analysis.steady = analysis.find("steady") != std::string_view::npos;
  out.analysis.ceilings = device_in(variable(device_variable));
  out.analysis.clock = clock_in(variable(clock_variable));
  out.counters = counters_in(variable(counters_variable)).value_or(counter_options{});
  out.traced = variable(trace_variable) == "1";
  out.log = level_in(variable(log_variable));
  least_level = out.log ? static_cast<int>(*out.log) : silent;
  out.description = description_in(out.folder);
  return out;
}

void say(log_level level, std::string_view text) noexcept {
  if (static_cast<int>(level) < least_level.load(std::memory_order_relaxed)) {
    return;
  }
  const auto part = [](std::string_view piece) {
    return iovec{const_cast<char*>(piece.data()), piece.size()};
  };
  const iovec line[] = {part("varve: "), part(text), part("\n")};
  static_cast<void>(::writev(STDERR_FILENO, line, 3));  // one line, whatever other threads write
}

}  // namespace varve::inject

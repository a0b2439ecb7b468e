// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How options are read, and those that several commands have. Seen by the three sources of the command
// line alone, since CLI11 takes long to compile.
#ifndef VARVE_CLI_OPTIONS_HPP
#define VARVE_CLI_OPTIONS_HPP

#include "cli/arguments.hpp"
#include "cli/values.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace varve::cli {

template <class T>
using choices = std::vector<std::pair<const char*, T>>;

/// "layer, label or phase".
template <class T>
std::string list_of(const choices<T>& all) {
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") + std::string{all[i].first};
  }
  return out;
}

/// An option whose value is read by `of`, which gives nothing for a text that is `wrong`.
template <class T, class Read>
CLI::Option* add_option(CLI::App& app, const char* name, T& to, const char* type, const std::string& help,
                        const std::string& wrong, Read of) {
  const auto read = [&to, of, wrong, name](const std::string& text) {
    const auto value = of(text);
    if (!value) {
      throw CLI::ValidationError(name, "\"" + text + "\" is " + wrong);
    }
    to = *value;
  };
  return app.add_option_function<std::string>(name, read, help)->type_name(type);
}

template <class T>
void add_choice(CLI::App& app, const char* name, T& to, const choices<T>& all, const char* type,
                const std::string& help) {
  add_option(app, name, to, type, help + list_of(all) + "; default " + all.front().first,
             "none of " + list_of(all), [&all](const std::string& text) {
               const auto found = std::find_if(all.begin(), all.end(),
                                               [&](const auto& choice) { return choice.first == text; });
               return found != all.end() ? std::optional<T>{found->second} : std::nullopt;
             });
}

/// What rows tables have.
void add_view_options(CLI::App& app, report_arguments& out);
/// How uneven routers of experts are taken to be.
CLI::Option* add_expert_option(CLI::App& app, work_options& to);
void add_rules(CLI::App& app, std::vector<naming_rule>& to);
/// How traces are analyzed.
void add_analysis_options(CLI::App& app, report_arguments& out);
/// What else the replays of graphs tell.
void add_capture_options(CLI::App& app, report_arguments& out);
/// What the devices can do, and where the table goes.
void add_common_options(CLI::App& app, report_arguments& out, const std::string& default_device);
void add_clock_option(CLI::App& app, report_arguments& out);

void add_counting_options(CLI::App& app, run_arguments& out);
void add_options(CLI::App& app, diff_arguments& out);
void add_options(CLI::App& save, CLI::App& list, baseline_arguments& out);
void add_options(CLI::App& app, check_arguments& out);
void add_options(CLI::App& app, budget_arguments& out);

}  // namespace varve::cli

#endif  // VARVE_CLI_OPTIONS_HPP

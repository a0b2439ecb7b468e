// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/predict.hpp"

#include "cli/output.hpp"
#include "cli/report.hpp"
#include "device/gpus.hpp"
#include "trace/pipe_names.hpp"

#include <varve/io.hpp>
#include <varve/work_formulas.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace varve::cli {

namespace {

std::string amount(std::int64_t bytes) {
  char text[64];
  const auto n = static_cast<double>(bytes);
  const auto [unit, name] = n >= 999.5e6   ? std::pair{1e9, "GB"}
                            : n >= 999.5e3 ? std::pair{1e6, "MB"}
                            : n >= 999.5   ? std::pair{1e3, "kB"}
                                           : std::pair{1.0, "B"};
  std::snprintf(text, sizeof text, unit < 1e9 ? "%.3g %s" : "%.1f %s", n / unit, name);
  return text;
}

std::string billions(std::int64_t n) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f billion", static_cast<double>(n) / 1e9);
  return text;
}

/// How quantised weights meet their factors: " (fp8, multiplied as FP8)". What else their pipe counts as
/// where the device has no rate for it is told below the table.
std::string quantisation_of(const model& m, const ceilings& device) {
  if (m.quantisation.empty()) {
    return {};
  }
  const math_pipe pipe = pipe_of(m.factors, m.factors);
  return " (" + m.quantisation +
         (device.peak(pipe) > 0
              ? std::string{", multiplied as "} + dtype_names[static_cast<std::size_t>(m.factors)]
              : std::string{", for "} + pipe_names[static_cast<std::size_t>(pipe)] + ", which " +
                    device.name + " has no rate for") +
         ')';
}

/// Where the table of GPUs says that a device's memory is smaller. Of another's, described by a file, it is
/// not known.
std::string told_if_too_large(std::int64_t bytes, const std::string& name) {
  constexpr double gibi = 1024.0 * 1024 * 1024;
  for (const device::gpu_list& all : {device::datacentre_gpus(), device::other_gpus()}) {
    for (const device::gpu& g : all) {
      if (g.name == name && g.memory.gib > 0 && static_cast<double>(bytes) > g.memory.gib * gibi) {
        char text[64];
        std::snprintf(text, sizeof text, "%.3g GiB", g.memory.gib);
        return "; " + amount(bytes) + " do not fit the " + text + " of " + name;
      }
    }
  }
  return {};
}

/// A learned table of positions has no row for tokens beyond it, where rotary ones only get worse.
std::string told_if_beyond_positions(const model& m, std::int64_t context) {
  return m.positions > 0 && context > m.positions
             ? "; the model cannot run them: its table of positions has " + std::to_string(m.positions) +
                   " rows"
             : std::string{};
}

/// The option that makes most of a pass.
std::string largest_of(const predict_arguments& asked) {
  const std::array<std::pair<std::int64_t, const char*>, 3> sizes{{{asked.tokens, "--tokens "},
                                                                   {asked.context.value_or(0), "--context "},
                                                                   {asked.sequences, "--sequences "}}};
  const auto& [size, name] = *std::max_element(sizes.begin(), sizes.end());
  return name + std::to_string(size);
}

void write(const std::string& path, const std::string& text) {
  if (path.empty()) {
    write_standard_output(text);
  } else {
    write_file(path, text);
  }
}

}  // namespace

int run(const predict_arguments& asked) {
  const report_arguments& how = asked.report;
  model m;
  try {
    m = read_model(asked.model);
  } catch (const error& e) {
    complain(e.what());
    return unreadable;
  }
  try {
    m = tensor_parallel(m, asked.ranks);
  } catch (const std::invalid_argument& e) {
    complain(std::string{"--tensor-parallel: "} + e.what());
    return usage;
  }
  const ceilings device = at_clock(*how.analysis.ceilings, how.analysis.clock);
  const pass_sequence one{asked.tokens, asked.context.value_or(asked.tokens), asked.tokens == 1};
  const std::vector<pass_sequence> batch(static_cast<std::size_t>(asked.sequences), one);
  trace at_roof;
  try {
    at_roof = roof_trace(m, batch, device, asked.work);
  } catch (const std::invalid_argument& e) {
    complain(std::string{"--device: "} + e.what());
    return usage;
  } catch (const std::overflow_error& e) {
    complain(largest_of(asked) + ": " + e.what());
    return usage;
  }
  const report r = analyze(at_roof, how.analysis);
  if (how.json) {
    write(how.output, to_json(r) + '\n');
    return success;
  }
  const std::int64_t cache = sizes::product(asked.sequences, kv_bytes(m, one.context));
  const std::string text =
      m.name + (m.ranks > 1 ? ", one of " + std::to_string(m.ranks) + " ranks: " : ": ") +
      billions(count_parameters(m).total) + " parameters, weights " + amount(weight_bytes(m)) +
      quantisation_of(m, device) + ", KV cache " + amount(cache) + " for " + std::to_string(asked.sequences) +
      (asked.sequences == 1 ? " sequence of " : " sequences of ") + std::to_string(one.context) + " tokens" +
      told_if_beyond_positions(m, one.context) +
      told_if_too_large(sizes::sum(weight_bytes(m), cache), device.name) + "\n\n";
  write(how.output, text + to_table(r, table_of(how, STDOUT_FILENO)));
  return success;
}

}  // namespace varve::cli

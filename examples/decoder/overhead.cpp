// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "overhead.hpp"

#include <varve/varve.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <stdexcept>

namespace decoder {

namespace {

std::optional<varve::session> start(recorder with) {
  if (with == recorder::never || with == recorder::off) {
    return std::nullopt;
  }
  varve::session_options options;
  options.gpu.enabled = with != recorder::markers;
  options.gpu.whole_graphs = with == recorder::whole_graphs;
  std::optional<varve::session> session{std::in_place, options};
  if (!*session) {
    throw std::runtime_error{"no session: " + session->status().error};
  }
  return session;
}

void run_once(generator& engine, const std::vector<token_list>& prompts, std::int64_t tokens,
              overhead_row& row) {
  std::optional<varve::session> session = start(row.with);
  engine.forget_capture();
  engine.time_decode_passes();
  engine.generate(prompts, tokens);
  const pass_times& times = engine.decode_times();
  row.host.push_back(times.host / static_cast<double>(times.passes));
  row.device.push_back(times.device / static_cast<double>(times.passes));
  if (session && row.with != recorder::markers) {
    const double attributed = varve::analyze(session->stop()).quality.attributed;
    row.attributed = row.host.size() == 1 ? attributed : std::min(row.attributed, attributed);
  }
}

const char* name_of(recorder with) {
  switch (with) {
    case recorder::never:
      return "off, before any session";
    case recorder::off:
      return "off";
    case recorder::markers:
      return "markers only";
    case recorder::everything:
      return "everything";
    case recorder::whole_graphs:
      return "graphs as a whole";
  }
  return "";
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.empty() ? 0 : values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<overhead_row> measure_overhead(backend& device, const model_config& config,
                                           const std::vector<token_list>& prompts, std::int64_t tokens,
                                           std::int64_t repetitions, std::uint64_t seed) {
  if (tokens < 2) {
    throw std::invalid_argument{"the overhead is that of decode passes: ask for 2 --tokens or more"};
  }
  engine_limits limits{static_cast<std::int64_t>(prompts.size()), 0, 0};
  for (const token_list& prompt : prompts) {
    limits.rows += static_cast<std::int64_t>(prompt.size());
    limits.context = std::max(limits.context, static_cast<std::int64_t>(prompt.size()) + tokens);
  }
  std::vector<overhead_row> rows;
  const auto add = [&](launch_mode mode, recorder with) { rows.push_back({mode, with, {}, {}, 0}); };
  for (const recorder with : {recorder::never, recorder::off, recorder::markers, recorder::everything}) {
    add(launch_mode::eager, with);
  }
  for (const recorder with :
       {recorder::never, recorder::off, recorder::markers, recorder::everything, recorder::whole_graphs}) {
    add(launch_mode::graphs, with);
  }
  generator eager{device, config, limits, launch_mode::eager, seed};
  generator replayed{device, config, limits, launch_mode::graphs, seed};
  eager.warm_up();
  replayed.warm_up();
  for (const bool before : {true, false}) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      for (overhead_row& row : rows) {
        if ((row.with == recorder::never) == before) {
          run_once(row.mode == launch_mode::eager ? eager : replayed, prompts, tokens, row);
        }
      }
    }
  }
  return rows;
}

std::string to_table(const std::vector<overhead_row>& rows) {
  std::string out =
      "decode passes, in µs     recorder                    host   ratio  spread    device   ratio  "
      "attributed\n";
  for (const overhead_row& row : rows) {
    if (row.host.empty()) {
      continue;
    }
    const auto off = std::find_if(rows.begin(), rows.end(), [&](const overhead_row& r) {
      return r.mode == row.mode && r.with == recorder::off;
    });
    const double host = median(row.host);
    const double device = median(row.device);
    const auto ratio = [&](double value, const std::vector<double> overhead_row::*what) {
      const double base = off == rows.end() ? 0 : median((*off).*what);
      return base > 0 ? value / base : 0;
    };
    const auto [least, most] = std::minmax_element(row.host.begin(), row.host.end());
    const double spread = host > 0 ? (*most - *least) / host : 0;
    std::array<char, 200> line{};
    std::snprintf(line.data(), line.size(), "%-24s %-23s %8.1f  %6.4f  %5.1f %%  %8.1f  %6.4f",
                  row.mode == launch_mode::eager ? "launched one by one" : "replayed as graphs",
                  name_of(row.with), host * 1e6, ratio(host, &overhead_row::host), spread * 100, device * 1e6,
                  ratio(device, &overhead_row::device));
    out += line.data();
    if (row.attributed > 0) {
      std::snprintf(line.data(), line.size(), "  %8.3f %%", row.attributed * 100);
      out += line.data();
    }
    out += '\n';
  }
  return out +
         "Ratios are to off. Device times are from the first kernel of a pass to the last, by its own "
         "events.\n";
}

}  // namespace decoder

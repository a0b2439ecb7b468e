// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "overhead.hpp"

#include <varve/varve.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <stdexcept>

namespace decoder {

namespace {

constexpr std::chrono::milliseconds warm_up{500};
// Much shorter than it is by default, so that it shows, and comes several times in a repetition on a fast
// GPU.
constexpr varve::time_ns adding_period = 5'000'000;

/// By the host's clock.
struct aim {
  launch_mode mode;
  recorder with;
  double most;  ///< share of a decode pass
};
constexpr aim aims[] = {{launch_mode::eager, recorder::markers, 0.002},
                        {launch_mode::graphs, recorder::markers, 0.002},
                        {launch_mode::eager, recorder::everything, 0.05},
                        {launch_mode::graphs, recorder::whole_graphs, 0.02}};

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

/// What keeps kernels out of a report that should have all, or nothing.
std::string missing_in(const varve::report& r, bool has_decode) {
  if (has_decode && r.quality.unmatched == 0) {
    return {};
  }
  std::string out = (has_decode ? "" : "no kernels in decode passes, ") +
                    std::to_string(r.quality.unmatched) + " of " + std::to_string(r.quality.activities) +
                    " activities belong to no call";
  for (const varve::collector_status& one : r.quality.collectors) {
    if (one.name == "cupti" && one.detail.find("graph launches may carry wrong ids") != std::string::npos) {
      out +=
          " (CUPTI before CUDA 13.1 Update 1 gives launches of graphs wrong ids in sessions after a "
          "process's "
          "first)";
    }
  }
  return out;
}

void run_once(generator& engine, const std::vector<token_list>& prompts, std::int64_t tokens,
              overhead_row& row) {
  std::optional<varve::session> session = start(row.with);
  std::optional<varve::running_report> running;
  if (row.with == recorder::added_up) {
    running.emplace(*session, varve::running_options{adding_period, {}});
  }
  engine.forget_capture();
  engine.time_decode_passes();
  engine.generate(prompts, tokens);
  const pass_times& times = engine.decode_times();
  row.host.push_back(times.host / static_cast<double>(times.passes));
  row.device.push_back(times.device / static_cast<double>(times.passes));
  row.seconds.push_back(times.host);
  if (session && row.with != recorder::markers) {
    const varve::report report = running ? running->stop() : varve::analyze(session->stop());
    const double attributed = report.quality.attributed;
    row.attributed = row.host.size() == 1 ? attributed : std::min(row.attributed, attributed);
    const auto decode = std::find_if(report.phases.begin(), report.phases.end(), [](const auto& p) {
      return p.phase == "decode" && p.passes > 0 && p.partition.busy() > 0;
    });
    if (decode != report.phases.end()) {
      row.kernels.push_back(static_cast<double>(decode->partition.compute) * 1e-9 /
                            static_cast<double>(decode->passes));
      row.overhead_ratio.push_back(decode->overhead_ratio());
    }
    if (const std::string missing = missing_in(report, decode != report.phases.end()); !missing.empty()) {
      row.missing = missing;
    }
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
    case recorder::added_up:
      return "added up every 5 ms";
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
  const engine_limits limits = limits_for(prompts, tokens);
  std::vector<overhead_row> rows;
  const auto add = [&](launch_mode mode, recorder with) { rows.push_back({mode, with, {}, {}, 0}); };
  for (const launch_mode mode : {launch_mode::eager, launch_mode::graphs}) {
    for (const recorder with :
         {recorder::never, recorder::off, recorder::markers, recorder::everything, recorder::added_up}) {
      add(mode, with);
    }
  }
  add(launch_mode::graphs, recorder::whole_graphs);
  generator eager{device, config, limits, launch_mode::eager, seed};
  generator replayed{device, config, limits, launch_mode::graphs, seed};
  eager.warm_up();
  replayed.warm_up();
  // Clocks rise with load: what ran first would be measured at lower ones.
  using clock = std::chrono::steady_clock;
  for (const clock::time_point end = clock::now() + warm_up; clock::now() < end;) {
    eager.generate(prompts, tokens);
    replayed.generate(prompts, tokens);
  }
  for (const bool before : {true, false}) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(repetitions); ++i) {
      for (std::size_t j = 0; j < rows.size(); ++j) {
        overhead_row& row = rows[(i + j) % rows.size()];  // each begins a round
        if ((row.with == recorder::never) == before) {
          run_once(row.mode == launch_mode::eager ? eager : replayed, prompts, tokens, row);
        }
      }
    }
  }
  return rows;
}

namespace {

const overhead_row* row_of(const std::vector<overhead_row>& rows, launch_mode mode, recorder with) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const overhead_row& r) {
    return r.mode == mode && r.with == with && !r.host.empty();
  });
  return found != rows.end() ? &*found : nullptr;
}

/// From the least to the most, in medians.
double spread(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double middle = median(values);
  return middle > 0 ? (*most - *least) / middle : 0;
}

template <class... Values>
std::string text(const char* format, Values... values) {
  std::array<char, 400> line{};
  std::snprintf(line.data(), line.size(), format, values...);
  return line.data();
}

const char* name_of(launch_mode mode) {
  return mode == launch_mode::eager ? "launched one by one" : "replayed as graphs";
}

/// What the device's ratio says: of passes that wait for launches, nothing about kernels.
std::string dilation(const std::vector<overhead_row>& rows, launch_mode mode) {
  const overhead_row* const off = row_of(rows, mode, recorder::off);
  const overhead_row* const on = row_of(rows, mode, recorder::everything);
  if (off == nullptr || on == nullptr || on->overhead_ratio.empty()) {
    return "";
  }
  const double ratio = median(on->overhead_ratio);
  const bool gpu_bound = ratio <= most_of_gpu_bound;
  std::string out = text("%s: %s as recorded, wall / busy %.2f", name_of(mode),
                         gpu_bound ? "GPU-bound" : "launch-bound", ratio);
  if (!gpu_bound) {
    return out +
           ". The device waits for launches: its ratio is what recording costs these, no dilation of "
           "kernels. "
           "Larger batches are GPU-bound.\n";
  }
  const double span = median(off->device);
  const double longest = *std::max_element(off->device.begin(), off->device.end());
  const double shortest = *std::min_element(on->kernels.begin(), on->kernels.end());
  out += text(
      ". The device hardly waits: its ratio, %.4f with everything, is the dilation of kernels and of what "
      "lies "
      "between; its times spread by %.1f %% without a session, by %.1f %% with. ",
      span > 0 ? median(on->device) / span : 0, spread(off->device) * 100, spread(on->device) * 100);
  return out + (shortest > longest
                    ? text("Kernels alone take at least %.4f times as long.\n", median(on->kernels) / span)
                    : "That kernels alone take longer does not show: the shortest recorded ones fit into the "
                      "longest time without a session.\n");
}

/// What nobody sees in the table.
std::string notes(const std::vector<overhead_row>& rows) {
  std::string out;
  for (const overhead_row& row : rows) {
    const std::string of = text("%s, %s: ", name_of(row.mode), name_of(row.with));
    if (row.with == recorder::added_up && !row.seconds.empty()) {
      out += of + text("up to %.0f times in a repetition\n", median(row.seconds) / (adding_period * 1e-9));
    }
    if (!row.missing.empty()) {
      out += of + row.missing + '\n';
    }
  }
  return out;
}

std::string judged(const std::vector<overhead_row>& rows, const aim& a) {
  const overhead_row* const off = row_of(rows, a.mode, recorder::off);
  const overhead_row* const on = row_of(rows, a.mode, a.with);
  if (off == nullptr || on == nullptr || median(off->host) <= 0) {
    return "";
  }
  const double cost = median(on->host) / median(off->host) - 1;
  const double apart = std::max(spread(off->host), spread(on->host));
  const char* const verdict = cost > a.most + apart               ? "FAIL"
                              : cost <= a.most && apart <= a.most ? "PASS"
                                                                  : "OPEN";
  return text(
      "%s  %s, %s: costs %.2f %% of a decode pass, the aim is at most %.1f %%; times lie %.2f %% apart\n",
      verdict, name_of(a.mode), name_of(a.with), cost * 100, a.most * 100, apart * 100);
}

}  // namespace

std::string to_table(const std::vector<overhead_row>& rows) {
  std::string out =
      "decode passes, in µs     recorder                    host   ratio  spread    device   ratio   kernels"
      "  wall/busy  attributed\n";
  for (const overhead_row& row : rows) {
    if (row.host.empty()) {
      continue;
    }
    const overhead_row* const off = row_of(rows, row.mode, recorder::off);
    const double host = median(row.host);
    const double device = median(row.device);
    const auto ratio = [&](double value, const std::vector<double> overhead_row::*what) {
      const double base = off == nullptr ? 0 : median(off->*what);
      return base > 0 ? value / base : 0;
    };
    out += text("%-24s %-23s %8.1f  %6.4f  %5.1f %%  %8.1f  %6.4f", name_of(row.mode), name_of(row.with),
                host * 1e6, ratio(host, &overhead_row::host), spread(row.host) * 100, device * 1e6,
                ratio(device, &overhead_row::device));
    if (!row.kernels.empty()) {
      out += text("  %8.1f  %9.2f  %8.3f %%", median(row.kernels) * 1e6, median(row.overhead_ratio),
                  row.attributed * 100);
    }
    out += '\n';
  }
  out +=
      "Ratios are to off. Device times are from the first kernel of a pass to the last, by its own "
      "events; kernels are those recorded (or whole graphs, where these are).\n" +
      dilation(rows, launch_mode::eager) + dilation(rows, launch_mode::graphs) + notes(rows);
  for (const aim& a : aims) {
    out += judged(rows, a);
  }
  return out;
}

}  // namespace decoder

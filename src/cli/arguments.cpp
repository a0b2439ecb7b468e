// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/arguments.hpp"

#include <varve/varve.h>

#include <CLI/CLI.hpp>

#include <cmath>
#include <map>
#include <sstream>

namespace varve::cli {

namespace {

constexpr const char* codes = R"(Exit codes:
  0  all is well
  1  a file could not be read or is no trace; the others are reported all the same
  2  the command line is wrong
  3  the output could not be written)";

constexpr const char* terms = R"(Terms, and what other tools call them:
  GPU time      time in which work of the row ran on the device; work that overlaps counts once
  kernel time   sum of the kernels' durations (torch "CUDA total", exclusive "Self CUDA"; nsys "Total Time");
                shown where it differs
  cum %         share of this row and of its siblings above it
  launch (CPU)  host time inside calls that launch (nsys: cudaLaunchKernel in the API summary)
  queue delay   from a launching call's end to its kernel's begin (nsys "Queue")
  overhead      wall ÷ time in which the device was busy
  GPU span      first to last device event, what other tools take idle time from
  starved       device idle, nothing submitted: it waits for the host (HTA "host wait")
  device gap    device idle although work was submitted (HTA "kernel wait")
  exposed       communication or copies that no compute hides
Rows under 1 % of their phase's GPU time are counted in one line: --fold 0 shows them.)";

std::string version_text() {
  const int v = varve_version();
  return "varve " + std::to_string(v / 10000) + '.' + std::to_string(v / 100 % 100) + '.' +
         std::to_string(v % 100);
}

/// "20ms" as nanoseconds.
std::optional<time_ns> duration_of(const std::string& text) {
  static const std::map<std::string, double> units{{"ns", 1},   {"us", 1e3}, {"µs", 1e3},
                                                   {"ms", 1e6}, {"s", 1e9},  {"min", 60e9}};
  std::istringstream in{text};
  in.imbue(std::locale::classic());
  double value = 0;
  std::string unit;
  in >> value >> unit;
  const auto found = units.find(unit);
  if (in.bad() || found == units.end() || !(value > 0)) {
    return std::nullopt;
  }
  const double ns = std::round(value * found->second);
  return ns >= 1 && ns < 9e18 ? std::optional{static_cast<time_ns>(ns)} : std::nullopt;
}

/// "0.5" or "0.5%" as 0.005.
std::optional<double> share_of(std::string text) {
  if (!text.empty() && text.back() == '%') {
    text.pop_back();
  }
  std::istringstream in{text};
  in.imbue(std::locale::classic());
  double value = 0;
  in >> value;
  return !in.fail() && in.eof() && value >= 0 && value <= 100 ? std::optional{value / 100} : std::nullopt;
}

void add_options(CLI::App& app, report_arguments& out, std::string& wall, std::string& fold) {
  static const std::map<std::string, view> views{{"layer", view::layer},
                                                 {"label", view::label},
                                                 {"phase", view::phase},
                                                 {"kernel", view::kernel},
                                                 {"category", view::category}};
  static const std::map<std::string, sort_key> keys{
      {"gpu-time", sort_key::gpu_time}, {"calls", sort_key::calls},
      {"avg", sort_key::average},       {"max", sort_key::maximum},
      {"launches", sort_key::launches}, {"launch-time", sort_key::launch_time},
      {"starved", sort_key::starved},   {"order", sort_key::order}};
  static const std::map<std::string, when> colours{
      {"auto", when::automatic}, {"always", when::always}, {"never", when::never}};

  app.add_option("FILE", out.files, "PyTorch profiler traces (JSON, also gzip) and reports written by --json")
      ->required();
  app.add_option("--by", out.table.by, "rows: layer, label, phase, kernel or category; default layer")
      ->transform(CLI::CheckedTransformer(views, CLI::ignore_case).description(""))
      ->type_name("VIEW");
  app.add_option("--sort", out.table.sort,
                 "gpu-time, calls, avg, max, launches, launch-time, starved or order (as they ran); default "
                 "gpu-time")
      ->transform(CLI::CheckedTransformer(keys, CLI::ignore_case).description(""))
      ->type_name("KEY");
  app.add_option("--top", out.table.top, "at most N rows a phase")->type_name("N");
  app.add_option("--filter", out.table.filter,
                 "only rows whose name holds TEXT, whatever its case; none is folded")
      ->type_name("TEXT");
  app.add_option("--fold", fold,
                 "count rows under this share of their phase in one line; default 1, 0 shows all")
      ->type_name("PERCENT");
  app.add_option(
         "--unprofiled-wall", wall,
         "how long the same passes take without profiling (20ms, 1.5s): the report says what profiling adds")
      ->type_name("DURATION");
  app.add_flag("--by-batch", out.analysis.by_batch, "rows and phases apart for each shape of the batch");
  app.add_flag("--json", out.json,
               "JSON (docs/report-schema.md), one line a file, which varve report reads back");
  app.add_option("--output", out.output,
                 "write to FILE, which only its owner may read, and not to standard output")
      ->type_name("FILE");
  app.add_option("--width", out.width,
                 "columns; default the terminal's, else $COLUMNS, else as many as needed (0)")
      ->check(CLI::Range(0, 100000).description(""))
      ->type_name("N");
  app.add_option("--color,--colour", out.colour,
                 "auto, always or never; auto is on a terminal without $NO_COLOR; default auto")
      ->transform(CLI::CheckedTransformer(colours, CLI::ignore_case).description(""))
      ->type_name("WHEN");
  app.footer(std::string{terms} + "\n\n" + codes);
}

}  // namespace

arguments parse(int argc, const char* const* argv) {
  CLI::App app{"varve shows where the time of a CUDA inference engine goes, layer by layer.", "varve"};
  app.set_version_flag("--version", version_text());
  app.set_help_flag("--help,-h", "show this");
  app.require_subcommand(1);
  app.footer(std::string{"varve report --help says more.\n\n"} + codes);
  app.get_formatter()->column_width(28);

  CLI::App& report = *app.add_subcommand("report", "print where the time of traces goes");
  report.get_formatter()->column_width(28);
  report_arguments asked;
  std::string wall;
  std::string fold;
  add_options(report, asked, wall, fold);

  arguments out;
  try {
    app.parse(argc, argv);
    if (!wall.empty()) {
      asked.analysis.unprofiled_wall = duration_of(wall);
      if (!asked.analysis.unprofiled_wall) {
        throw CLI::ValidationError("--unprofiled-wall", "'" + wall + "' is no duration such as 20ms or 1.5s");
      }
    }
    if (!fold.empty()) {
      const auto share = share_of(fold);
      if (!share) {
        throw CLI::ValidationError("--fold", "'" + fold + "' is no percentage from 0 to 100");
      }
      asked.table.fold_below = *share;
    }
    out.report = std::move(asked);
  } catch (const CLI::ParseError& e) {
    std::ostringstream shown;
    std::ostringstream wrong;
    const int code = app.exit(e, shown, wrong);
    out.code = code == 0 ? success : usage;
    out.text = code == 0 ? shown.str() : wrong.str();
  }
  return out;
}

}  // namespace varve::cli

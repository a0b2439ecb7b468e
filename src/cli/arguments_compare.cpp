// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Options of the commands that compare runs and hold them against budgets.
#include "cli/baselines.hpp"
#include "cli/options.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace varve::cli {

namespace {

constexpr const char* diff_codes = R"(Exit codes:
  0  the sides were compared, whatever came out
  1  a file could not be read or is no trace
  2  the command line is wrong
  3  the output could not be written
  4  the sides are not comparable: see standard error, and --force)";

void add_baselines_option(CLI::App& app, std::string& to) {
  app.add_option("--baselines", to,
                 "folder of baselines; default varve/baselines in\n$XDG_DATA_HOME or ~/.local/share")
      ->type_name("FOLDER");
}

std::optional<std::string> baseline_name_of(const std::string& text) {
  return is_baseline_name(text) ? std::optional{text} : std::nullopt;
}
constexpr const char* no_baseline_name = "no name of letters, digits, '-', '_' and '.'";

/// The file that a budget is of, and how it is read.
void add_measured_file(CLI::App& app, report_arguments& out, std::string& file) {
  app.add_option("FILE", file, "a PyTorch profiler trace (JSON, also gzip) or a report from --json")
      ->type_name("")
      ->required();
  add_analysis_options(app, out);
  add_capture_options(app, out);
  add_common_options(app, out, "; default by the names in the trace");
  add_clock_option(app, out);
}

/// "gpu_time.p95,launches"
std::vector<std::string> figures_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in{text};
  for (std::string name; std::getline(in, name, ',');) {
    if (!unit_of(budget_of::phase, name) && !unit_of(budget_of::layer, name) &&
        !unit_of(budget_of::report, name)) {
      throw CLI::ValidationError("--figures",
                                 "there is no figure \"" + name +
                                     "\" of phases, layers or the whole run; docs/budgets.md lists "
                                     "them");
    }
    out.push_back(name);
  }
  return out;
}

}  // namespace

void add_options(CLI::App& app, diff_arguments& out) {
  static const choices<diff_format> formats{
      {"table", diff_format::table}, {"json", diff_format::json}, {"markdown", diff_format::markdown}};
  app.add_option(
         "BASE", out.base,
         "a report from --json, a trace, or a folder of repeated runs of\neither; not with --baseline")
      ->type_name("")
      ->required();
  app.add_option("NEW", out.fresh, "what is compared with it")->type_name("");
  add_option(app, "--baseline", out.baseline, "NAME", "compare with what varve baseline save kept",
             no_baseline_name, baseline_name_of);
  add_baselines_option(app, out.baselines);
  app.add_flag("--force", out.force, "compare what differs in device, clock, model or quality");
  add_choice(app, "--format", out.format, formats, "FORMAT", "");
  add_option(app, "--noise", out.compare.noise, "PERCENT",
             "changes within are the same, and single runs must differ by more;\ndefault 2",
             "no percentage from 0 to 99", [](const std::string& text) {
               const auto share = share_of(text);
               constexpr double most = 0.99;
               return share && *share <= most ? share : std::nullopt;
             });
  add_option(app, "--confidence", out.compare.confidence, "PERCENT",
             "of intervals and verdicts, 50 to 99.9; default 95", "no percentage from 50 to 99.9",
             [](const std::string& text) {
               const auto share = share_of(text);
               return share && *share >= 0.5 && *share < 0.99901 ? share : std::nullopt;
             });
  add_option(app, "--top", out.top, "N", "rows of each list at most, 0 all; default 20",
             "no number of rows from 0 to 100000", number_of<std::size_t>);
  add_analysis_options(app, out.report);
  add_capture_options(app, out.report);
  add_common_options(app, out.report, "; default by the names in the trace");
  add_clock_option(app, out.report);
  app.footer(diff_codes);
}

void add_options(CLI::App& save, CLI::App& list, baseline_arguments& out) {
  add_option(save, "NAME", out.name, "", "letters, digits, '-', '_' and '.'", no_baseline_name,
             baseline_name_of)
      ->required();
  save.add_option("FILE", out.report.files,
                  "reports from --json, traces, or folders of repeated runs of either")
      ->type_name("")
      ->required();
  save.add_flag("--force", out.force, "replace a baseline of this name");
  add_analysis_options(save, out.report);
  add_capture_options(save, out.report);
  add_baselines_option(save, out.folder);
  add_baselines_option(list, out.folder);
}

void add_options(CLI::App& app, check_arguments& out) {
  app.add_option("--budget", out.budget, "what figures may be, as varve budget writes it (docs/budgets.md)")
      ->type_name("FILE")
      ->required();
  app.add_option(
         "--baseline", out.baseline,
         "what limits of change compare with: a trace, a report, a folder of\nrepeated runs, or a name of "
         "varve baseline save")
      ->type_name("BASE");
  add_baselines_option(app, out.baselines);
  app.add_flag("--force", out.check.force, "compare with a baseline of another device or clock too");
  app.add_option("--junit", out.junit, "also write the outcome to FILE as JUnit XML, for CI systems")
      ->type_name("FILE");
  add_measured_file(app, out.report, out.file);
  app.footer(
      "Exit codes:\n  0  every limit is kept\n  1  a limit is exceeded\n  2  it could not be checked: a "
      "file, the "
      "budget or the command line is wrong, a pattern fits no\n     row, or a figure can't be measured\n  3  "
      "the "
      "output could not be written");
}

void add_options(CLI::App& app, budget_arguments& out) {
  add_option(
      app, "--headroom", out.draft.headroom, "PERCENT",
      "by which times and ratios may be worse than in this run;\ndefault 10%. Counts that are the same "
      "in each pass get none",
      "no percentage from 0 to 100", share_of);
  app.add_option_function<std::string>(
         "--figures", [&out](const std::string& text) { out.draft.figures = figures_of(text); },
         "these figures, with commas between them; default step.p50,\ngpu_time, launches and overhead_ratio "
         "of "
         "phases, gpu_time of\nlayers, attributed")
      ->type_name("LIST");
  app.add_option(
         "--layers", out.draft.layers,
         "layers of this name, or whose path this fits, an entry each:\nmlp, 'layer * / attention'; default "
         "those with 5 % of their phase's GPU time,\nthose that differ in their numbers alone together")
      ->type_name("PATTERN");
  add_measured_file(app, out.report, out.file);
  app.footer(
      "Exit codes: 0 all is well, 1 the file could not be read or has nothing to limit, 2 the command line "
      "is "
      "wrong\nor --layers fits none, 3 the output could not be written");
}

}  // namespace varve::cli

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/arguments.hpp"

#include "cli/help_texts.hpp"
#include "cli/options.hpp"

#include <varve/varve.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string_view>
#include <utility>

namespace varve::cli {

namespace {

std::string version_text() {
  const int v = varve_version();
  return "varve " + std::to_string(v / 10000) + '.' + std::to_string(v / 100 % 100) + '.' +
         std::to_string(v % 100);
}

void add_table_options(CLI::App& app, report_arguments& out) {
  add_view_options(app, out);
  add_analysis_options(app, out);
  app.add_flag("--group-by-shape", out.table.by_shape,
               "operators apart for each set of shapes of their inputs");
  add_common_options(app, out, "; default by the names in the trace");
  add_clock_option(app, out);
}

void add_options(CLI::App& app, report_arguments& out) {
  app.add_option("FILE", out.files, "PyTorch profiler traces (JSON, also gzip) and reports from --json")
      ->type_name("")
      ->required();
  add_table_options(app, out);
  add_capture_options(app, out);
  app.add_flag("--json", out.json,
               "JSON, one line a file, which varve report reads back\n(docs/report-schema.md)");
  app.footer(std::string{terms} + "\n\n" + codes);
}

void add_options(CLI::App& app, run_arguments& out) {
  add_table_options(app, out.report);
  app.add_option("--json", out.json, "also write the reports to FILE as JSON, one line a process")
      ->type_name("FILE");
  app.add_option("--trace", out.trace,
                 "also write what was recorded to FILE as Chrome JSON, which varve\nreport reads")
      ->type_name("FILE");
  add_option(app, "--memory", out.memory, "MIB",
             "records that each process keeps at most; what comes later is\ncounted. Default 1024",
             "no number from 0 to 100000", number_of<std::size_t>);
  add_option(app, "--snapshots", out.snapshots_ms, "DURATION",
             "how often what was recorded is saved, in case that the engine is\nkilled; default 1s, 0: never",
             "no duration up to a day such as 500ms or 5s", [](const std::string& text) {
               const auto ns = text == "0" ? std::optional<time_ns>{0} : duration_of(text);
               constexpr time_ns millisecond = 1'000'000;
               constexpr time_ns day = 86'400'000 * millisecond;
               return ns && *ns <= day
                          ? std::optional{static_cast<std::uint32_t>((*ns + millisecond - 1) / millisecond)}
                          : std::nullopt;
             });
  app.add_flag("--no-cublas", out.no_cublas, "leave products of cuBLAS alone: they tell no FLOPs and bytes");
  app.add_flag("--verbose", out.verbose, "the injected library says when it starts and stops");
  app.footer(run_codes);
}

void add_options(CLI::App& app, predict_arguments& out) {
  app.add_option("--model", out.model, "config.json as Hugging Face publishes it, or its folder")
      ->type_name("PATH")
      ->required();
  const auto positive = [](std::optional<std::int64_t> value) {
    return value && *value > 0 ? value : std::nullopt;
  };
  const auto add_count = [&](const char* name, auto& to, const std::string& what) {
    add_option(app, name, to, "N", what, "no number from 1 to 1000000", [positive](const std::string& text) {
      return positive(number_of<std::int64_t, 1'000'000>(text));
    });
  };
  add_count("--tokens", out.tokens, "new tokens of each sequence; default 1, which is decode");
  add_option(app, "--context", out.context, "N",
             "keys that the newest token attends to, itself among them;\ndefault --tokens",
             "no number from 1 to 100000000", [positive](const std::string& text) {
               return positive(number_of<std::int64_t, most_keys>(text));
             });
  add_count("--sequences", out.sequences, "in the batch; default 1");
  add_count("--tensor-parallel", out.ranks,
            "ranks that share each layer: one's part, without what they\nsend each other; default 1");
  add_expert_option(app, out.work);
  add_view_options(app, out.report);
  add_common_options(app, out.report, "");
  app.get_option("--device")->required();
  add_clock_option(app, out.report);
  app.add_flag("--json", out.report.json, "the report as JSON, which varve report reads back");
  app.footer(
      "Nothing runs: each operator takes what the device allows at best, one after the other, and launching\n"
      "takes no time. docs/work.md has the formulas.\n\nExit codes: 0 all is well, 1 the model could not be "
      "read, 2 the command line is wrong, 3 the output\ncould not be written");
}

void add_options(CLI::App& app, devices_arguments& out) {
  app.add_option("NAME", out.name, "all of this one: a name (case and punctuation are free), or a JSON file")
      ->type_name("");
  app.footer("Exit codes: 0 all is well, 1 the file could not be read, 2 there is no such device");
}

void add_options(CLI::App& app, calibrate_arguments& out) {
  const auto from_1 = [](const std::string& text) {
    const auto value = number_of<std::size_t>(text);
    return value && *value > 0 ? value : std::nullopt;
  };
  app.add_option_function<std::string>(  // gpu_arguments() takes it
         "--gpu", [](const std::string& /*ordinal*/) {},
         "a GPU in place of the processor, by varve-calibrate-gpu: the one that\nCUDA counts as N, default "
         "0; "
         "--gpu --help has its options")
      ->type_name("[N]");
  app.add_option("--output", out.output,
                 "write to FILE; default devices/MACHINE.json in\n$XDG_CONFIG_HOME/varve or ~/.config/varve")
      ->type_name("FILE");
  app.add_option("--name", out.name,
                 "what the device is called; default the processor's and\nthe machine's name")
      ->type_name("TEXT");
  app.add_flag("--json", out.json, "print what FILE holds, in place of the table");
  add_option(app, "--samples", out.samples, "N", "runs of each kind, of which the median counts; default 9",
             "no number from 1 to 100000", from_1);
  add_option(app, "--memory", out.memory, "MIB",
             "that the triad's arrays take together; default twelve times\nthe last cache, 384 at least",
             "no number from 1 to 100000", [from_1](const std::string& text) {
               const auto value = from_1(text);
               return value ? std::optional<std::uint64_t>{*value} : std::nullopt;
             });
  add_option(app, "--threads", out.threads, "N",
             "that the engine computes with; default all and one, of which\nthe better counts",
             "no number from 1 to 4096", [from_1](const std::string& text) {
               const auto value = from_1(text);
               constexpr std::size_t most = 4096;
               return value && *value <= most ? std::optional<int>{static_cast<int>(*value)} : std::nullopt;
             });
  add_option(app, "--order", out.order, "N", "of the matrices that are multiplied; default 2048",
             "no number from 1 to 16384", [from_1](const std::string& text) {
               const auto value = from_1(text);
               constexpr std::size_t most = 16384;
               return value && *value <= most ? std::optional<int>{static_cast<int>(*value)} : std::nullopt;
             });
  app.add_option("--blas", out.blas, "library that multiplies; default OpenBLAS, where there is one")
      ->type_name("LIBRARY");
  app.footer(
      "Run it on an idle machine: it takes a few seconds, all processors and up to a quarter of the memory.\n"
      "Exit codes: 0 all is well, 1 it could not be measured, 2 the command line is wrong, 3 the file could\n"
      "not be written, 5 there is no GPU");
}

}  // namespace

arguments parse(int argc, const char* const* argv) {
  CLI::App app{"varve shows where the time of a CUDA inference engine goes, layer by layer.", "varve"};
  app.set_version_flag("--version", version_text());
  app.set_help_flag("--help,-h", "show this");
  app.require_subcommand(0, 1);
  app.footer(std::string{"varve COMMAND --help says more.\n\n"} + codes);
  app.get_formatter()->column_width(28);

  CLI::App& report = *app.add_subcommand("report", "print where the time of traces goes");
  report.get_formatter()->column_width(28);
  report_arguments asked;
  add_options(report, asked);

  CLI::App& run = *app.add_subcommand(
      "run",
      "run an engine unchanged, and print where its time goes:\nvarve run [OPTIONS] -- ENGINE [ARGUMENTS]");
  run.get_formatter()->column_width(28);
  run_arguments to_run;
  add_options(run, to_run);

  CLI::App& count = *app.add_subcommand(
      "calibrate-layers",
      "run an engine to count DRAM bytes and operations of its layers:\nvarve calibrate-layers [OPTIONS] -- "
      "ENGINE [ARGUMENTS]");
  count.get_formatter()->column_width(28);
  run_arguments to_count;
  add_counting_options(count, to_count);

  CLI::App& predict =
      *app.add_subcommand("predict", "print what a model's pass takes at best, without a run");
  predict.get_formatter()->column_width(28);
  predict_arguments to_predict;
  add_options(predict, to_predict);

  CLI::App& diff = *app.add_subcommand("diff", "compare two reports or traces, or repeated runs of each");
  diff.get_formatter()->column_width(28);
  diff_arguments to_compare;
  add_options(diff, to_compare);

  CLI::App& baseline = *app.add_subcommand("baseline", "keep reports under a name, for varve diff");
  CLI::App& save = *baseline.add_subcommand("save", "keep the report of a file, or of several runs");
  CLI::App& list = *baseline.add_subcommand("list", "print the names of all");
  baseline.require_subcommand(1);
  baseline_arguments to_keep;
  for (CLI::App* const one : {&baseline, &save, &list}) {
    one->get_formatter()->column_width(28);
  }
  add_options(save, list, to_keep);

  CLI::App& devices = *app.add_subcommand("devices", "print what is published of GPUs");
  devices.get_formatter()->column_width(28);
  devices_arguments to_show;
  add_options(devices, to_show);

  CLI::App& calibrate =
      *app.add_subcommand("calibrate", "measure what this machine's processor, or a GPU, can do at most");
  calibrate.get_formatter()->column_width(28);
  calibrate_arguments to_measure;
  add_options(calibrate, to_measure);

  CLI::App& check =
      *app.add_subcommand("check", "hold a run against a budget: for CI, whose exit code tells");
  check.get_formatter()->column_width(28);
  check_arguments to_check;
  add_options(check, to_check);

  CLI::App& budget = *app.add_subcommand("budget", "write a first budget from a run");
  budget.get_formatter()->column_width(28);
  budget_arguments to_draft;
  add_options(budget, to_draft);

  arguments out;
  const char* const* end = argv + argc;
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "calibrate") {
    if (out.calibrate_gpu = gpu_arguments({argv + 2, end}); out.calibrate_gpu) {
      return out;
    }
  }
  if (command == "run" || command == "calibrate-layers") {  // what follows "--" is not ours to read
    end = std::find_if(argv, argv + argc, [](const char* word) { return std::string_view{word} == "--"; });
    (command == "run" ? to_run : to_count).command.assign(std::min(end + 1, argv + argc), argv + argc);
  }
  try {
    app.parse(static_cast<int>(end - argv), argv);
    if (report.parsed()) {
      out.report = std::move(asked);
    } else if (run.parsed()) {
      if (to_run.command.empty()) {
        throw CLI::RequiredError{"ENGINE after --, as in varve run -- ./engine model.gguf,"};
      }
      out.run = std::move(to_run);
    } else if (count.parsed()) {
      if (to_count.command.empty()) {
        throw CLI::RequiredError{"ENGINE after --, as in varve calibrate-layers -- ./engine model.gguf,"};
      }
      out.run = std::move(to_count);
    } else if (predict.parsed()) {
      if (to_predict.context && *to_predict.context < to_predict.tokens) {
        throw CLI::ValidationError("--context", "is less than --tokens: new tokens are keys too");
      }
      out.predict = std::move(to_predict);
    } else if (diff.parsed()) {
      const bool alone = to_compare.fresh.empty();
      if (alone == to_compare.baseline.empty()) {
        throw CLI::ValidationError(alone ? "NEW is missing: varve diff BASE NEW"
                                         : "--baseline stands for BASE: give NEW alone");
      }
      if (alone) {
        to_compare.fresh = std::exchange(to_compare.base, {});
      }
      out.diff = std::move(to_compare);
    } else if (baseline.parsed()) {
      out.baseline = std::move(to_keep);
    } else if (devices.parsed()) {
      out.devices = std::move(to_show);
    } else if (calibrate.parsed()) {
      out.calibrate = std::move(to_measure);
    } else if (check.parsed()) {
      out.check = std::move(to_check);
    } else if (budget.parsed()) {
      out.budget = std::move(to_draft);
    } else {
      out.code = usage;
      out.text = app.help();
    }
  } catch (const CLI::ParseError& e) {
    std::ostringstream shown;
    std::ostringstream wrong;
    const int code = app.exit(e, shown, wrong);
    out.code = code == 0 ? success : usage;
    out.text = code == 0 ? shown.str() : "varve: " + wrong.str();
  }
  return out;
}

}  // namespace varve::cli

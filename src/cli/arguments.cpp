// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/arguments.hpp"

#include "cli/devices.hpp"
#include "cli/options.hpp"

#include <varve/varve.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace varve::cli {

namespace {

constexpr const char* codes = R"(Exit codes:
  0  all is well
  1  a file could not be read or is no trace; the others are reported all the same
  2  the command line is wrong
  3  the output could not be written)";

constexpr const char* run_codes =
    R"(The table goes to standard error: standard output is the engine's.

Exit codes: the engine's own, 128 + N where signal N ended it. Before it runs, or after all went well:
  1    a report could not be read
  2    the command line is wrong
  3    a report or trace could not be written
  126  the engine cannot be started
  127  there is no such engine)";

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

constexpr int most_keys = 100'000'000;  ///< of a sequence

const choices<view> views{{"layer", view::layer},       {"label", view::label},
                          {"phase", view::phase},       {"kernel", view::kernel},
                          {"category", view::category}, {"operator", view::operators}};
const choices<sort_key> keys{{"gpu-time", sort_key::gpu_time},
                             {"calls", sort_key::calls},
                             {"avg", sort_key::average},
                             {"max", sort_key::maximum},
                             {"launches", sort_key::launches},
                             {"launch-time", sort_key::launch_time},
                             {"starved", sort_key::starved},
                             {"order", sort_key::order},
                             {"self-gpu-time", sort_key::self_gpu_time},
                             {"cpu-time", sort_key::cpu_time},
                             {"self-cpu-time", sort_key::self_cpu_time}};
const choices<when> colours{{"auto", when::automatic}, {"always", when::always}, {"never", when::never}};

/// "REGEX=NAME", where NAME is plain: letters, digits, spaces, '_', '-', '.'; or a regular expression alone.
naming_rule rule_of(const std::string& text, naming_rule::kind as, const char* option) {
  naming_rule rule;
  rule.as = as;
  rule.pattern = text;
  const std::size_t equals = text.rfind('=');
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == ' ' || c == '_' || c == '-' || c == '.';
  };
  if (as != naming_rule::kind::ignore && equals != std::string::npos && equals + 1 < text.size() &&
      std::all_of(text.begin() + static_cast<std::ptrdiff_t>(equals) + 1, text.end(), plain)) {
    rule.pattern.resize(equals);
    rule.name = text.substr(equals + 1);
  }
  try {
    check(rule);
  } catch (const error& e) {
    throw CLI::ValidationError(option, e.what());
  }
  return rule;
}

}  // namespace

void add_rules(CLI::App& app, std::vector<naming_rule>& to) {
  using kind = naming_rule::kind;
  const auto add = [&](const char* name, kind as, const char* type, const char* help) {
    const auto read = [&to, name, as](const std::vector<std::string>& texts) {
      for (const std::string& text : texts) {  // what is ignored is so whatever else it fits
        to.insert(as == kind::ignore ? to.begin() : to.end(), rule_of(text, as, name));
      }
    };
    app.add_option_function<std::vector<std::string>>(name, read, help)
        ->type_name(type)
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
  };
  add("--phase-rule", kind::phase, "REGEX[=NAME]",
      "annotations and modules that REGEX is found in are passes of the\nkind NAME; a group of digits is the "
      "index. May be repeated");
  add("--layer-rule", kind::layer, "REGEX[=NAME]", "likewise: are layers");
  add("--ignore-rule", kind::ignore, "REGEX", "likewise: mark nothing");
}

namespace {

/// "8944x16": tokens of a batch, and in how many sequences; each is a prompt of its own.
std::optional<std::vector<pass_sequence>> batch_of(const std::string& text) {
  constexpr std::int64_t most_sequences = 65536;
  std::istringstream in{text};
  in.imbue(std::locale::classic());
  std::int64_t tokens = 0;
  std::int64_t sequences = 1;
  char times = 'x';
  in >> tokens;
  if (!in.eof()) {
    in >> times >> sequences;
  }
  if (in.fail() || !in.eof() || times != 'x' || sequences < 1 || sequences > most_sequences ||
      tokens < sequences || tokens > std::int64_t{1} << 40U) {
    return std::nullopt;
  }
  std::vector<pass_sequence> out;
  for (std::int64_t i = 0; i < sequences; ++i) {
    const std::int64_t length = tokens / sequences + (i < tokens % sequences ? 1 : 0);
    out.push_back({length, length, false});
  }
  return out;
}

/// "PATTERN=PARTS"
label_rule label_rule_of(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  label_rule rule;
  rule.pattern = text.substr(0, equals);
  rule.parts = equals != std::string::npos ? text.substr(equals + 1) : std::string{};
  try {
    if (equals == std::string::npos) {
      throw std::invalid_argument{"\"" + text + "\" is not PATTERN=PART, such as 'my attention=attention'"};
    }
    check(rule);
  } catch (const std::invalid_argument& e) {
    throw CLI::ValidationError("--model-rule", e.what());
  }
  return rule;
}

void add_model_options(CLI::App& app, model_arguments& to) {
  const auto describe = [&to](const std::string& path) {
    try {
      to.description = read_model(path);
    } catch (const std::exception& e) {
      throw CLI::ValidationError("--model", e.what());
    }
  };
  CLI::Option* const model = app.add_option_function<std::string>(
      "--model", describe,
      "the model's config.json, or its folder: tells FLOPs and bytes of\nlayers that nobody else tells of");
  model->type_name("FILE");
  const auto share = [&to](const std::string& text) {  // behind --model, however they are given
    const auto ranks = number_of<std::int64_t>(text);
    try {
      if (!ranks) {
        throw std::invalid_argument{"\"" + text + "\" is no number of ranks"};
      }
      if (to.description) {
        to.description = tensor_parallel(*to.description, *ranks);
      }
    } catch (const std::invalid_argument& e) {
      throw CLI::ValidationError("--tensor-parallel", e.what());
    }
  };
  app.add_option_function<std::string>(
         "--tensor-parallel", share,
         "ranks that share each layer of the model: describe one's part,\nas Megatron-LM and vLLM split it")
      ->type_name("N")
      ->needs(model);
  const auto rule = [&to](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      to.options.rules.push_back(label_rule_of(text));
    }
  };
  app.add_option_function<std::vector<std::string>>("--model-rule", rule,
                                                    "labels that PATTERN fits (* is any text) stand for PART "
                                                    "of the\nmodel: layer, attention, mlp/down_proj, "
                                                    "… (docs/work.md).\nMay be repeated")
      ->type_name("PATTERN=PART")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->needs(model);
  add_option(
      app, "--batch-tokens", to.options.batch, "N[xSEQUENCES]",
      "tokens of passes that do not say it, in prompts of even length;\ndecode passes run one token of each "
      "sequence",
      "no batch such as 512 or 8944x16", batch_of)
      ->needs(model);
  add_option(
      app, "--batch-logits", to.options.pass.logits, "N",
      "tokens of a pass that logits are made for; 0 where the head is\nnot run. Default one a prompt and all "
      "decoded ones",
      "no number of tokens from 0 to 100000", number_of<std::int64_t>)
      ->needs(model);
  add_option(app, "--batch-context", to.options.context, "N",
             "keys that each decoding sequence attends to in passes that do\nnot say it",
             "no number of keys from 0 to 100000000", number_of<std::int64_t, most_keys>)
      ->needs(model);
}

/// What both subcommands have: how tables look and what they are of.
void add_view_options(CLI::App& app, report_arguments& out) {
  add_choice(app, "--by", out.table.by, views, "VIEW", "rows: ");
  add_choice(app, "--sort", out.table.sort, keys, "KEY", "largest first, or in the order of the trace:\n");
  add_option(app, "--top", out.table.top, "N", "at most N rows a phase; default 0, which is all",
             "no number of rows from 0 to 100000", number_of<std::size_t>);
  app.add_option("--filter", out.table.filter, "only rows whose name holds TEXT, whatever its case")
      ->type_name("TEXT");
  add_option(app, "--fold", out.table.fold_below, "PERCENT",
             "count rows below this share of their phase in one line;\ndefault 1, 0 shows all, as --filter "
             "and --layers do",
             "no percentage from 0 to 100", share_of);
  add_option(app, "--depth", out.table.depth, "N",
             "levels of the tree, 0 all; default down to the parts of the\nblocks that the model repeats",
             "no number of levels from 0 to 100000", number_of<std::size_t>);
  const auto layers = [&out](const std::string& text) {
    try {
      table_options only;
      only.layers = text;
      static_cast<void>(to_table(varve::report{}, only));  // says what is wrong before files are read
    } catch (const std::invalid_argument& e) {
      throw CLI::ValidationError("--layers", e.what());
    }
    out.table.layers = text;
  };
  app.add_option_function<std::string>("--layers", layers,
                                       "only layers and labels in whose own name this is found,\n"
                                       "such as 'Attention|MLP'; docs/cli.md says what else")
      ->type_name("REGEX");
}

/// "1980" or "1980MHz" as Hz.
std::optional<double> clock_of(const std::string& text) {
  constexpr double least = 100;
  constexpr double most = 5000;
  constexpr double mega = 1e6;
  std::istringstream in{text};
  in.imbue(std::locale::classic());
  double value = 0;
  std::string unit;
  in >> value;
  const bool read = !in.fail();
  std::getline(in, unit);
  return read && (unit.empty() || unit == "MHz" || unit == " MHz") && value >= least && value <= most
             ? std::optional{value * mega}
             : std::nullopt;
}

}  // namespace

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

void add_clock_option(CLI::App& app, report_arguments& out) {
  add_option(app, "--clock", out.analysis.clock, "MHZ",
             "that the multiprocessors ran at, as measured: scales what the\ndevices can compute at most",
             "no clock from 100 to 5000 MHz", clock_of);
}

void add_common_options(CLI::App& app, report_arguments& out, const std::string& default_device) {
  const auto device = [&out](const std::string& text) {
    try {
      out.analysis.ceilings = device_named(text);
    } catch (const std::exception& e) {
      throw CLI::ValidationError("--device", e.what());
    }
  };
  app.add_option_function<std::string>(
         "--device", device,
         "what the devices can do at most: a name that varve devices lists,\nor a JSON file" + default_device)
      ->type_name("NAME");
  app.add_option("--output", out.output, "write to FILE, which only its owner may read")->type_name("FILE");
  add_option(app, "--width", out.width, "N",
             "columns, 0 as many as needed; default the terminal's,\nelse $COLUMNS, else 0",
             "no number of columns from 0 to 100000", number_of<int>);
  add_choice(app, "--color,--colour", out.colour, colours, "WHEN",
             "colour; auto is on a terminal without $NO_COLOR:\n");
}

void add_analysis_options(CLI::App& app, report_arguments& out) {
  add_option(
      app, "--unprofiled-wall", out.analysis.unprofiled_wall, "DURATION",
      "how long the same passes take without profiling, such as 20ms\nor 1.5s: says what profiling adds",
      "no duration such as 20ms or 1.5s", duration_of);
  add_rules(app, out.rules);
  app.add_flag(
      "--steady", out.analysis.steady,
      "set apart passes whose batch is not the usual one of their kind,\nand those right after a change");
  app.add_flag("--by-batch", out.analysis.by_batch, "rows and phases apart for each shape of the batch");
  add_model_options(app, out.model);
}

void add_capture_options(CLI::App& app, report_arguments& out) {
  app.add_option(
         "--captures", out.captures,
         "traces of graph captures, or folders of them, which lend their\nmodules to replayed kernels")
      ->type_name("PATH");
  app.add_option("--counters", out.counters,
                 "what varve calibrate-layers wrote of the same engine: its counts\nbeside these times, and "
                 "verdicts by them")
      ->type_name("FILE");
  add_option(app, "--layers-count", out.layer_count, "N",
             "layers are inferred from repeated kernels of graphs only\nwhere there are N",
             "no number of layers from 0 to 100000", number_of<std::size_t>);
}

namespace {

void add_table_options(CLI::App& app, report_arguments& out) {
  add_view_options(app, out);
  add_analysis_options(app, out);
  app.add_flag("--group-by-shape", out.table.by_shape,
               "operators apart for each set of shapes of their inputs");
  add_common_options(app, out, "; default by the names in the trace");
}

void add_options(CLI::App& app, report_arguments& out) {
  app.add_option("FILE", out.files, "PyTorch profiler traces (JSON, also gzip) and reports from --json")
      ->type_name("")
      ->required();
  add_table_options(app, out);
  add_clock_option(app, out);
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
  app.add_option("--output", out.output,
                 "write to FILE; default devices/MACHINE.json in\n$XDG_CONFIG_HOME/varve or ~/.config/varve")
      ->type_name("FILE");
  app.add_option("--name", out.name,
                 "what the device is called; default the processor's and\nthe machine's name")
      ->type_name("TEXT");
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
      "not be written");
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
      *app.add_subcommand("calibrate", "measure what this machine's processor can do at most");
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

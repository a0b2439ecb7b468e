// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/arguments.hpp"

#include "cli/baselines.hpp"
#include "cli/devices.hpp"

#include <varve/varve.h>

#include <CLI/CLI.hpp>

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

/// A whole number from 0 to 100000.
template <class T, int Most = 100'000>
std::optional<T> number_of(const std::string& text) {
  constexpr std::size_t digits = 9;
  if (text.empty() || text.size() > digits || text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  const int value = std::stoi(text);
  return value <= Most ? std::optional{static_cast<T>(value)} : std::nullopt;
}

constexpr int most_keys = 100'000'000;  ///< of a sequence

template <class T>
using choices = std::vector<std::pair<const char*, T>>;

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

void add_clock_option(CLI::App& app, report_arguments& out) {
  add_option(app, "--clock", out.analysis.clock, "MHZ",
             "that the multiprocessors ran at, as measured: scales what the\ndevices can compute at most",
             "no clock from 100 to 5000 MHz", clock_of);
}

/// What the devices can do, and where the table goes.
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

/// How traces are analyzed.
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

void add_table_options(CLI::App& app, report_arguments& out) {
  add_view_options(app, out);
  add_analysis_options(app, out);
  app.add_flag("--group-by-shape", out.table.by_shape,
               "operators apart for each set of shapes of their inputs");
  add_common_options(app, out, "; default by the names in the trace");
}

/// What else the replays of graphs tell.
void add_capture_options(CLI::App& app, report_arguments& out) {
  app.add_option(
         "--captures", out.captures,
         "traces of graph captures, or folders of them, which lend their\nmodules to replayed kernels")
      ->type_name("PATH");
  app.add_option(
         "--counters", out.counters,
         "a run of the same engine that counted (session_options::\ncounters): its counts beside these times")
      ->type_name("FILE");
  add_option(app, "--layers-count", out.layer_count, "N",
             "layers are inferred from repeated kernels of graphs only\nwhere there are N",
             "no number of layers from 0 to 100000", number_of<std::size_t>);
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
  if (argc > 1 && std::string_view{argv[1]} == "run") {  // what follows "--" is not ours to read
    end = std::find_if(argv, argv + argc, [](const char* word) { return std::string_view{word} == "--"; });
    to_run.command.assign(std::min(end + 1, argv + argc), argv + argc);
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

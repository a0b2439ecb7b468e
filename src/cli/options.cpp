// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/options.hpp"

#include "cli/devices.hpp"

#include <stdexcept>

namespace varve::cli {

namespace {

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
    try {
      for (const std::string& text : texts) {
        to.options.rules.push_back(label_rule_of(text));
      }
    } catch (const std::invalid_argument& e) {
      throw CLI::ValidationError("--model-rule", e.what());
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
  add_expert_option(app, to.options.pass)->needs(model);
}

}  // namespace

CLI::Option* add_expert_option(CLI::App& app, work_options& to) {
  return add_option(
      app, "--rarest-expert", to.rarest_expert, "PERCENT",
      "a token's odds of any expert at least, of even odds: verdicts hold\nfor the fewest experts "
      "that this leaves likely. Default 10",
      "no percentage from 0 to 100", share_of);
}

void add_rules(CLI::App& app, std::vector<naming_rule>& to) {
  using kind = naming_rule::kind;
  const auto add = [&](const char* name, kind as, const char* type, const char* help) {
    const auto read = [&to, name, as](const std::vector<std::string>& texts) {
      try {
        for (const std::string& text : texts) {  // what is ignored is so whatever else it fits
          to.insert(as == kind::ignore ? to.begin() : to.end(), naming_rule_of(text, as));
        }
      } catch (const error& e) {
        throw CLI::ValidationError(name, e.what());
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

}  // namespace varve::cli

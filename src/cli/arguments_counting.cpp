// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The command line of varve calibrate-layers.
#include "cli/options.hpp"

namespace varve::cli {

void add_counting_options(CLI::App& app, run_arguments& out) {
  counter_options& counters = out.counters.emplace();
  counters.enabled = true;
  out.trace = "counted.json";
  app.add_option(
         "--output", out.trace,
         "write to FILE what was counted, which varve report --counters\nreads; default counted.json, "
         "of further processes with\ntheir number before its extension")
      ->type_name("FILE");
  add_option(app, "--depth", counters.depth, "N",
             "count ranges N levels below their pass; default 1, the\noutermost layers, 0: whole passes",
             "no number from 0 to 100", number_of<std::uint32_t, 100>);
  app.add_option("--label", counters.labels,
                 "count the outermost ranges of this name in place of a depth.\nMay be repeated")
      ->type_name("NAME")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->excludes("--depth");
  app.add_flag_callback(
      "--bytes-only", [&counters] { counters.operations = false; },
      "DRAM bytes and no operations: one pass of each kind is enough");
  add_rules(app, out.report.rules);
  app.add_flag("--verbose", out.verbose, "the injected library says when it starts and stops");
  app.footer(
      R"(Times of such a run say nothing: put its counts beside those of another run of the same passes.
  varve run --trace TIMES.json -- ENGINE [ARGUMENTS]
  varve report TIMES.json --counters counted.json

Exit codes: the engine's own, 128 + N where signal N ended it. Before it runs, or after all went well:
  1    nothing was counted; standard error says why, and what to do
  2    the command line is wrong
  3    the counts could not be written
  126  the engine cannot be started
  127  there is no such engine)");
}

}  // namespace varve::cli

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CLI_ARGUMENTS_HPP
#define VARVE_CLI_ARGUMENTS_HPP

#include "cli/calibrate_gpu.hpp"

#include <varve/budget.hpp>
#include <varve/compare.hpp>
#include <varve/io.hpp>
#include <varve/report.hpp>
#include <varve/session.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace varve::cli {

/// Documented in docs/cli.md and in --help.
enum exit_code : int { success = 0, unreadable = 1, usage = 2, unwritable = 3, refused = 4 };

enum class when : std::uint8_t { automatic, always, never };

/// What the work of passes follows from.
struct model_arguments {
  std::optional<model> description;
  describe_options options;
};

struct report_arguments {
  std::vector<std::string> files;
  table_options table;
  std::optional<int> width;
  when colour = when::automatic;
  bool json = false;
  std::string output;  ///< empty: standard output
  analyze_options analysis;
  std::vector<naming_rule> rules;
  std::vector<std::string> captures;
  std::string counters;  ///< trace or report of a run that counted, or empty
  std::size_t layer_count = 0;
  model_arguments model;
  std::optional<std::uint64_t> most_bytes;  ///< that a file may hold, else what readers take
};

struct run_arguments {
  report_arguments report;           ///< of each process, without files
  std::vector<std::string> command;  ///< the engine and its arguments
  std::string json;                  ///< files, or empty
  std::string trace;
  std::optional<std::size_t> memory;          ///< MiB
  std::optional<std::uint32_t> snapshots_ms;  ///< 0: none
  bool no_cublas = false;
  bool verbose = false;
  std::optional<counter_options> counters;  ///< the run counts, in place of timing, and leaves `trace`
};

struct predict_arguments {
  report_arguments report;  ///< without files
  std::string model;
  std::int64_t tokens = 1;
  std::optional<std::int64_t> context;  ///< absent: `tokens`
  std::int64_t sequences = 1;
  std::int64_t ranks = 1;  ///< that share the model
  work_options work;
};

enum class diff_format : std::uint8_t { table, json, markdown };

struct diff_arguments {
  report_arguments report;  ///< without files
  std::string base;         ///< file or folder; empty beside a baseline
  std::string fresh;
  std::string baseline;   ///< name, or empty
  std::string baselines;  ///< folder of baselines; empty: the user's
  compare_options compare;
  diff_format format = diff_format::table;
  std::size_t top = 20;
  bool force = false;  ///< compares what is not comparable
};

struct baseline_arguments {
  report_arguments report;  ///< files: the runs
  std::string name;         ///< empty: lists all
  std::string folder;       ///< of baselines; empty: the user's
  bool force = false;       ///< replaces one of the same name
};

struct devices_arguments {
  std::string name;  ///< empty: all
};

struct calibrate_arguments {
  std::string output;  ///< empty: a file of the user's, named after the machine
  std::string name;    ///< empty: the processor's and the machine's
  std::string blas;    ///< library; empty: OpenBLAS
  std::size_t samples = 9;
  std::optional<std::uint64_t> memory;  ///< MiB, for the triad
  int order = 2048;                     ///< of the matrices
  int threads = 0;                      ///< 0: all and one, of which the better counts
  bool json = false;                    ///< what the file holds, in place of the table
};

struct check_arguments {
  report_arguments report;  ///< how files are read, without files
  std::string file;
  std::string budget;
  std::string baseline;   ///< a file, a folder of runs or a name; or empty
  std::string baselines;  ///< the folder of named ones, or empty
  std::string junit;
  budget_check_options check;
};

struct budget_arguments {
  report_arguments report;  ///< without files
  std::string file;
  budget_draft_options draft;
};

/// What the command line asks for: one of the commands, or an exit with this code after the text was shown.
struct arguments {
  std::optional<report_arguments> report;
  std::optional<run_arguments> run;
  std::optional<predict_arguments> predict;
  std::optional<diff_arguments> diff;
  std::optional<baseline_arguments> baseline;
  std::optional<devices_arguments> devices;
  std::optional<calibrate_arguments> calibrate;
  std::optional<calibrate_gpu_arguments> calibrate_gpu;
  std::optional<check_arguments> check;
  std::optional<budget_arguments> budget;
  int code = success;
  std::string text;  ///< help, version, or what is wrong with the command line
};

arguments parse(int argc, const char* const* argv);

}  // namespace varve::cli

#endif  // VARVE_CLI_ARGUMENTS_HPP

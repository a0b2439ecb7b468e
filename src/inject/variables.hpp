// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What `varve run` and the library that it injects agree on. Each injected program claims a number N with the
// file "PID.N" in the run's folder (claim_good or claim_failed, then the program's name). It writes
// "PID.N.snapshot.report.json" now and then and "PID.N.report.json" at its end, and where the trace is asked
// for "….trace.json" likewise, each under another name first. A trace alone, with no report of its stage, is
// to be analysed by the tool.
#ifndef VARVE_INJECT_VARIABLES_HPP
#define VARVE_INJECT_VARIABLES_HPP

namespace varve::inject {

/// Where results go: an absolute path. Without it nothing is recorded.
inline constexpr const char* folder_variable = "VARVE_RUN_FOLDER";
/// session_options::trace_memory, in MiB.
inline constexpr const char* memory_variable = "VARVE_RUN_MEMORY";
/// Milliseconds between snapshots, 0: none.
inline constexpr const char* interval_variable = "VARVE_RUN_INTERVAL";
/// "by-batch" and "steady", as far as asked for, with a comma between.
inline constexpr const char* analysis_variable = "VARVE_RUN_ANALYSIS";
/// What the devices can do at most, as device_text.hpp writes it; empty or absent: what the table of GPUs
/// says.
inline constexpr const char* device_variable = "VARVE_RUN_DEVICE";
/// The clock of the multiprocessors that the devices are held against, as device_text.hpp writes it; empty or
/// absent: what was measured.
inline constexpr const char* clock_variable = "VARVE_RUN_CLOCK";
/// In the folder, where a model is given: as model_text.hpp writes it.
inline constexpr const char* model_file = "model";
/// "1": the trace is wanted too.
inline constexpr const char* trace_variable = "VARVE_RUN_TRACE";
/// The run counts, in place of timing: what, as counters_text.hpp writes it; empty or absent: it times.
inline constexpr const char* counters_variable = "VARVE_RUN_COUNTERS";
/// Naming rules: kind ('p', 'l' or 'i'), pattern, field_end, name, rule_end.
inline constexpr const char* rules_variable = "VARVE_RUN_RULES";
/// "info", "warning" (the default), "error" or "off": what the injected library says on standard error.
inline constexpr const char* log_variable = "VARVE_RUN_LOG";

inline constexpr char field_end = '\x1F';
inline constexpr char rule_end = '\x1E';

inline constexpr const char* library_name = "libvarve_inject.so";
/// Beside it: what the engine's programs load before all else, so that products of cuBLAS tell their work.
inline constexpr const char* cublas_library_name = "libvarve_cublas_preload.so";
/// What that library is told by, where the process has it: void(const uint32_t* state, declare_function).
inline constexpr const char* cublas_function = "varve_cublas_record_";
inline constexpr const char* snapshot_infix = ".snapshot";
inline constexpr const char* report_suffix = ".report.json";
inline constexpr const char* trace_suffix = ".trace.json";

/// Whether the program failed to write what it recorded.
inline constexpr char claim_good = '+';
inline constexpr char claim_failed = '!';

}  // namespace varve::inject

#endif  // VARVE_INJECT_VARIABLES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What `varve run` and the library that it injects agree on. Each injected program image claims a number N
// with the file "PID.N" in the run's folder (the program's name is in it), writes "PID.N.snapshot.json" now
// and then and "PID.N.json" at its end, each under another name first.
#ifndef VARVE_INJECT_VARIABLES_HPP
#define VARVE_INJECT_VARIABLES_HPP

namespace varve::inject {

/// Where results go: an absolute path. Without it nothing is recorded.
inline constexpr const char* folder_variable = "VARVE_RUN_FOLDER";
/// session_options::trace_memory, in MiB.
inline constexpr const char* memory_variable = "VARVE_RUN_MEMORY";
/// Milliseconds between snapshots, 0: none.
inline constexpr const char* interval_variable = "VARVE_RUN_INTERVAL";
/// Naming rules: kind ('p', 'l' or 'i'), pattern, field_end, name, rule_end.
inline constexpr const char* rules_variable = "VARVE_RUN_RULES";
/// "info", "warning" (the default), "error" or "off": what the injected library says on standard error.
inline constexpr const char* log_variable = "VARVE_RUN_LOG";

inline constexpr char field_end = '\x1F';
inline constexpr char rule_end = '\x1E';

inline constexpr const char* library_name = "libvarve_inject.so";
inline constexpr const char* final_suffix = ".json";
inline constexpr const char* snapshot_suffix = ".snapshot.json";

}  // namespace varve::inject

#endif  // VARVE_INJECT_VARIABLES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CLI_HELP_TEXTS_HPP
#define VARVE_CLI_HELP_TEXTS_HPP

namespace varve::cli {

inline constexpr const char* codes = R"(Exit codes:
  0  all is well
  1  a file could not be read or is no trace; the others are reported all the same
  2  the command line is wrong
  3  the output could not be written)";

inline constexpr const char* run_codes =
    R"(The table goes to standard error: standard output is the engine's.

Exit codes: the engine's own, 128 + N where signal N ended it. Before it runs, or after all went well:
  1    a report could not be read
  2    the command line is wrong
  3    a report or trace could not be written
  126  the engine cannot be started
  127  there is no such engine)";

inline constexpr const char* terms = R"(Terms, and what other tools call them:
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

}  // namespace varve::cli

#endif  // VARVE_CLI_HELP_TEXTS_HPP

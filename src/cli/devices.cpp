// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/devices.hpp"

#include "cli/machine.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/terminal.hpp"
#include "formats/table/text.hpp"
#include "trace/pipe_names.hpp"

#include <varve/io.hpp>

#include <unistd.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace varve::cli {

namespace {

constexpr double tera = 1e12;
constexpr double giga = 1e9;
constexpr double mega = 1e6;
constexpr double mib = 1024.0 * 1024.0;

/// Three digits, or more where they stand before the point; "-" for what is unknown.
std::string number(double value) {
  if (!(value > 0)) {
    return "-";
  }
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), "%.*f", value < 10 ? 2 : value < 100 ? 1 : 0, value);
  return out.data();
}

std::string capability(std::int32_t value) {
  return value > 0 ? std::to_string(value / 10) + '.' + std::to_string(value % 10) : "-";
}

std::string row(const std::array<std::string, 9>& cells, const std::string& last, int width) {
  constexpr std::array<std::size_t, 9> widths{40, 5, 5, 8, 8, 8, 8, 8, 7};
  std::string out = table::left(cells[0], widths[0]);
  for (std::size_t i = 1; i < cells.size(); ++i) {
    out += table::right(cells[i], widths[i]);
  }
  out += "  " + last;
  return (width > 0 ? table::shortened(out, static_cast<std::size_t>(width)) : out) + '\n';
}

std::string list(int width) {
  std::string out =
      row({"device", "cc", "SMs", "GB/s", "FP32", "FP16", "FP8", "INT8", "ridge"}, "source", width);
  for (const ceilings& c : all_ceilings()) {
    out += row({c.name, capability(c.compute_capability), std::to_string(c.multiprocessors),
                number(c.bandwidth / giga), number(c.peak(math_pipe::fp32) / tera),
                number(c.peak(math_pipe::fp16_tensor) / tera), number(c.peak(math_pipe::fp8_tensor) / tera),
                number(c.peak(math_pipe::int8_tensor) / tera), number(c.ridge(math_pipe::fp16_tensor))},
               c.source, width);
  }
  return out +
         "\nDense rates in 10^12 operations a second, of tensor cores for FP16 (accumulated in FP32), FP8 "
         "and "
         "INT8;\nthe ridge, in FLOP/B, is that of FP16. varve devices NAME shows all of one.\n";
}

void line(std::string& out, const char* name, const std::string& value) {
  out += "  " + table::left(name, 34) + value + '\n';
}

std::string details(const ceilings& c) {
  std::string out = table::printable(c.name) + '\n';
  const double top = c.top_clock > c.clock && c.clock > 0 && !c.measured ? c.top_clock : 0;
  const ceilings fast = at_clock(c, top);
  if (c.compute_capability > 0) {
    line(out, "compute capability", capability(c.compute_capability));
  }
  if (c.multiprocessors > 0) {
    line(out, "multiprocessors", std::to_string(c.multiprocessors));
  }
  if (c.bandwidth > 0) {
    line(out, "memory", number(c.bandwidth / giga) + " GB/s");
  }
  if (c.l2_bytes > 0) {
    line(out, "last cache",
         number(c.l2_bytes / mib) + " MiB" +
             (c.l2_bandwidth > 0 ? ", " + number(c.l2_bandwidth / giga) + " GB/s" : ""));
  }
  if (c.link_bandwidth > 0) {
    line(out, "to other devices, both directions", number(c.link_bandwidth / giga) + " GB/s");
  }
  if (c.host_bandwidth > 0) {
    line(out, "to the host, one direction", number(c.host_bandwidth / giga) + " GB/s");
  }
  if (c.clock > 0) {
    const std::string other = top > 0                         ? ", at most " + number(top / mega)
                              : c.measured && c.top_clock > 0 ? ", of FP32 " + number(c.top_clock / mega)
                                                              : "";
    line(out, "clock", number(c.clock / mega) + " MHz" + other);
  }
  out += '\n' + ("  " + table::left("dense rates", 34)) + table::right("10^12/s", 9) +
         table::right("FLOP/B", 9) + (top > 0 ? "  at " + number(top / mega) + " MHz" : "") + '\n';
  for (std::size_t k = 0; k < math_pipes; ++k) {
    if (const auto pipe = static_cast<math_pipe>(k); c.peak(pipe) > 0) {
      line(out, pipe_names[k],
           table::right(number(c.peak(pipe) / tera), 9) + table::right(number(c.ridge(pipe)), 9) +
               (top > 0 ? table::right(number(fast.peak(pipe) / tera), 13) : ""));
    }
  }
  if (top > 0) {
    out += "  Rates of tensor cores are published for a clock below the highest: work may pass them.\n";
  }
  return out + "\n  " + (c.measured ? "measured: " : "published: ") + table::printable(c.source) + '\n';
}

}  // namespace

ceilings device_named(const std::string& text) {
  constexpr std::string_view ending = ".json";
  if (text.find('/') != std::string::npos ||
      (text.size() > ending.size() &&
       text.compare(text.size() - ending.size(), ending.size(), ending) == 0)) {
    return read_ceilings(text);
  }
  try {
    return ceilings_named(text);
  } catch (const std::invalid_argument&) {
    const std::string folder = devices_folder();
    const std::string kept = folder + '/' + text + ".json";
    if (folder.empty() || text.empty() || ::access(kept.c_str(), F_OK) != 0) {
      throw;
    }
    return read_ceilings(kept);
  }
}

int run(const devices_arguments& asked) {
  if (asked.name.empty()) {
    write_standard_output(list(terminal_width(STDOUT_FILENO)));
    return success;
  }
  try {
    write_standard_output(details(device_named(asked.name)));
    return success;
  } catch (const std::invalid_argument& e) {
    complain(e.what());
    return usage;
  }
}

}  // namespace varve::cli

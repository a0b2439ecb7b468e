// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/calibrate.hpp"

#include "cli/machine.hpp"
#include "cli/measure.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "formats/table/text.hpp"

#include <varve/device.hpp>
#include <varve/io.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

namespace varve::cli {

namespace {

constexpr std::uint64_t mebi = std::uint64_t{1} << 20U;

std::string format(const char* how, double value) {
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), how, value);
  return out.data();
}

/// Memory for the triad: what is asked for, else well beyond the last cache, yet a quarter of all at most.
std::uint64_t triad_bytes(const calibrate_arguments& asked) {
  constexpr std::uint64_t least = 384 * mebi;
  constexpr std::uint64_t caches = 12;  // each of the three arrays is four times the last cache
  if (asked.memory) {
    return *asked.memory * mebi;
  }
  const std::uint64_t wanted = std::max(least, caches * last_cache_bytes());
  const std::uint64_t there = memory_bytes();
  return there > 0 ? std::min(wanted, there / 4) : wanted;
}

std::vector<measurement> measure(const calibrate_arguments& asked, std::uint64_t bytes,
                                 std::string& library) {
  const int most = asked.threads > 0 ? asked.threads : usable_processors();
  std::vector<int> threads{most};
  if (asked.threads == 0 && most > 1) {
    threads.push_back(1);
  }
  std::vector<measurement> out;
  for (const int count : threads) {
    out.push_back(measure_triad(bytes, count, asked.samples));
  }
  try {
    const blas products{asked.blas};
    library = products.name();
    if (asked.threads > 0 && !products.sets_threads()) {
      throw std::runtime_error{library + ": has no openblas_set_num_threads, so --threads cannot be kept"};
    }
    for (const bool fp64 : {false, true}) {
      for (const int count : threads) {
        if (count == most || products.sets_threads()) {
          out.push_back(products.measure(fp64, asked.order, count, asked.samples));
        }
      }
    }
  } catch (const std::runtime_error& e) {
    if (!asked.blas.empty()) {
      throw;
    }
    complain(std::string{e.what()} + "; memory alone is measured");
  }
  return out;
}

/// The best median of a kind: more threads are no gain on every machine.
double best(const std::vector<measurement>& all, std::string_view what) {
  double out = 0;
  for (const measurement& m : all) {
    out = m.what == what ? std::max(out, m.median()) : out;
  }
  return out;
}

ceilings ceilings_from(const std::vector<measurement>& all, const calibrate_arguments& asked,
                       std::uint64_t bytes, const std::string& library) {
  ceilings out;
  const std::string host = host_name();
  out.name = !asked.name.empty() ? asked.name : processor_name() + (host.empty() ? "" : " (" + host + ')');
  out.bandwidth = best(all, "triad");
  out.flops[static_cast<std::size_t>(math_pipe::fp32)] = best(all, "sgemm");
  out.flops[static_cast<std::size_t>(math_pipe::fp64)] = best(all, "dgemm");
  out.l2_bytes = static_cast<double>(last_cache_bytes());
  out.measured = true;
  out.source =
      "varve calibrate: median of " + std::to_string(asked.samples) + " runs on " +
      (asked.threads > 0 ? std::to_string(asked.threads) : "up to " + std::to_string(usable_processors())) +
      " threads; a triad over " + std::to_string(bytes / mebi) + " MiB";
  if (!library.empty()) {
    out.source += "; products of matrices of order " + std::to_string(asked.order) + " by " + library;
  }
  return out;
}

/// The ceilings as JSON, with all samples beside them.
std::string document(const ceilings& c, const std::vector<measurement>& all) {
  std::string out = to_json(c);
  out.erase(out.find_last_not_of("}\n") + 1);
  out += ",\n  \"measurements\": [";
  for (const measurement& m : all) {
    out += &m == &all.front() ? "\n" : ",\n";
    out += R"(    {"what": ")" + m.what + R"(", "threads": )" + std::to_string(m.threads) +
           R"(, "median": )" + format("%.17g", m.median()) + R"(, "samples": [)";
    for (std::size_t i = 0; i < m.samples.size(); ++i) {
      out += (i == 0 ? "" : ", ") + format("%.17g", m.samples[i]);
    }
    out += "]}";
  }
  return out + "\n  ]\n}\n";
}

std::string table_of(const ceilings& c, const std::vector<measurement>& all) {
  constexpr double giga = 1e9;
  std::string out =
      table::printable(c.name) + "\n\n  measured  threads     median      least       most  spread\n";
  for (const measurement& m : all) {
    const bool triad = m.what == "triad";
    out += "  " + table::left(m.what, 8) + table::right(std::to_string(m.threads), 9);
    for (const double rate : {m.median(), m.least(), m.most()}) {
      out += table::right(format("%.1f", rate / giga), 11);
    }
    out += table::right(format("%.0f %%", m.spread() * 100), 8) + (triad ? "  GB/s\n" : "  GFLOP/s\n");
  }
  out += "\nceilings: " + format("%.1f GB/s", c.bandwidth / giga);
  for (const auto& [pipe, name] : {std::pair{math_pipe::fp32, "FP32"}, {math_pipe::fp64, "FP64"}}) {
    if (c.peak(pipe) > 0) {
      out += std::string{"; "} + name + format(" %.1f GFLOP/s", c.peak(pipe) / giga) +
             format(", ridge %.1f FLOP/B", c.ridge(pipe));
    }
  }
  return out + '\n';
}

/// Where the file goes; makes the folder.
std::string place(const calibrate_arguments& asked) {
  if (!asked.output.empty()) {
    return asked.output;
  }
  const std::string folder = devices_folder();
  if (folder.empty()) {
    throw output_error{
        "neither $XDG_CONFIG_HOME nor $HOME says where to keep the result: name a file with "
        "--output"};
  }
  std::error_code wrong;
  std::filesystem::create_directories(folder, wrong);
  if (wrong) {
    throw output_error{folder + ": " + wrong.message()};
  }
  std::string name = host_name();
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return c == '/' || c == '\\' || static_cast<unsigned char>(c) <= ' '; }, '_');
  return folder + '/' + (name.empty() || name.front() == '.' ? "machine" : name) + ".json";
}

}  // namespace

int run(const calibrate_arguments& asked) {
  const std::string file = place(asked);
  const std::uint64_t bytes = triad_bytes(asked);
  if (bytes < 4 * last_cache_bytes()) {
    complain("the triad takes less than four times the last cache: it measures the cache in part");
  }
  std::string library;
  std::vector<measurement> all;
  try {
    all = measure(asked, bytes, library);
  } catch (const std::bad_alloc&) {
    complain("there is too little memory: ask for less with --memory or --order");
    return unreadable;
  } catch (const std::runtime_error& e) {
    complain(e.what());
    return unreadable;
  }
  const ceilings c = ceilings_from(all, asked, bytes, library);
  const std::string kept = document(c, all);
  write_file(file, kept);
  std::string text = table_of(c, all) + "kept in " + table::printable(file) +
                     "; use: varve report TRACE --device " + table::printable(file) + '\n';
  if (has_gpu()) {
    text += "GPUs are measured by varve calibrate --gpu; varve devices lists what is published of them\n";
  }
  write_standard_output(asked.json ? kept : text);
  return success;
}

}  // namespace varve::cli

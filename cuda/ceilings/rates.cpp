// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "ceilings/rates.hpp"

#include "cli/samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace varve::ceilings_of_gpu {

namespace {

constexpr double mega = 1e6;
constexpr double giga = 1e9;
constexpr double tera = 1e12;
constexpr std::int64_t mebi = std::int64_t{1} << 20U;

template <class... Values>
std::string format(const char* how, Values... values) {
  std::array<char, 200> out{};
  std::snprintf(out.data(), out.size(), how, values...);
  return out.data();
}

bool of_memory(const measurement& m) { return m.pipe == math_pipe::unknown; }

}  // namespace

double measurement::median() const { return varve::samples::median(samples); }
double measurement::least() const { return varve::samples::least(samples); }
double measurement::most() const { return varve::samples::most(samples); }
double measurement::spread() const { return varve::samples::spread(samples); }

std::int64_t array_bytes(std::int64_t asked, std::int64_t cache, std::int64_t free) {
  constexpr std::int64_t least = 256 * mebi;
  constexpr std::int64_t arrays = 3;
  const std::int64_t wanted = asked > 0 ? asked : std::max(least, 8 * cache);
  const std::int64_t bytes = std::min(wanted, free / 4 / arrays);
  return bytes < mebi ? 0 : bytes / 16 * 16;
}

int repetitions(double one, double wanted) {
  constexpr double most = 1000;
  return one > 0 ? static_cast<int>(std::clamp(std::ceil(wanted / one), 1.0, most)) : static_cast<int>(most);
}

double median_of_known(std::vector<double> readings) {
  readings.erase(std::remove(readings.begin(), readings.end(), 0.0), readings.end());
  return varve::samples::median(std::move(readings));
}

schedule schedule_of(double one, int asked) {
  constexpr double longest = 0.1;
  constexpr double shortest = 0.02;
  constexpr double together = 2.5;
  constexpr int fewest = 3;
  const int calls = repetitions(one, std::clamp(together / asked, shortest, longest));
  const double fit = one > 0 ? std::floor(together / (calls * one)) : asked;
  return {calls, fit < asked ? std::min(asked, std::max(fewest, static_cast<int>(fit))) : asked};
}

ceilings ceilings_from(const std::vector<measurement>& all, const device_info& device,
                       const std::string& name, const std::string& how) {
  ceilings out;
  out.name = name;
  out.multiprocessors = device.multiprocessors;
  out.compute_capability = device.compute_capability;
  out.l2_bytes = static_cast<double>(device.l2_bytes);
  out.measured = true;
  std::string streams;
  std::vector<double> clocks;
  for (const measurement& m : all) {
    double& rate = of_memory(m) ? out.bandwidth : out.flops[static_cast<std::size_t>(m.pipe)];
    rate = std::max(rate, m.median());
    if (of_memory(m)) {
      streams += format("%s %s %.1f GB/s (%.1f %% of %zu)", streams.empty() ? "" : ",", m.what.c_str(),
                        m.median() / giga, m.spread() * 100, m.samples.size());
    } else if (m.pipe == math_pipe::fp32) {
      out.top_clock = m.clock;
    } else {
      clocks.push_back(m.clock);
    }
  }
  out.clock = median_of_known(std::move(clocks));
  out.source = how;
  if (!streams.empty()) {
    out.source += "; bandwidth, the highest of" + streams + ", medians with the spread of runs";
  }
  return out;
}

std::string to_table(const ceilings& measured, const std::vector<measurement>& all,
                     const std::optional<ceilings>& published) {
  std::string out = "  measured      runs   MHz     median      least       most  spread   published\n";
  for (const measurement& m : all) {
    const double unit = of_memory(m) ? giga : tera;
    out += format("  %-12s%6zu%6s%11.1f%11.1f%11.1f%6.1f %%", m.what.c_str(), m.samples.size(),
                  m.clock > 0 ? format("%.0f", m.clock / mega).c_str() : "-", m.median() / unit,
                  m.least() / unit, m.most() / unit, m.spread() * 100);
    const double known = !published ? 0 : of_memory(m) ? published->bandwidth : published->peak(m.pipe);
    out += known > 0 ? format("%12.1f  %3.0f %%", known / unit, m.median() / known * 100)
                     : std::string{"           -       "};
    out += of_memory(m) ? "  GB/s\n" : "  TFLOP/s\n";
  }
  if (published) {
    out += "published of " + published->name + ": " + published->source + '\n';
  } else {
    out += "nothing is published of this device in varve's table\n";
  }
  if (measured.ridge(math_pipe::fp16_tensor) > 0) {
    out += format("ridge in FP16: %.0f FLOP/B\n", measured.ridge(math_pipe::fp16_tensor));
  }
  return out;
}

std::string with_samples(std::string ceilings_json, const std::vector<measurement>& all) {
  ceilings_json.erase(ceilings_json.find_last_not_of("}\n") + 1);
  std::string out = std::move(ceilings_json) + ",\n  \"measurements\": [";
  for (const measurement& m : all) {
    out += &m == &all.front() ? "\n" : ",\n";
    out += R"(    {"what": ")" + m.what + R"(", "median": )" + format("%.17g", m.median()) +
           (m.clock > 0 ? format(R"(, "clock": %.17g)", m.clock) : "") + R"(, "samples": [)";
    for (std::size_t i = 0; i < m.samples.size(); ++i) {
      out += (i == 0 ? "" : ", ") + format("%.17g", m.samples[i]);
    }
    out += "]}";
  }
  return out + "\n  ]\n}\n";
}

}  // namespace varve::ceilings_of_gpu

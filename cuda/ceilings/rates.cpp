// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "ceilings/rates.hpp"

#include "cli/samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace varve::ceilings_of_gpu {

namespace {

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

ceilings ceilings_from(const std::vector<measurement>& all, const device_info& device,
                       const std::string& name, const std::string& how) {
  ceilings out;
  out.name = name;
  out.multiprocessors = device.multiprocessors;
  out.compute_capability = device.compute_capability;
  out.l2_bytes = static_cast<double>(device.l2_bytes);
  out.measured = true;
  out.source = how;
  for (const measurement& m : all) {
    double& rate = of_memory(m) ? out.bandwidth : out.flops[static_cast<std::size_t>(m.pipe)];
    rate = std::max(rate, m.median());
  }
  return out;
}

std::string to_table(const ceilings& measured, const std::vector<measurement>& all,
                     const std::optional<ceilings>& published) {
  std::string out = "  measured             median      least       most  spread   published\n";
  for (const measurement& m : all) {
    const double unit = of_memory(m) ? giga : tera;
    out += format("  %-14s  %11.1f%11.1f%11.1f%7.1f %%", m.what.c_str(), m.median() / unit, m.least() / unit,
                  m.most() / unit, m.spread() * 100);
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
    out +=
        R"(    {"what": ")" + m.what + R"(", "median": )" + format("%.17g", m.median()) + R"(, "samples": [)";
    for (std::size_t i = 0; i < m.samples.size(); ++i) {
      out += (i == 0 ? "" : ", ") + format("%.17g", m.samples[i]);
    }
    out += "]}";
  }
  return out + "\n  ]\n}\n";
}

}  // namespace varve::ceilings_of_gpu

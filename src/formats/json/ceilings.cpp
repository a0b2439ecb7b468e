// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Ceilings of a device as JSON that people write by hand: small, so clear errors come before speed.
#include "formats/input/input.hpp"

#include <varve/io.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <ostream>
#include <string_view>

namespace varve {

namespace json {
namespace {

constexpr const char* device_version_field = "varve_device";
constexpr int version = 1;

/// By math_pipe; none for what FLOPs cannot run on.
constexpr std::array<std::string_view, math_pipes> pipes{"",
                                                         "",
                                                         "fp64",
                                                         "fp64_tensor",
                                                         "fp32",
                                                         "fp16",
                                                         "tf32_tensor",
                                                         "fp16_tensor",
                                                         "fp16_tensor_fp16",
                                                         "bf16_tensor",
                                                         "fp8_tensor",
                                                         "fp4_tensor",
                                                         "int8_tensor",
                                                         "int8_dp4a"};

/// Beyond these a number has the wrong unit.
struct quantity {
  double least;
  double most;
  const char* unit;
  const char* example;
};
constexpr quantity rate{1e8, 1e18, "FLOP a second", "989.4e12"};
constexpr quantity bandwidth{1e8, 1e15, "bytes a second", "3.35e12"};
constexpr quantity link{1e6, 1e15, "bytes a second", "900e9"};
constexpr quantity cache{1024, 1e12, "bytes", "52428800"};
constexpr quantity frequency{1e6, 1e11, "Hz", "1.83e9"};
constexpr quantity units{1, 1e6, "multiprocessors", "132"};
constexpr quantity capability{10, 2000, "ten times the version", "90 for 9.0"};

struct number_field {
  const char* name;
  double ceilings::*place;
  quantity is;
};
constexpr number_field numbers[] = {
    {"bandwidth", &ceilings::bandwidth, bandwidth},       {"l2_bytes", &ceilings::l2_bytes, cache},
    {"l2_bandwidth", &ceilings::l2_bandwidth, bandwidth}, {"link_bandwidth", &ceilings::link_bandwidth, link},
    {"host_bandwidth", &ceilings::host_bandwidth, link},  {"clock", &ceilings::clock, frequency},
    {"top_clock", &ceilings::top_clock, frequency}};

struct count_field {
  const char* name;
  std::int32_t ceilings::*place;
  quantity is;
};
constexpr count_field counts[] = {{"multiprocessors", &ceilings::multiprocessors, units},
                                  {"compute_capability", &ceilings::compute_capability, capability}};

class ceilings_reader {
 public:
  ceilings_reader(const std::string& path, ceilings& to) : path_{path}, to_{to} {}

  void read(const nlohmann::json& root) {
    if (!root.is_object()) {
      fail("expected an object of the fields that docs/devices.md lists, found " + std::string{type(root)});
    }
    for (const auto& [name, value] : root.items()) {
      read_field(name, value);
    }
    if (to_.name.empty()) {
      fail("name: is missing or empty; call the device something");
    }
    const bool no_rate = std::all_of(to_.flops.begin(), to_.flops.end(), [](double r) { return r == 0; });
    if (no_rate && to_.bandwidth == 0) {
      fail("has neither \"flops\" nor \"bandwidth\": give what the device can do at most");
    }
  }

  [[noreturn]] void fail(const std::string& cause) const { input::fail(path_, cause); }

 private:
  static std::string_view type(const nlohmann::json& value) { return value.type_name(); }

  void read_field(const std::string& name, const nlohmann::json& value) {
    const auto is = [&](const auto& field) { return name == field.name; };
    if (const auto* f = std::find_if(std::begin(numbers), std::end(numbers), is); f != std::end(numbers)) {
      to_.*(f->place) = number(name, value, f->is);
    } else if (const auto* c = std::find_if(std::begin(counts), std::end(counts), is);
               c != std::end(counts)) {
      to_.*(c->place) = static_cast<std::int32_t>(whole(name, value, c->is));
    } else if (name == "flops") {
      read_flops(value);
    } else if (name == "name") {
      to_.name = text(name, value);
    } else if (name == "source") {
      to_.source = text(name, value);
    } else if (name == "measured") {
      if (!value.is_boolean()) {
        wrong(name, "true or false", value);
      }
      to_.measured = value.get<bool>();
    } else if (name == device_version_field) {
      if (!value.is_number_integer() || value != version) {
        fail(name + ": this varve reads version " + std::to_string(version));
      }
    } else if (name != "measurements") {  // what calibrate measured, for people
      fail(shown(name) + ": there is no such field; docs/devices.md lists them");
    }
  }

  void read_flops(const nlohmann::json& value) {
    if (!value.is_object()) {
      wrong("flops", "an object such as {\"fp32\": 67e12}", value);
    }
    for (const auto& [name, peak] : value.items()) {
      const auto* const found = std::find(pipes.begin(), pipes.end(), name);
      if (name.empty() || found == pipes.end()) {
        fail("flops." + shown(name) + ": there is no such pipe; docs/devices.md lists them");
      }
      to_.flops[static_cast<std::size_t>(found - pipes.begin())] = number("flops." + name, peak, rate);
    }
  }

  double number(const std::string& name, const nlohmann::json& value, const quantity& is) const {
    if (!value.is_number()) {
      wrong(name, "a number", value);
    }
    const auto given = value.get<double>();
    if (given == 0) {
      fail(name + ": is 0; leave out what is unknown");
    }
    if (given < 0) {
      fail(name + ": is negative");
    }
    if (given < is.least || given > is.most) {
      fail(name + ": " + value.dump() + " is too " + (given < is.least ? "small" : "large") + "; it is in " +
           is.unit + ", such as " + is.example);
    }
    return given;
  }

  double whole(const std::string& name, const nlohmann::json& value, const quantity& is) const {
    const double given = number(name, value, is);
    if (std::floor(given) != given) {
      fail(name + ": " + value.dump() + " is no whole number");
    }
    return given;
  }

  std::string text(const std::string& name, const nlohmann::json& value) const {
    if (!value.is_string()) {
      wrong(name, "a text", value);
    }
    return value.get<std::string>();
  }

  [[noreturn]] void wrong(const std::string& name, const std::string& expected,
                          const nlohmann::json& value) const {
    fail(name + ": expected " + expected + ", found " + std::string{type(value)});
  }

  static std::string shown(const std::string& name) {
    constexpr std::size_t longest = 64;
    return name.size() <= longest ? name : "a field whose name begins with " + name.substr(0, longest);
  }

  const std::string& path_;
  ceilings& to_;
};

nlohmann::ordered_json to_object(const ceilings& c) {
  nlohmann::ordered_json out;
  out[device_version_field] = version;
  out["name"] = c.name;
  out["flops"] = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < math_pipes; ++i) {
    if (!pipes[i].empty() && c.flops[i] > 0) {
      out["flops"][std::string{pipes[i]}] = c.flops[i];
    }
  }
  for (const number_field& f : numbers) {
    if (c.*(f.place) > 0) {
      out[f.name] = c.*(f.place);
    }
  }
  for (const count_field& f : counts) {
    if (c.*(f.place) > 0) {
      out[f.name] = c.*(f.place);
    }
  }
  out["measured"] = c.measured;
  if (!c.source.empty()) {
    out["source"] = c.source;
  }
  return out;
}

}  // namespace
}  // namespace json

inline namespace v0 {

ceilings read_ceilings(const std::string& path) {
  constexpr std::size_t most = std::size_t{1} << 20U;
  const std::string text = input::head(path, most + 1);
  ceilings out;
  json::ceilings_reader reader{path, out};
  if (text.size() > most) {
    reader.fail("holds more than 1 MiB, unlike any description of a device");
  }
  try {
    reader.read(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& e) {
    reader.fail(std::string{"is not valid JSON: "} + e.what());
  }
  return out;
}

void write_json(std::ostream& out, const ceilings& device) { out << to_json(device); }

std::string to_json(const ceilings& device) {
  constexpr int indent = 2;
  return json::to_object(device).dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/device_match.hpp"

#include "formats/table/units.hpp"

#include <cmath>
#include <string>

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

using table::counted;
using table::number;

/// In Hz, 0 where unknown.
void add_clocks(std::vector<device_difference>& to, const char* name, double a, double b) {
  if (a > 0 && b > 0 && std::fabs(a - b) > 0.01 * a) {
    to.push_back({true, 0.5, true,
                  std::string{name} + ": " + number(a / 1e6) + " MHz against " + number(b / 1e6) + " MHz"});
  }
}

double hertz(std::int64_t clock) { return clock > 0 ? static_cast<double>(clock) : 0; }

}  // namespace

std::string name_or_unknown(const std::string& name) { return name.empty() ? "an unknown one" : name; }

std::vector<device_difference> differences_of(const device_row& base, const device_row& fresh) {
  std::vector<device_difference> out;
  const device_info& x = base.device;
  const device_info& y = fresh.device;
  if (x.name != y.name) {
    const bool known = !x.name.empty() && !y.name.empty();
    out.push_back({known, known ? 0.7 : 0.1, false,
                   "device: " + name_or_unknown(x.name) + " against " + name_or_unknown(y.name)});
    return out;
  }
  if (x.multiprocessors != y.multiprocessors && x.multiprocessors > 0 && y.multiprocessors > 0) {
    out.push_back({true, 0.7, false,
                   x.name + " with " + counted(x.multiprocessors, "multiprocessor") + " against " +
                       counted(y.multiprocessors, "multiprocessor")});
  } else if (x.memory_bytes != y.memory_bytes && x.memory_bytes > 0 && y.memory_bytes > 0) {
    out.push_back({false, 0.1, false, x.name + " with another amount of memory"});
  }
  add_clocks(out, "the device's clock", base.ceilings ? base.ceilings->clock : 0,
             fresh.ceilings ? fresh.ceilings->clock : 0);
  add_clocks(out, "the device's highest clock", hertz(x.clock), hertz(y.clock));
  add_clocks(out, "the highest clock of the device's memory", hertz(x.memory_clock), hertz(y.memory_clock));
  return out;
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve

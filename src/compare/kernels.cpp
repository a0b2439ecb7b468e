// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

struct use {
  const row* of = nullptr;
  double count = 0;
  double time = 0;
};

std::map<std::string_view, use> uses_of(const run& r, std::uint32_t phase) {
  std::map<std::string_view, use> out;
  for (const std::uint32_t i : r.kernels(phase)) {
    const row& one = r.of().kernels[i];
    const measures& m = one.inclusive;
    const double passes = r.passes(phase);
    out.try_emplace(one.path, use{&one, (amount(m.kernels) + amount(m.copies) + amount(m.sets)) / passes,
                                  amount(m.gpu_time) / passes});
  }
  return out;
}

bool same_grid(const launch_shape& a, const launch_shape& b) {
  return std::equal(std::begin(a.grid), std::end(a.grid), std::begin(b.grid)) &&
         std::equal(std::begin(a.block), std::end(a.block), std::begin(b.block));
}

}  // namespace

void find_kernel_changes(const sides& s, phase_pair phase, std::uint32_t index, comparison& to) {
  using kind = kernel_change::kind;
  const std::map<std::string_view, use> base = uses_of(s.base.runs[0], phase.base);
  const std::map<std::string_view, use> fresh = uses_of(s.fresh.runs[0], phase.fresh);
  std::vector<kernel_change> found;
  const auto tell = [&](kind what, std::string_view name, const use& b, const use& f) {
    kernel_change& k = found.emplace_back();
    k.what = what;
    k.phase = index;
    k.name = name;
    k.base_count = b.count;
    k.fresh_count = f.count;
    k.base_time = b.time;
    k.fresh_time = f.time;
    k.base_shape = b.of != nullptr ? b.of->shape : launch_shape{};
    k.fresh_shape = f.of != nullptr ? f.of->shape : launch_shape{};
  };
  for (const auto& [name, b] : base) {
    const auto at = fresh.find(name);
    if (at == fresh.end()) {
      tell(kind::removed, name, b, {});
      continue;
    }
    const use& f = at->second;
    constexpr double enough = 0.01;
    if (std::fabs(b.count - f.count) > enough * std::max(b.count, f.count)) {
      tell(kind::count, name, b, f);
    } else if (!same_grid(b.of->shape, f.of->shape)) {
      tell(kind::shape, name, b, f);
    }
  }
  for (const auto& [name, f] : fresh) {
    if (base.find(name) == base.end()) {
      tell(kind::added, name, {}, f);
    }
  }
  const auto weight = [](const kernel_change& k) { return std::max(k.base_time, k.fresh_time); };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto& a, const auto& b) { return weight(a) > weight(b); });
  to.kernels.insert(to.kernels.end(), found.begin(), found.end());
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve

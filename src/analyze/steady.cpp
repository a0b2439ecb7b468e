// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/steady.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

constexpr std::int64_t enough = 3;  // passes that make a batch the usual one

/// The batch that most of these passes have, of equals the larger; how many have it is 0 where one has none.
std::pair<std::int64_t, pass_batch> usual_batch(const std::vector<sized_pass>& passes,
                                                const std::vector<std::uint32_t>& kind) {
  std::map<pass_batch, std::int64_t> counts;
  for (const std::uint32_t p : kind) {
    ++counts[passes[p].batch];
  }
  std::pair<std::int64_t, pass_batch> most{0, {}};
  for (const auto& [batch, count] : counts) {
    if (batch == pass_batch{}) {
      return {0, {}};
    }
    most = std::max(most, {count, batch});
  }
  return most;
}

}  // namespace

pass_batch batch_of(const std::array<std::int64_t, attribute_count>& a) noexcept {
  return {a[VARVE_PREFILL_SEQUENCES], a[VARVE_PREFILL_TOKENS],
          a[VARVE_DECODE_SEQUENCES] != 0 ? a[VARVE_DECODE_SEQUENCES] : a[VARVE_DECODE_TOKENS]};
}

ramps_found find_ramps(const std::vector<sized_pass>& passes) {
  ramps_found out;
  out.is_ramp.resize(passes.size(), false);
  std::vector<std::uint32_t> order(passes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple{passes[a].kind, passes[a].begin} < std::tuple{passes[b].kind, passes[b].begin};
  });
  std::vector<std::uint32_t> kind;
  for (std::size_t k = 0; k < order.size() && passes[order[k]].kind != none;) {
    kind.clear();
    for (const std::uint32_t of = passes[order[k]].kind; k < order.size() && passes[order[k]].kind == of;
         ++k) {
      kind.push_back(order[k]);
    }
    const auto [count, usual] = usual_batch(passes, kind);
    std::vector<std::uint32_t> ramps;
    bool settled = false;  // the pass before has the usual batch
    for (const std::uint32_t p : kind) {
      const bool here = passes[p].batch == usual;
      if (!here || !settled) {
        ramps.push_back(p);
      }
      settled = here;
    }
    if (count < enough || ramps.size() == kind.size()) {
      ++out.unsized_kinds;
      if (out.unsized.size() < most_named) {
        out.unsized.push_back(kind.front());
      }
      continue;
    }
    for (const std::uint32_t p : ramps) {
      out.is_ramp[p] = true;
    }
    out.passes += static_cast<std::int64_t>(ramps.size());
  }
  return out;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

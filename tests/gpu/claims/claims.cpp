// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "gpu/claims/claims.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace varve_gpu {

namespace {

constexpr std::string_view passes[] = {"prefill", "decode"};

/// Two decimals.
std::string text_of(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

const varve::phase_row* find_phase(const varve::report& r, std::string_view phase) {
  const auto found = std::find_if(r.phases.begin(), r.phases.end(), [&](const varve::phase_row& p) {
    return p.phase == phase && p.passes > 0 && p.partition.busy() > 0;
  });
  return found != r.phases.end() ? &*found : nullptr;
}

bool is_pass(std::string_view phase) {
  return std::find(std::begin(passes), std::end(passes), phase) != std::end(passes);
}

/// Of rows in which something ran, by phase and path: calls, kernels, and FLOPs of MLPs, which the engine
/// declares.
using work_by_row =
    std::map<std::pair<std::string, std::string>, std::tuple<std::int64_t, std::int64_t, std::int64_t>>;

work_by_row work_of(const varve::report& r) {
  work_by_row out;
  for (const varve::row& row : r.layers) {
    if (is_pass(row.phase) && row.inclusive.kernels > 0) {
      out[{row.phase, row.path}] = {row.inclusive.calls, row.inclusive.kernels,
                                    row.label == "mlp" ? row.inclusive.declared.flops : 0};
    }
  }
  return out;
}

std::string text_of(const work_by_row::mapped_type& work) {
  return std::to_string(std::get<0>(work)) + " calls, " + std::to_string(std::get<1>(work)) + " kernels, " +
         std::to_string(std::get<2>(work)) + " FLOPs";
}

/// Of layers; the row without a path is of what belongs to none.
bool is_outermost(const varve::row& r) { return !r.path.empty() && r.path.find(" / ") == std::string::npos; }

std::int64_t kernels_in(const std::vector<varve::row>& rows, bool (*belongs)(const varve::row&)) {
  return std::accumulate(
      rows.begin(), rows.end(), std::int64_t{0},
      [&](std::int64_t sum, const varve::row& r) { return sum + (belongs(r) ? r.inclusive.kernels : 0); });
}

}  // namespace

claim attributed(const varve::report& r) {
  const std::int64_t all = kernels_in(r.kernels, [](const varve::row&) { return true; });
  const std::int64_t in_layers = kernels_in(r.layers, is_outermost);
  const double share = all > 0 ? static_cast<double>(in_layers) / static_cast<double>(all) : 0;
  char text[128];
  std::snprintf(text, sizeof text, "%.3f %% of GPU time and %.3f %% of kernels belong to a layer",
                100 * r.quality.attributed, 100 * share);
  return {all > 0 && share >= 0.999 && r.quality.attributed >= 0.999 && r.quality.unmatched == 0,
          std::string{text} + ", " + std::to_string(r.quality.unmatched) + " of " +
              std::to_string(r.quality.activities) + " activities unmatched"};
}

claim bound_by(const varve::report& r, std::string_view phase, varve::bound by) {
  std::string text = std::string{phase} + " is " + varve::bound_name(by) + "-bound: ";
  const varve::phase_row* const found = find_phase(r, phase);
  if (found == nullptr) {
    return {false, text + "it was not recorded"};
  }
  const varve::verdict& v = found->verdict;
  text += std::string{varve::bound_name(v.by)} + ", " + text_of(100 * v.compute_share) + " % of compute, " +
          text_of(100 * v.memory_share) + " % of memory";
  return {v.by == by, v.by == by ? text : text + "; " + v.why};
}

claim graphs_as_predicted(const varve::report& eager, const varve::report& replayed) {
  const std::string what = "graphs cut the overhead ratio as predicted: ";
  const varve::phase_row* const before = find_phase(eager, "decode");
  const varve::phase_row* const after = find_phase(replayed, "decode");
  if (before == nullptr || after == nullptr) {
    return {false, what + "decode was not recorded"};
  }
  const auto phase = static_cast<std::uint32_t>(before - eager.phases.data());
  const auto found =
      std::find_if(eager.predictions.begin(), eager.predictions.end(), [&](const varve::prediction& p) {
        return p.what == varve::prediction::change::graphs && p.phase == phase;
      });
  if (found == eager.predictions.end()) {
    return {false, what + "nothing was predicted"};
  }
  const double measured = static_cast<double>(after->partition.wall()) / static_cast<double>(after->passes);
  const bool near = std::abs(measured / found->expected - 1) <= 0.25 ||
                    (measured >= found->at_best && measured <= found->at_worst);
  constexpr double microsecond = 1e3;
  return {near && after->overhead_ratio() < before->overhead_ratio(),
          what + "a pass takes " + text_of(found->now / microsecond) + " µs eagerly, predicted were " +
              text_of(found->expected / microsecond) + " (" + text_of(found->at_best / microsecond) + " to " +
              text_of(found->at_worst / microsecond) + "), as graphs it takes " +
              text_of(measured / microsecond) + "; ratio " + text_of(before->overhead_ratio()) + " and " +
              text_of(after->overhead_ratio())};
}

claim same_work(const varve::report& own, const varve::report& from_outside) {
  const work_by_row mine = work_of(own);
  const work_by_row theirs = work_of(from_outside);
  for (const auto& [row, work] : mine) {
    const auto found = theirs.find(row);
    if (found == theirs.end()) {
      return {false, row.first + " / " + row.second + " is in the engine's own report alone"};
    }
    if (found->second != work) {
      return {false, row.first + " / " + row.second + ": " + text_of(work) + " in the engine's own report, " +
                         text_of(found->second) + " in the other"};
    }
  }
  return {!mine.empty() && mine.size() == theirs.size(),
          "all " + std::to_string(mine.size()) +
              " rows of the engine's own report have their calls and kernels in " +
              "that of varve run, which has " + std::to_string(theirs.size()) + " rows"};
}

claim counted(const varve::report& joined) {
  std::size_t rows = 0;
  std::size_t with_bytes = 0;
  for (const varve::row& row : joined.layers) {
    if (is_pass(row.phase) && is_outermost(row)) {
      ++rows;
      // A copy of some bytes may move none.
      with_bytes +=
          row.counted && (row.label == "layer" ? row.counted->dram_read > 0 : row.counted->dram_read >= 0)
              ? 1U
              : 0U;
    }
  }
  return {rows > 0 && with_bytes == rows, std::to_string(with_bytes) + " of " + std::to_string(rows) +
                                              " outermost layers have counted DRAM bytes beside their times"};
}

claim explained(const varve::report& joined) {
  std::size_t rows = 0;
  std::size_t told = 0;
  std::string text = "counters against declared bytes explained: ";
  for (const varve::row& row : joined.layers) {
    if (!is_pass(row.phase) || !is_outermost(row) || row.label != "layer") {
      continue;
    }
    if (rows++ == 0 && row.counted) {
      text += row.phase + " / " + row.path + ": " + row.counted->why + "; ";
    }
    told += row.counted && row.counted->dram_read > 0 && row.counted->used &&
                    row.counted->why.rfind("DRAM moved", 0) == 0
                ? 1U
                : 0U;
  }
  return {rows > 0 && told == rows, text + std::to_string(told) + " of " + std::to_string(rows) + " layers"};
}

}  // namespace varve_gpu

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Layers that should take equally long.
#ifndef VARVE_PREDICT_PEERS_HPP
#define VARVE_PREDICT_PEERS_HPP

#include <varve/report.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace predict {

/// Rows of report::layers of one phase whose paths differ in their innermost index alone, with as many calls
/// and kernels and the same declared work. By that index. Kernels of a replayed graph whose place in it is
/// all that is known are nobody's peers; in layers that were inferred, those at the same place are.
struct peers {
  std::vector<std::uint32_t> rows;
  std::vector<std::int32_t> index;

  /// GPU time of a call of each, in nanoseconds.
  [[nodiscard]] std::vector<double> times(const report& r) const;
};

/// Groups of at least five that ran on the device.
[[nodiscard]] std::vector<peers> find_peers(const report& r);

/// Whether a label is a replayed graph's as traces are read, "graph 1 (339 nodes)": below it stand the
/// kernels of one of which no layer is known, or the layers that its capture or its kernels tell.
[[nodiscard]] bool is_graph(std::string_view label) noexcept;

/// Whether a row is more than a kernel's place in a replayed graph.
[[nodiscard]] bool is_layer(const report& r, const row& one) noexcept;

/// Whether a phase is of the work that an engine is for; loading, capturing and warming up are not.
[[nodiscard]] bool is_of_interest(const phase_row& phase) noexcept;

/// Index in report::phases of a row's phase, none when it is in none; and that of each row of report::layers.
[[nodiscard]] std::uint32_t phase_of(const report& r, const row& layer) noexcept;
[[nodiscard]] std::vector<std::uint32_t> phases_of(const report& r);

}  // namespace predict
}  // namespace v0
}  // namespace varve

#endif  // VARVE_PREDICT_PEERS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Tells passes of the usual batch from ramps (docs/metrics.md, "Steady passes").
#ifndef VARVE_ANALYZE_STEADY_HPP
#define VARVE_ANALYZE_STEADY_HPP

#include <varve/trace.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

inline constexpr std::size_t attribute_count = VARVE_ACCEPTED_TOKENS + 1;

/// Sequences in prefill and their tokens, and sequences in decode: all 0 where the pass carries none of it.
/// Tokens in decode vary with the drafts that were accepted, so they count only where sequences are not
/// known.
using pass_batch = std::array<std::int64_t, 3>;
[[nodiscard]] pass_batch batch_of(const std::array<std::int64_t, attribute_count>& attributes) noexcept;

struct sized_pass {
  std::uint32_t kind = none;  ///< passes of one are compared; none: with nothing
  time_ns begin = 0;
  pass_batch batch{};
};

inline constexpr std::size_t most_named = 8;

struct ramps_found {
  std::vector<bool> is_ramp;           ///< by pass; empty when not asked for
  std::int64_t passes = 0;             ///< that are
  std::int64_t unsized_kinds = 0;      ///< in which it can't be told
  std::vector<std::uint32_t> unsized;  ///< the first pass of each of these, of the first most_named
};
[[nodiscard]] ramps_found find_ramps(const std::vector<sized_pass>& passes);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_STEADY_HPP

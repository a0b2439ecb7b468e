// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/operator_around.hpp"

#include <cstddef>

namespace varve {
inline namespace v0 {
namespace pytorch {

std::uint32_t operator_around(const operator_columns& o, std::uint16_t thread, time_ns at) {
  std::size_t low = 0;
  for (std::size_t high = o.size(); low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    const bool before = o.thread[middle] != thread ? o.thread[middle] < thread : o.begin[middle] <= at;
    (before ? low : high) = before ? middle + 1 : middle;
  }
  if (low == 0 || o.thread[low - 1] != thread) {
    return none;
  }
  constexpr std::size_t most_climbed = 256;
  auto around = static_cast<std::uint32_t>(low - 1);
  for (std::size_t n = 0; around != none && o.end[around] < at; around = o.parent[around]) {
    if (++n == most_climbed) {
      return none;
    }
  }
  return around;
}

std::uint32_t operation_around(const trace& t, std::uint16_t thread, time_ns at) {
  constexpr std::size_t most_climbed = 64;  // annotations inside the operator
  std::uint32_t op = operator_around(t.operators, thread, at);
  for (std::size_t n = 0; op != none && n < most_climbed; op = t.operators.parent[op], ++n) {
    if (t.operator_kinds[t.operators.kind[op]].source == operator_source::operation) {
      return op;
    }
  }
  return none;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

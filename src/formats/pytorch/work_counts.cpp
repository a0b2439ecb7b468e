// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/work_counts.hpp"

#include "formats/pytorch/operator_pipes.hpp"
#include "formats/pytorch/operator_work.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

void count_work(trace& t, loss_counts& losses) {
  constexpr std::int64_t most = std::int64_t{1} << 62U;
  const operator_pipes pipes{t};
  const std::size_t kinds = t.operator_kinds.size();
  std::vector<bool> untold;
  for (const operator_kind& kind : t.operator_kinds) {
    untold.push_back(needs_more_than_shapes(t.strings[kind.name]));
  }
  work total;
  std::vector<bool> counted(t.operators.size());
  std::vector<std::uint32_t> last(kinds + 1, none);  // entry by kind; behind them, of what computes nothing
  for (std::uint32_t i = 0; i < t.operators.size(); ++i) {
    const std::uint32_t parent = t.operators.parent[i];
    const std::uint32_t kind = t.operators.kind[i];
    work w = t.operator_kinds[kind].declared;
    counted[i] = parent != none && counted[parent];
    losses.add(lost::untold_work, untold[kind] ? 1 : 0);
    if (counted[i] || w.empty()) {
      continue;
    }
    counted[i] = true;
    const std::uint32_t range = t.operators.range[i];
    if (range == none) {
      continue;
    }
    if (w.flops > most - total.flops || w.bytes() > most - total.bytes()) {
      losses.add(lost::absurd_work);
      continue;
    }
    total += w;
    w.pipe = pipes.of(i);
    std::uint32_t& entry = last[w.flops > 0 ? kind : kinds];
    if (entry != none && t.works[entry].range == range && t.works[entry].declared.pipe == w.pipe) {
      t.works[entry].declared += w;
    } else {
      entry = static_cast<std::uint32_t>(t.works.size());
      t.works.push_back({range, w, work_source::shapes});
    }
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

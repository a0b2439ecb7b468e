// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/autograd.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::string_view engine = "autograd::engine::evaluate_function";
constexpr std::size_t most_ancestors = 64;

}  // namespace

autograd::autograd(const trace& t, const std::vector<operators::sequence>& sequences,
                   const std::vector<flows::backward>& backwards)
    : trace_{t}, sequences_{sequences}, backwards_{backwards}, any_{!backwards.empty()} {
  for (const operators::sequence& s : sequences) {
    any_ |= s.forward_thread != 0;
    if (s.index < t.operators.size() && s.forward_thread == 0) {
      forward_.push_back({s.number, t.operators.thread[s.index], t.operators.begin[s.index], s.index});
    }
  }
  std::sort(forward_.begin(), forward_.end(), [](const forward& a, const forward& b) {
    return std::tuple{a.number, a.thread, a.begin, a.index} <
           std::tuple{b.number, b.thread, b.begin, b.index};
  });
  evaluates_.reserve(t.operator_kinds.size());
  for (const operator_kind& kind : t.operator_kinds) {
    evaluates_.push_back(kind.source == operator_source::operation &&
                         t.strings[kind.name].substr(0, engine.size()) == engine);
    any_ |= evaluates_.back();
  }
}

autograd::found autograd::look(std::uint32_t op, time_ns begin, time_ns end) const {
  found out;
  const operator_columns& o = trace_.operators;
  for (std::size_t n = 0; op != none && n < most_ancestors; ++n, op = o.parent[op]) {
    if (o.begin[op] > begin || o.end[op] < end) {
      continue;
    }
    const operators::sequence* s = sequence_of(op);
    const bool numbered = s != nullptr && s->forward_thread != 0;
    const std::uint32_t linked = numbered ? none : forward_by_flow(op);
    if (out.forward == none) {
      out.forward = numbered ? forward_of(*s) : linked;
    }
    if (numbered || linked != none || evaluates_[o.kind[op]]) {
      out.is_backward = true;
      out.outermost = op;
    }
  }
  return out;
}

const operators::sequence* autograd::sequence_of(std::uint32_t op) const {
  const auto at = std::lower_bound(sequences_.begin(), sequences_.end(), op,
                                   [](const operators::sequence& s, std::uint32_t i) { return s.index < i; });
  return at != sequences_.end() && at->index == op ? &*at : nullptr;
}

std::uint32_t autograd::forward_by_flow(std::uint32_t op) const {
  const auto at = std::lower_bound(backwards_.begin(), backwards_.end(), op,
                                   [](const flows::backward& b, std::uint32_t i) { return b.op < i; });
  return at != backwards_.end() && at->op == op ? at->forward : none;
}

/// The last with the number that began before: several operators carry the number that the next node of the
/// graph will get, and the last of them made it. Each thread counts for itself, so that a number used on
/// several threads tells none.
std::uint32_t autograd::forward_of(const operators::sequence& s) const {
  const auto first =
      std::lower_bound(forward_.begin(), forward_.end(), s.number,
                       [](const forward& f, std::uint64_t number) { return f.number < number; });
  const auto last =
      std::upper_bound(first, forward_.end(), s.number,
                       [](std::uint64_t number, const forward& f) { return number < f.number; });
  if (first == last || first->thread != std::prev(last)->thread) {
    return none;
  }
  const auto after = std::lower_bound(first, last, trace_.operators.begin[s.index],
                                      [](const forward& f, time_ns begin) { return f.begin < begin; });
  return after == first ? none : std::prev(after)->index;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

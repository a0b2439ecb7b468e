// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/operator_pipes.hpp"

#include <varve/report.hpp>

#include <algorithm>
#include <cstddef>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

bool is_plain(math_pipe p) noexcept {
  return p == math_pipe::unknown || p == math_pipe::fp32 || p == math_pipe::fp64;
}

}  // namespace

operator_pipes::operator_pipes(trace& t) : t_{t} {
  std::vector<bool> products;
  for (const operator_kind& kind : t.operator_kinds) {
    products.push_back(kind.declared.flops > 0);
  }
  if (t.operator_of_activity.empty() || std::find(products.begin(), products.end(), true) == products.end()) {
    return;
  }
  const operator_columns& o = t.operators;
  std::vector<bool> inside(o.size());  // a product
  for (std::uint32_t i = 0; i < o.size(); ++i) {
    inside[i] = products[o.kind[i]] || (o.parent[i] != none && inside[o.parent[i]]);
  }
  find_longest(inside);
  std::vector<math_pipe> found(products.size(), math_pipe::unknown);
  for (std::uint32_t i = 0; i < longest_.size(); ++i) {
    if (products[o.kind[i]]) {
      const math_pipe p = told(i);
      math_pipe& all = found[o.kind[i]];
      all = p == math_pipe::unknown || p == all ? all : all == math_pipe::unknown ? p : math_pipe::mixed;
    }
  }
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (found[k] != math_pipe::unknown) {
      t.operator_kinds[k].declared.pipe = found[k];
    }
  }
}

math_pipe operator_pipes::of(std::uint32_t op) const {
  const math_pipe p = t_.operator_kinds[t_.operators.kind[op]].declared.pipe;
  return p == math_pipe::mixed ? told(op) : p;
}

/// In an operator is what is in those inside it, which come behind it.
void operator_pipes::find_longest(const std::vector<bool>& inside) {
  by_name_.resize(t_.strings.size());
  asked_.resize(t_.strings.size());
  longest_.assign(t_.operators.size(), none);
  for (std::uint32_t a = 0; a < t_.activities.size(); ++a) {
    const std::uint32_t op = t_.operator_of_activity[a];
    if (op != none && inside[op] && t_.activities.kind[a] == activity_kind::kernel && ask(a)) {
      longest_[op] = before(a, longest_[op]) ? a : longest_[op];
    }
  }
  for (auto i = static_cast<std::uint32_t>(longest_.size()); i-- > 0;) {
    const std::uint32_t parent = t_.operators.parent[i];
    if (longest_[i] != none && parent != none && before(longest_[i], longest_[parent])) {
      longest_[parent] = longest_[i];
    }
  }
}

math_pipe operator_pipes::told(std::uint32_t op) const {
  const std::uint32_t a = longest_[op];
  return a != none ? by_name_[t_.activities.name[a]] : math_pipe::unknown;
}

bool operator_pipes::ask(std::uint32_t activity) {
  const std::uint32_t name = t_.activities.name[activity];
  if (name >= asked_.size()) {
    return false;
  }
  if (!asked_[name]) {
    asked_[name] = true;
    by_name_[name] = pipe_of_kernel(t_.strings[name]);
  }
  return true;
}

bool operator_pipes::before(std::uint32_t a, std::uint32_t b) const {
  if (b == none) {
    return true;
  }
  const auto lasted = [&](std::uint32_t i) { return t_.activities.end[i] - t_.activities.begin[i]; };
  const bool plain_a = is_plain(by_name_[t_.activities.name[a]]);
  const bool plain_b = is_plain(by_name_[t_.activities.name[b]]);
  return plain_a != plain_b ? plain_b : lasted(a) > lasted(b);
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/graph_paths.hpp"

#include "formats/input/json_text.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::size_t longest_step = 64;

std::string short_kernel_name(std::string_view name) {
  constexpr std::string_view unnamed = "(anonymous namespace)";
  std::size_t end = 0;
  while (end < name.size() && name[end] != '<' && name[end] != '(') {
    ++end;
    if (end < name.size() && name[end] == '(' && name.substr(end, unnamed.size()) == unnamed) {
      end += unnamed.size();
    }
  }
  std::string_view text = name.substr(0, end);
  if (text.find("::") != std::string_view::npos || text.substr(0, 5) == "void ") {
    const std::size_t before = text.find_last_of(": ");
    text.remove_prefix(before != std::string_view::npos ? before + 1 : 0);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return std::string{input::cut(text.empty() ? name : text, longest_step)};
}

}  // namespace

std::uint32_t graph_paths::below_pass(std::uint32_t label) {
  if (const auto known = below_pass_.find(label); known != below_pass_.end()) {
    return known->second;
  }
  std::vector<std::uint32_t> steps;
  for (std::uint32_t l = label; l != none && trace_.labels[l].kind != range_kind::phase;
       l = trace_.labels[l].parent) {
    steps.push_back(l);
  }
  std::uint32_t path = none;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const label_node node = trace_.labels[*step];
    path = trace_.labels.intern({path, node.name, node.index, node.kind});
  }
  below_pass_.emplace(label, path);
  return path;
}

std::uint32_t graph_paths::lent(std::uint32_t context, std::uint32_t label) {
  const auto [known, added] = lent_.try_emplace(std::uint64_t{context} << 32U | label, none);
  if (!added) {
    return known->second;
  }
  std::vector<label_node> steps;  // outermost first, names in trace_
  for (std::uint32_t l = label; l != none; l = captured_.labels[l].parent) {
    steps.push_back(captured_.labels[l]);
    steps.back().name = trace_.strings.intern(captured_.strings[steps.back().name]);
  }
  std::reverse(steps.begin(), steps.end());
  std::vector<label_node> around;
  for (std::uint32_t l = context; l != none; l = trace_.labels[l].parent) {
    around.push_back(trace_.labels[l]);
  }
  std::reverse(around.begin(), around.end());
  std::size_t shared = std::min(steps.size(), around.size());
  const auto same = [](const label_node& a, const label_node& b) {
    return a.name == b.name && a.index == b.index && a.kind == b.kind;
  };
  while (!std::equal(around.end() - static_cast<std::ptrdiff_t>(shared), around.end(), steps.begin(), same)) {
    --shared;
  }
  std::uint32_t path = context;
  for (std::size_t k = shared; k < steps.size(); ++k) {
    path = trace_.labels.intern({path, steps[k].name, steps[k].index, steps[k].kind});
  }
  known->second = path;
  return path;
}

std::uint32_t graph_paths::short_name(std::uint32_t name) {
  std::uint32_t& known = short_names_.try_emplace(name, none).first->second;
  if (known == none) {
    known = trace_.strings.intern(short_kernel_name(trace_.strings[name]));
  }
  return known;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/kernel_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace varve::table {

namespace {

constexpr std::string_view lambda = "{lambda";

bool ends_with(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Index of the parenthesis that closes the one at `open`, or the last character's.
std::size_t closing(std::string_view text, std::size_t open) noexcept {
  std::size_t depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')' && --depth == 0) {
      return i;
    }
  }
  return text.size() - 1;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
}

std::string without_parentheses(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '(') {
      out += name[i];
      continue;
    }
    const std::size_t end = closing(name, i);
    const std::string_view inside = name.substr(i + 1, end - i - 1);
    i = end;
    if (ends_with(out, lambda)) {
      out.resize(out.size() - lambda.size());
      if (ends_with(out, "::")) {
        out.resize(out.size() - 2);
      }
      i = std::min(name.find('}', end), name.size() - 1);
      if (!inside.empty()) {
        (out += '[').append(inside) += ']';
      }
    } else if (ends_with(out, "<&") || ends_with(out, " &")) {
      out += inside.substr(0, inside.find('('));  // a function as argument: &(op_silu(float))
    }
  }
  return out;
}

/// Index of the bracket that closes the template arguments begun at `open`, or npos.
std::size_t closing_bracket(std::string_view text, std::size_t open) noexcept {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '<' ? 1 : text[i] == '>' ? -1 : 0;
    if (depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

/// PyTorch wraps each operator of its element-wise kernels in the same types: only the operator tells.
void unwrap_elementwise(std::string& name) {
  if (name.find("elementwise_kernel<") == std::string::npos || name.back() != '>') {
    return;
  }
  for (const std::string_view operands : {", std::array<char*", ", Array<char*"}) {
    if (const std::size_t at = name.find(operands); at != std::string::npos) {
      name.erase(at, name.size() - 1 - at);
    }
  }
  for (const std::string_view wrapper : {"gpu_kernel_impl_nocast<", "gpu_kernel_impl<"}) {
    const std::size_t at = name.find(wrapper);
    const std::size_t end =
        at != std::string::npos ? closing_bracket(name, at + wrapper.size() - 1) : std::string::npos;
    constexpr std::string_view index = "[int]";
    if (end != std::string::npos && name.compare(end + 1, index.size(), index) == 0) {
      name.erase(end, 1 + index.size());
      name.erase(at, wrapper.size());
    }
  }
}

}  // namespace

std::string kernel_name(std::string_view name) {
  std::string prepared{name};
  replace_all(prepared, "(anonymous namespace)::", "");
  // Parameters follow their function at once, unlike the remark in "Memcpy HtoD (Pinned -> Device)".
  const std::size_t open = prepared.find('(');
  if (open == std::string::npos || prepared.back() != ')' ||
      (open != 0 && prepared[open - 1] == ' ' && prepared.find('<') > open)) {
    return prepared;
  }
  std::string out = without_parentheses(prepared);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> noise{{{"::operator const", ""},
                                                                                {"::operator", ""},
                                                                                {"at::native::", ""},
                                                                                {"at::detail::", ""},
                                                                                {"c10::", ""},
                                                                                {"binary_internal::", ""},
                                                                                {"> >", ">>"},
                                                                                {"> >", ">>"}}};
  for (const auto& [what, with] : noise) {
    replace_all(out, what, with);
  }
  unwrap_elementwise(out);
  // The return type stands before the last space that is outside template arguments.
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    depth += out[i] == '<' ? 1 : out[i] == '>' ? -1 : 0;
    if (out[i] == ' ' && depth == 0) {
      begin = i + 1;
    }
  }
  out.erase(0, begin);
  return out.empty() ? prepared : out;
}

}  // namespace varve::table

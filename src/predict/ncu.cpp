// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "predict/ncu.hpp"

#include <algorithm>
#include <cstddef>

namespace varve {
inline namespace v0 {
namespace predict {

namespace {

constexpr std::size_t longest_name = 120;

bool is_name_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '.';
}

/// By default ncu compares functions' names without template arguments and parameters. Of
///     void (anonymous namespace)::softmax<float, (int)4>(float*)
/// it is "softmax". Empty where nothing is left that could be one.
std::string_view function_name(std::string_view kernel, std::string& outer) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  int depth = 0;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (kernel.substr(i, unnamed.size()) == unnamed) {
      i += unnamed.size() - 1;
      continue;
    }
    const char c = kernel[i];
    depth += c == '<' || c == '(' ? 1 : 0;
    if (depth == 0) {
      outer += c;
    }
    depth -= (c == '>' || c == ')') && depth > 0 ? 1 : 0;
  }
  std::string_view name = outer;
  name = name.substr(0, name.find_last_not_of(' ') + 1);
  name.remove_prefix(name.find_last_of(" :") + 1);  // npos + 1 is 0
  const bool sound = !name.empty() && std::all_of(name.begin(), name.end(), is_name_character);
  return sound ? name : std::string_view{};
}

/// Marks of ncu's own in a range's name would have to be escaped, for it and for the shell.
bool is_plain(std::string_view label) noexcept {
  return !label.empty() && label.size() <= longest_name && label.front() != ' ' && label.back() != ' ' &&
         std::all_of(label.begin(), label.end(),
                     [](char c) { return c == ' ' || c == '-' || (c != '$' && is_name_character(c)); });
}

}  // namespace

std::string profile_command(std::string_view kernel, std::string_view label) {
  std::string outer;
  const std::string_view name = function_name(kernel, outer);
  if (name.empty()) {
    return {};
  }
  const bool mangled = name.substr(0, 2) == "_Z";
  std::string out = "ncu --set full --launch-count 1";
  out += mangled ? " --kernel-name-base mangled --kernel-name 'regex:^" : " --kernel-name 'regex:(^|:)";
  for (const char c : name.substr(0, longest_name)) {
    out += c == '.' || c == '$' ? "\\" : "";
    out += c;
  }
  out += name.size() <= longest_name ? "$'" : "'";
  if (is_plain(label)) {  // of scopes, or of handles, whose ranges have no slash
    out.append(" --nvtx --nvtx-include 'varve@").append(label).append("/' --nvtx-include 'varve@");
    out.append(label).append("'");
  }
  return out + " ENGINE";
}

}  // namespace predict
}  // namespace v0
}  // namespace varve

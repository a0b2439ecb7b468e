// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/marks.hpp"

#include "formats/pytorch/passes.hpp"
#include "formats/pytorch/text_scanner.hpp"

#include <optional>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::string_view module_prefix = "nn.Module: ";

/// "Linear_3" as ("Linear", 3), or what stands on both sides of the last '.' of "layers.3".
mark read_layer(std::string_view name, char before_index) {
  const std::size_t at = name.rfind(before_index);
  if (at != std::string_view::npos && at != 0) {
    if (const auto index = index_of(name.substr(at + 1))) {
      return {std::string{name.substr(0, at)}, *index, range_kind::layer, {}, mark_form::plain};
    }
  }
  return {std::string{name}, no_index, range_kind::layer, {}, mark_form::plain};
}

/// "{'Module': 'Model.layers.3', 'Inputs': …}", as vLLM and SGLang mark modules for NVTX tools. A second
/// range of no length gives the outputs; it is no call.
std::optional<mark> read_dictionary(std::string_view text) {
  constexpr std::string_view head = "{'Module': '";
  if (!text.starts_with(head)) {
    return std::nullopt;
  }
  std::string_view name = text.substr(head.size());
  const std::size_t end = name.find('\'');
  if (end == std::string_view::npos || end == 0) {
    return std::nullopt;
  }
  const std::string_view rest = name.substr(end);
  name = name.substr(0, end);
  if (rest.find("'Outputs': ") != std::string_view::npos &&
      rest.find("'Inputs': ") == std::string_view::npos) {
    return mark{{}, no_index, range_kind::layer, {}, mark_form::ignored};
  }
  mark out = read_layer(name, '.');
  const std::size_t dot = out.name.rfind('.');
  out.name.erase(0, dot == std::string::npos ? 0 : dot + 1);
  return out;
}

/// "…/transformers/generation/utils.py(2215): generate".
bool names_generate(std::string_view text) noexcept {
  constexpr std::string_view last = "): generate";
  constexpr std::string_view file = "transformers/generation/utils.py(";
  if (text.size() < last.size() || text.substr(text.size() - last.size()) != last) {
    return false;
  }
  text.remove_suffix(last.size());
  const std::size_t at = text.rfind(file);
  return at != std::string_view::npos && (at == 0 || text[at - 1] == '/') &&
         index_of(text.substr(at + file.size())).has_value();
}

}  // namespace

bool is_module(std::string_view token) noexcept {
  return !token.empty() && token.front() == '"' && token.substr(1).starts_with(module_prefix);
}

bool is_generate(std::string_view token) noexcept {
  return token.size() > 2 && token.back() == '"' && names_generate(token.substr(1, token.size() - 2));
}

mark read_mark(std::string_view text, bool is_module) {
  if (is_module) {
    mark out = read_layer(text.substr(module_prefix.size()), '_');
    out.form = mark_form::module_call;
    return out;
  }
  if (auto pass = read_pass(text)) {
    return *std::move(pass);
  }
  if (auto layer = read_dictionary(text)) {
    return *std::move(layer);
  }
  const bool generates = names_generate(text);
  return {std::string{generates ? generate_name : text},
          no_index,
          range_kind::op,
          {},
          generates ? mark_form::generate_frame : mark_form::plain};
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

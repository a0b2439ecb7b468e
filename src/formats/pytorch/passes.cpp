// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/passes.hpp"

#include "formats/pytorch/text_scanner.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

void set(mark& pass, varve_attribute key, std::int64_t value) {
  if (value >= 0) {
    pass.attributes.emplace_back(key, value);
  }
}

std::optional<mark> read_profiler_step(std::string_view text) {
  constexpr std::string_view name = "ProfilerStep";
  if (!text.starts_with(name) || text.substr(name.size(), 1) != "#") {
    return std::nullopt;
  }
  const auto index = index_of(text.substr(name.size() + 1));
  if (!index) {
    return std::nullopt;
  }
  return mark{std::string{name}, *index, range_kind::phase, {}, mark_form::profiler_step};
}

/// "capture_64_FULL" (vLLM), "capture_8_DECODE" (TraceLens patches of SGLang), "capture_graph_bs_16" (ATOM):
/// what a graph was captured for is the index.
std::optional<mark> read_capture(std::string_view text) {
  std::int64_t size = 0;
  if (text_scanner{text}.text("capture_graph_bs_").number(size).done()) {
    return pass_of(VARVE_CAPTURE, index_of(text.substr(text.rfind('_') + 1)).value_or(no_index));
  }
  text_scanner in{text};
  const std::string_view mode = in.text("capture_").number(size).text("_").rest();
  constexpr std::string_view words[] = {
      "FULL",   "PIECEWISE",    "EXTEND",          "DECODE",     "MIXED",
      "decode", "prefill",      "mixed_prefill",   "mixed",      "TARGET_VERIFY",
      "IDLE",   "DRAFT_EXTEND", "DRAFT_EXTEND_V2", "DLLM_EXTEND"};
  if (!text.starts_with("capture_") ||
      std::find(std::begin(words), std::end(words), mode) == std::end(words)) {
    return std::nullopt;
  }
  const std::string_view digits = text.substr(8, text.size() - 8 - mode.size() - 1);
  return pass_of(VARVE_CAPTURE, index_of(digits).value_or(no_index));
}

}  // namespace

mark pass_of(std::string_view kind, std::int32_t index) {
  return {std::string{kind}, index, range_kind::phase, {}, mark_form::engine_pass};
}

mark not_understood(std::string_view text, mark_form form) {
  return {std::string{text}, no_index, range_kind::op, {}, form};
}

void set_prefill(mark& pass, const pass_side& side) {
  set(pass, VARVE_PREFILL_TOKENS, side.tokens);
  set(pass, VARVE_PREFILL_SEQUENCES, side.sequences);
  set(pass, VARVE_PREFILL_CONTEXT_TOKENS, side.context);
  set(pass, VARVE_PREFILL_QUERY_CONTEXT, side.query_context);
}

void set_decode(mark& pass, const pass_side& side) {
  set(pass, VARVE_DECODE_TOKENS, side.tokens);
  set(pass, VARVE_DECODE_SEQUENCES, side.sequences);
  set(pass, VARVE_DECODE_CONTEXT_TOKENS, side.context);
  set(pass, VARVE_DECODE_QUERY_CONTEXT, side.query_context);
}

std::optional<mark> read_pass(std::string_view text) {
  for (const auto read :
       {read_profiler_step, read_vllm_pass, read_sglang_pass, read_atom_pass, read_capture}) {
    if (auto found = read(text)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

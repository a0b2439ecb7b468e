// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the text of an annotation, or the name of a module's call, marks.
#ifndef VARVE_FORMATS_PYTORCH_MARKS_HPP
#define VARVE_FORMATS_PYTORCH_MARKS_HPP

#include <varve/trace.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// What kind of text a mark was read from.
enum class mark_form : std::uint8_t {
  plain,
  module_call,
  generate_frame,  ///< of generate() of transformers
  engine_pass,
  profiler_step,   ///< of torch.profiler: a pass where nothing else is
  unknown_vllm,    ///< looks like a pass of this engine, but is not understood
  unknown_sglang,  ///< likewise
  unknown_atom,    ///< likewise
  ignored          ///< marks nothing
};

struct mark {
  std::string name;
  std::int32_t index = no_index;
  range_kind kind = range_kind::op;
  std::vector<std::pair<varve_attribute, std::int64_t>> attributes;  ///< of a pass
  mark_form form = mark_form::plain;
  bool by_rule = false;  ///< of the user
};

/// Whether the JSON string `token` names a call of a module: "nn.Module: Linear_3".
[[nodiscard]] bool is_module(std::string_view token) noexcept;

/// Whether the JSON string `token` names the frame of generate() of Hugging Face's transformers, in a trace
/// with stacks: "…/transformers/generation/utils.py(2215): generate".
[[nodiscard]] bool is_generate(std::string_view token) noexcept;

/// What calls of generate() are named, by that frame or by an annotation of the user's.
inline constexpr std::string_view generate_name = "generate";

/// `text` is an annotation's, or the name of a module's call: "nn.Module: Linear_3" is the layer ("Linear",
/// 3), an annotation that an engine makes around a pass is that pass (docs/phases.md), any other an op of its
/// own name.
[[nodiscard]] mark read_mark(std::string_view text, bool is_module);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_MARKS_HPP

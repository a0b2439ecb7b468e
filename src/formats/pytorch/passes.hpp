// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The annotations that engines make around their passes. docs/phases.md has every form, its source and what
// its numbers mean.
#ifndef VARVE_FORMATS_PYTORCH_PASSES_HPP
#define VARVE_FORMATS_PYTORCH_PASSES_HPP

#include "formats/pytorch/marks.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Nothing where `text` is of none of the known families. One that is, but is not understood, is an op.
[[nodiscard]] std::optional<mark> read_pass(std::string_view text);

// Of one family each. TraceLens patches write the forms of vLLM and SGLang, and a few of their own.
[[nodiscard]] std::optional<mark> read_vllm_pass(std::string_view text);
[[nodiscard]] std::optional<mark> read_sglang_pass(std::string_view text);
[[nodiscard]] std::optional<mark> read_atom_pass(std::string_view text);

/// A pass of this kind that carries nothing yet.
[[nodiscard]] mark pass_of(std::string_view kind, std::int32_t index = no_index);
/// An op of its whole text.
[[nodiscard]] mark not_understood(std::string_view text, mark_form form);

/// Sequences of one side of a pass and what they add up to; −1 where the text does not say.
struct pass_side {
  std::int64_t sequences = -1;
  std::int64_t tokens = -1;         ///< query tokens
  std::int64_t context = -1;        ///< Σ tokens attended to by each sequence's last query
  std::int64_t query_context = -1;  ///< Σ query tokens × context
};
void set_prefill(mark& pass, const pass_side& side);
void set_decode(mark& pass, const pass_side& side);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_PASSES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A model and how to describe passes by it, as a text: up to a megabyte where a batch is of many sequences.
#ifndef VARVE_INJECT_MODEL_TEXT_HPP
#define VARVE_INJECT_MODEL_TEXT_HPP

#include "inject/field_text.hpp"

#include <varve/model.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace varve::inject {

struct model_description {
  model of;
  describe_options how;
};

// All fields by structured bindings: one that is added and not handed over does not compile.

template <class Archive>
void fields(Archive& a, is<weight_format> auto& f) {
  auto& [type, group, columns, scale_bits, zero_bits] = f;
  a(type, group, columns, scale_bits, zero_bits);
}

template <class Archive>
void maybe(Archive& a, is<std::optional<weight_format>> auto& format) {
  bool there = format.has_value();
  weight_format one = format.value_or(weight_format{});
  a(there);
  fields(a, one);
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(format)>>) {
    format = there ? std::optional{one} : std::nullopt;
  }
}

template <class Archive>
void fields(Archive& a, is<attention_heads> auto& h) {
  auto& [queries, keys, key_width, value_width] = h;
  a(queries, keys, key_width, value_width);
}

template <class Archive>
void fields(Archive& a, is<attention_layer> auto& l) {
  auto& [heads, window, latent, rotary, query_latent, query_key_norm, bias, output_bias, sinks, in, output,
         keys, values, queries_up] = l;
  fields(a, heads);
  a(window, latent, rotary, query_latent, query_key_norm, bias, output_bias, sinks);
  fields(a, in);
  fields(a, output);
  maybe(a, keys);
  maybe(a, values);
  maybe(a, queries_up);
}

template <class Archive>
void fields(Archive& a, is<mlp_layer> auto& l) {
  auto& [width, gated, bias, weights, down, up] = l;
  a(width, gated, bias);
  fields(a, weights);
  maybe(a, down);
  maybe(a, up);
}

template <class Archive>
void fields(Archive& a, is<expert_layer> auto& l) {
  auto& [count, chosen, width, bias, router_bias, shared_width, shared_gate, weights, shared, down,
         shared_down, up, shared_up] = l;
  a(count, chosen, width, bias, router_bias, shared_width, shared_gate);
  fields(a, weights);
  fields(a, shared);
  maybe(a, down);
  maybe(a, shared_down);
  maybe(a, up);
  maybe(a, shared_up);
}

template <class Archive>
void fields(Archive& a, is<model_layer> auto& l) {
  auto& [attention, mlp, experts, parallel, norms, post_norms] = l;
  fields(a, attention);
  fields(a, mlp);
  fields(a, experts);
  a(parallel, norms, post_norms);
}

template <class Archive>
void fields(Archive& a, is<model> auto& m) {
  auto& [name, width, vocabulary, embedding_width, positions, tied, head_bias, final_norm, norms, type, cache,
         factors, quantisation, ranks, layers, head] = m;
  a(name, width, vocabulary, embedding_width, positions, tied, head_bias, final_norm, norms, type, cache,
    factors, quantisation, ranks);
  constexpr std::size_t most_layers = 1U << 16U;
  a.list(layers, most_layers);
  maybe(a, head);
}

template <class Archive>
void fields(Archive& a, is<label_rule> auto& r) {
  auto& [pattern, parts, one_each] = r;
  a(pattern, parts, one_each);
}

template <class Archive>
void fields(Archive& a, is<pass_sequence> auto& s) {
  auto& [tokens, context, decode] = s;
  a(tokens, context, decode);
}

template <class Archive>
void fields(Archive& a, is<describe_options> auto& o) {
  auto& [rules, model_name, batch, context, pass] = o;
  auto& [logits, all_logits, full_square, latent, rarest_expert] = pass;
  constexpr std::size_t most = 1U << 20U;
  a.list(rules, most);
  a.list(batch, most);
  a(model_name, context, logits, all_logits, full_square, latent, rarest_expert);
}

inline std::string model_text(const model& of, const describe_options& how) {
  field_writer out;
  fields(out, of);
  fields(out, how);
  return out.text();
}

/// What model_text() wrote; nothing of anything else.
inline std::optional<model_description> model_in(std::string_view text) {
  model_description out;
  field_reader in{text};
  fields(in, out.of);
  fields(in, out.how);
  return in.whole() ? std::optional{std::move(out)} : std::nullopt;
}

}  // namespace varve::inject

#endif  // VARVE_INJECT_MODEL_TEXT_HPP

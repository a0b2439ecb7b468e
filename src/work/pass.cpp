// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/layer_work.hpp"
#include "work/tensors.hpp"

#include <varve/model.hpp>

namespace varve {
inline namespace v0 {

namespace model_work {

batch::batch(const std::vector<pass_sequence>& sequences, const work_options& options)
    : full_square_{options.full_square}, rarest_expert_{options.rarest_expert} {
  using form = work_options::latent_form;
  for (const pass_sequence& s : sequences) {
    if (s.tokens <= 0 || s.context < s.tokens) {
      continue;
    }
    tokens_ = sizes::sum(tokens_, s.tokens);
    logits_ = sizes::sum(logits_, s.decode ? s.tokens : 1);
    const bool absorb = options.latent == form::absorbed || (options.latent == form::by_phase && s.decode);
    (absorb ? absorbed_ : expanded_).push_back(s);
  }
  if (options.all_logits) {
    logits_ = tokens_;
  } else if (options.logits >= 0) {
    logits_ = options.logits;
  }
}

attended batch::attend(const std::vector<pass_sequence>& sequences, std::int64_t window) const {
  attended out;
  for (const pass_sequence& s : sequences) {
    out.tokens = sizes::sum(out.tokens, s.tokens);
    out.pairs = sizes::sum(out.pairs, full_square_ ? attended_square(s.tokens, s.context)
                                                   : attended_keys(s.tokens, s.context, window));
    out.needed = sizes::sum(out.needed, needed_keys(s.tokens, s.context, window));
    out.context = sizes::sum(out.context, s.context);
  }
  return out;
}

attended batch::all(std::int64_t window) const {
  attended out = attend(absorbed_, window);
  const attended more = attend(expanded_, window);
  out.tokens = sizes::sum(out.tokens, more.tokens);
  out.pairs = sizes::sum(out.pairs, more.pairs);
  out.needed = sizes::sum(out.needed, more.needed);
  out.context = sizes::sum(out.context, more.context);
  return out;
}

namespace {

void add_embedding(operators& to, const model& m, std::int64_t tokens) {
  const std::int64_t table = tensors::table_width(m);
  work rows = embedding(tokens, table, m.type);
  rows.weight_bytes = sizes::quotient(rows.weight_bytes, m.ranks);  // of a token one of them has the row
  if (m.positions > 0) {
    rows.weight_bytes = sizes::sum(rows.weight_bytes, to.bytes(sizes::product(tokens, m.width)));
  }
  rows.doubled_bytes = rows.weight_bytes;
  to.add("embedding", "embed", rows).written_activations = rows.activation_bytes;
  if (table != m.width) {
    to.product("embedding", "project_in", tokens, m.width, table, m.type);
  }
}

void add_layer(operators& to, const model& m, const model_layer& layer, const batch& b) {
  const std::int64_t tokens = b.tokens();
  const auto feed_forward = [&] {
    if (layer.experts.count > 0) {
      add_experts(to, m, layer.experts, b);
    } else if (layer.mlp.width > 0) {
      add_mlp(to, m, layer.mlp, tokens);
    }
    if (layer.post_norms) {
      to.norm("post_ffn_norm", tokens, m.width);
    }
  };
  to.norm("norm_1", tokens, m.width);
  if (layer.parallel && layer.norms > 1) {
    to.norm("norm_2", tokens, m.width);
  }
  add_attention(to, m, layer.attention, b);
  if (layer.post_norms) {
    to.norm("post_attn_norm", tokens, m.width);
  }
  if (layer.parallel) {
    feed_forward();
    to.residual("residual", tokens, 3);
    return;
  }
  to.residual("residual_1", tokens, 2);
  to.norm("norm_2", tokens, m.width);
  feed_forward();
  to.residual("residual_2", tokens, 2);
}

void add_head(operators& to, const model& m, const batch& b) {
  const std::int64_t table = tensors::table_width(m);
  if (m.final_norm) {
    to.norm("final_norm", b.tokens(), m.width);
  }
  if (table != m.width) {
    to.product("head", "project_out", b.tokens(), table, m.width, m.type);
  }
  to.product("head", "lm_head", b.logits(), m.vocabulary, table, m.head.value_or(m.type),
             m.head_bias ? m.vocabulary : 0);
}

}  // namespace
}  // namespace model_work

std::vector<operator_work> work_of_pass(const model& m, const std::vector<pass_sequence>& sequences,
                                        const work_options& options) {
  std::vector<operator_work> out;
  const model_work::batch b{sequences, options};
  if (b.tokens() == 0) {
    return out;
  }
  model_work::operators to{m, out};
  model_work::add_embedding(to, m, b.tokens());
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    to.set_layer(static_cast<std::int32_t>(i));
    model_work::add_layer(to, m, m.layers[i], b);
  }
  to.set_layer(no_index);
  model_work::add_head(to, m, b);
  return out;
}

}  // namespace v0
}  // namespace varve

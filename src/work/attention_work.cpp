// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/layer_work.hpp"

namespace varve {
inline namespace v0 {
namespace model_work {

namespace {

constexpr std::string_view block = "attention";

/// Scores and values, one kernel: `keys` and `values` are bytes read of each, `query` and `result` elements.
struct halves {
  std::int64_t heads = 0;
  std::int64_t key_width = 0;
  std::int64_t value_width = 0;
  work keys;
  work values;
};

void add_scores(operators& to, const model& m, const attention_layer& a, const attended& seen,
                const halves& what) {
  work score = what.keys;
  score.flops = sizes::product(2, what.heads, what.key_width, seen.pairs);
  score.activation_bytes =
      sizes::sum(score.activation_bytes, to.bytes(sizes::product(seen.tokens, what.heads, what.key_width)));
  score.pipe = pipe_of(m.type, m.type);
  to.add(block, "attn_score", score).elementwise_flops = sizes::product(5, what.heads, seen.pairs);

  const std::int64_t result = to.bytes(sizes::product(seen.tokens, what.heads, what.value_width));
  work value = what.values;
  value.flops = sizes::product(2, what.heads, what.value_width, seen.pairs);
  value.weight_bytes = a.sinks ? to.bytes(what.heads) : 0;
  value.activation_bytes = sizes::sum(value.activation_bytes, result);
  value.pipe = score.pipe;
  operator_work& added = to.add(block, "attn_value", value);
  added.written_activations = result;
  added.with_previous = true;
}

/// What a projection wrote of keys and values goes to the cache, and is no activation besides.
void write_to_cache(operators& to, const model& m, operator_work& projection, std::int64_t elements) {
  const std::int64_t bytes = to.bytes(elements);
  projection.declared.activation_bytes -= bytes;
  projection.written_activations -= bytes;
  projection.written_kv = bytes_of(elements, m.cache);
  projection.declared.kv_bytes = projection.written_kv;
}

void add_latent_projections(operators& to, const model& m, const attention_layer& a, std::int64_t tokens) {
  const std::int64_t queries = sizes::product(a.heads.queries, a.heads.key_width);
  const std::int64_t cached = sizes::sum(a.latent, a.rotary);
  if (a.query_latent > 0) {
    to.product(block, "q_a_proj", tokens, a.query_latent, m.width, a.in, a.bias ? a.query_latent : 0);
    to.norm("q_a_norm", tokens, a.query_latent);
    to.product(block, "q_b_proj", tokens, queries, a.query_latent, a.queries_up.value_or(a.in));
  } else {
    to.product(block, "q_proj", tokens, queries, m.width, a.in);
  }
  operator_work& down =
      to.product(block, "kv_a_proj", tokens, cached, m.width, a.keys.value_or(a.in), a.bias ? cached : 0);
  write_to_cache(to, m, down, sizes::product(tokens, cached));
  to.norm("kv_a_norm", tokens, a.latent);
}

/// Queries are taken to the latents: each head's part of the up-projection is applied before and after.
void add_absorbed(operators& to, const model& m, const attention_layer& a, const attended& seen,
                  bool weights_read) {
  const std::int64_t heads = a.heads.queries;
  const std::int64_t own = a.heads.key_width - a.rotary;
  const auto per_head = [&](std::string_view name, std::int64_t n, std::int64_t k) {
    // One product a head, [tokens, k] · [k, n]: the heads' weights together have heads · n · k elements.
    operator_work& added =
        to.product(block, name, seen.tokens, n, sizes::product(heads, k), a.values.value_or(a.in));
    added.written_activations = to.bytes(sizes::product(seen.tokens, heads, n));
    added.declared.activation_bytes =
        sizes::sum(to.bytes(sizes::product(seen.tokens, heads, k)), added.written_activations);
    if (weights_read) {
      added.declared.weight_bytes = 0;
    }
  };
  per_head("kv_b_k_absorb", a.latent, own);
  halves what{heads, sizes::sum(a.latent, a.rotary), a.latent, {}, {}};
  what.keys.kv_bytes = bytes_of(sizes::product(seen.needed, what.key_width), m.cache);
  add_scores(to, m, a, seen, what);
  per_head("kv_b_v_absorb", a.heads.value_width, a.latent);
}

/// Keys and values are made of the latents, of cached ones too: activations, that plain attention reads.
void add_expanded(operators& to, const model& m, const attention_layer& a, const attended& seen) {
  const std::int64_t heads = a.heads.queries;
  const std::int64_t made =
      sizes::product(heads, sizes::sum(a.heads.key_width - a.rotary, a.heads.value_width));
  const std::int64_t before = seen.context - seen.tokens;
  operator_work& up = to.product(block, "kv_b_proj", seen.context, made, a.latent, a.values.value_or(a.in));
  up.declared.activation_bytes -= to.bytes(sizes::product(before, a.latent));
  up.declared.kv_bytes = bytes_of(sizes::product(before, sizes::sum(a.latent, a.rotary)), m.cache);
  halves what{heads, a.heads.key_width, a.heads.value_width, {}, {}};
  what.keys.activation_bytes = to.bytes(sizes::product(seen.needed, heads, what.key_width));
  what.values.activation_bytes = to.bytes(sizes::product(seen.needed, heads, what.value_width));
  add_scores(to, m, a, seen, what);
}

void add_latent(operators& to, const model& m, const attention_layer& a, const batch& b) {
  add_latent_projections(to, m, a, b.tokens());
  const attended expanded = b.expanded();
  const attended absorbed = b.absorbed();
  if (expanded.tokens > 0) {
    add_expanded(to, m, a, expanded);
  }
  if (absorbed.tokens > 0) {
    add_absorbed(to, m, a, absorbed, expanded.tokens > 0);
  }
}

/// Of matrices in one format, which engines join.
void add_joined_projections(operators& to, const model& m, const attention_layer& a, std::int64_t tokens,
                            std::int64_t queries, std::int64_t keys, std::int64_t values) {
  const std::int64_t cached = sizes::sum(keys, values);
  const std::int64_t all = sizes::sum(queries, cached);
  operator_work& in = to.product(block, "qkv_proj", tokens, all, m.width, a.in, a.bias ? all : 0);
  // Three matrices, whose scales do not run across them.
  const std::int64_t fused = bytes_of(all, m.width, a.in);
  const std::int64_t apart =
      sizes::sum(bytes_of(queries, m.width, a.in),
                 sizes::sum(bytes_of(keys, m.width, a.in), bytes_of(values, m.width, a.in)));
  in.declared.weight_bytes = sizes::sum(in.declared.weight_bytes, apart - fused);
  write_to_cache(to, m, in, sizes::product(tokens, cached));
}

/// One after the other; inputs are read once, for queries.
void add_single_projections(operators& to, const model& m, const attention_layer& a, std::int64_t tokens,
                            std::int64_t queries, std::int64_t keys, std::int64_t values) {
  to.product(block, "q_proj", tokens, queries, m.width, a.in, a.bias ? queries : 0);
  const auto cached = [&](std::string_view name, std::int64_t n, const weight_format& weights) {
    operator_work& added = to.product(block, name, tokens, n, m.width, weights, a.bias ? n : 0);
    added.declared.activation_bytes = added.written_activations;
    write_to_cache(to, m, added, sizes::product(tokens, n));
  };
  cached("k_proj", keys, a.keys.value_or(a.in));
  cached("v_proj", values, a.values.value_or(a.in));
}

void add_plain(operators& to, const model& m, const attention_layer& a, const batch& b) {
  const std::int64_t queries = sizes::product(a.heads.queries, a.heads.key_width);
  const std::int64_t keys = sizes::product(a.heads.keys, a.heads.key_width);
  const std::int64_t values = sizes::product(a.heads.keys, a.heads.value_width);
  const bool joined = a.keys.value_or(a.in) == a.in && a.values.value_or(a.in) == a.in;
  (joined ? add_joined_projections : add_single_projections)(to, m, a, b.tokens(), queries, keys, values);
  if (a.query_key_norm) {
    const std::int64_t heads = sizes::sum(a.heads.queries, a.heads.keys);
    operator_work& norm = to.norm("qk_norm", b.tokens(), sizes::product(heads, a.heads.key_width));
    norm.declared.weight_bytes =
        varve::norm(1, sizes::product(2, a.heads.key_width), m.type, m.norms == norm_kind::layer ? 2 : 1)
            .weight_bytes;
  }
  const attended seen = b.all(a.window);
  halves what{a.heads.queries, a.heads.key_width, a.heads.value_width, {}, {}};
  what.keys.kv_bytes = bytes_of(sizes::product(seen.needed, keys), m.cache);
  what.values.kv_bytes = bytes_of(sizes::product(seen.needed, values), m.cache);
  add_scores(to, m, a, seen, what);
}

}  // namespace

void add_attention(operators& to, const model& m, const attention_layer& a, const batch& b) {
  if (a.latent > 0) {
    add_latent(to, m, a, b);
  } else {
    add_plain(to, m, a, b);
  }
  to.product(block, "o_proj", b.tokens(), m.width, sizes::product(a.heads.queries, a.heads.value_width),
             a.output, a.output_bias ? m.width : 0);
}

}  // namespace model_work
}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "model.hpp"

#include <varve/marker.hpp>

namespace decoder {

namespace {

// Work depends on nothing that changes when a captured pass is replayed; that of attention alone does, which
// grows with the context.

/// Attention of each sequence to its own keys, and writing the new ones.
varve::work attention_work(const head_shape& shape, const std::vector<varve::pass_sequence>& lengths,
                           varve::dtype type) {
  const varve::attention_heads heads{shape.heads, shape.kv_heads, shape.size, shape.size};
  varve::work all;
  for (const varve::pass_sequence& s : lengths) {
    all += varve::attention(heads, s.tokens, s.context, type) + varve::kv_write(heads, s.tokens, type);
  }
  all.pipe = pipe_of_attention;
  return all;
}

}  // namespace

varve::work model::product(std::int64_t rows, const tensor& weight) const {
  return varve::gemm(rows, weight.rows, weight.columns, type_);
}
varve::work model::norm(const tensor& rows) const { return varve::norm(rows.rows, rows.columns, type_); }
varve::work model::sum(const tensor& rows) const { return varve::residual(rows.rows, rows.columns, type_); }

model::model(backend& device, stream& s, const model_config& config, const engine_limits& limits,
             std::uint64_t seed)
    : config_{config}, type_{device.type()}, memory_{device.make_memory()} {
  config.check();
  weights_ = load_weights(*memory_, s, config, seed);
  varve::layer layer{"memory"};
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::int64_t rows = limits.sequences * limits.context;
    caches_.push_back({memory_->numbers(rows, config.kv_width()), memory_->numbers(rows, config.kv_width()),
                       limits.context});
  }
  hidden_ = memory_->numbers(limits.rows, config.hidden);
  normed_ = memory_->numbers(limits.rows, config.hidden);
  query_ = memory_->numbers(limits.rows, config.hidden);
  key_ = memory_->numbers(limits.rows, config.kv_width());
  value_ = memory_->numbers(limits.rows, config.kv_width());
  attended_ = memory_->numbers(limits.rows, config.hidden);
  gate_ = memory_->numbers(limits.rows, config.ffn);
  up_ = memory_->numbers(limits.rows, config.ffn);
  logits_ = memory_->numbers(limits.sequences, config.vocab);
}

tensor model::forward(stream& s, const batch& rows) {
  {
    varve::layer layer{"embedding"};
    layer.work([&] { return varve::embedding(rows.tokens.size, config_.hidden, type_); });
    s.embedding(hidden_.first_rows(rows.tokens.size), weights_.embedding, rows.tokens);
  }
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    varve::layer layer{"layer", i};
    attention_block(s, rows, i);
    mlp_block(s, rows.tokens.size, i);
  }
  return head(s, rows);
}

void model::attention_block(stream& s, const batch& rows, std::size_t layer) {
  const layer_weights& w = weights_.layers[layer];
  const std::int64_t n = rows.tokens.size;
  const tensor hidden = hidden_.first_rows(n);
  const tensor normed = normed_.first_rows(n);
  const tensor query = query_.first_rows(n);
  const tensor key = key_.first_rows(n);
  const tensor value = value_.first_rows(n);
  const tensor attended = attended_.first_rows(n);
  {
    varve::op op{"attention norm"};
    op.work([&] { return norm(hidden); });
    s.rms_norm(normed, hidden, w.attention_norm, config_.norm_epsilon);
  }
  {
    varve::op op{"qkv"};
    op.work([&] { return product(n, w.query) + product(n, w.key) + product(n, w.value); });
    s.matmul(query, normed, w.query);
    s.matmul(key, normed, w.key);
    s.matmul(value, normed, w.value);
  }
  {
    varve::op op{"attention"};
    const head_shape heads{config_.heads, config_.kv_heads, config_.head_size()};
    if (!rows.lengths.empty()) {
      op.work([&] { return attention_work(heads, rows.lengths, type_); });
      op.work([&] { return varve::rope(n, heads.heads + heads.kv_heads, heads.size, type_); });
    }
    s.rope(query, rows.places.positions, heads.size, config_.rope_base);
    s.rope(key, rows.places.positions, heads.size, config_.rope_base);
    s.store_kv(caches_[layer], key, value, rows.places);
    s.attention(attended, query, caches_[layer], rows.places, heads, rows.context_bound);
  }
  varve::op op{"output"};
  op.work([&] { return product(n, w.output); });
  op.work([&] { return sum(hidden); });
  s.matmul(normed, attended, w.output);
  s.add(hidden, normed);
}

void model::mlp_block(stream& s, std::int64_t rows, std::size_t layer) {
  const layer_weights& w = weights_.layers[layer];
  const tensor hidden = hidden_.first_rows(rows);
  const tensor normed = normed_.first_rows(rows);
  const tensor gate = gate_.first_rows(rows);
  const tensor up = up_.first_rows(rows);
  {
    varve::op op{"mlp norm"};
    op.work([&] { return norm(hidden); });
    s.rms_norm(normed, hidden, w.mlp_norm, config_.norm_epsilon);
  }
  varve::op op{"mlp"};
  op.work([&] { return product(rows, w.gate) + product(rows, w.up) + product(rows, w.down); });
  op.work([&] { return varve::gated_activation(rows, config_.ffn, type_) + sum(hidden); });
  s.matmul(gate, normed, w.gate);
  s.matmul(up, normed, w.up);
  s.swiglu(gate, up);
  s.matmul(normed, gate, w.down);
  s.add(hidden, normed);
}

tensor model::head(stream& s, const batch& rows) {
  const std::int64_t n = rows.last_rows.size;
  varve::layer layer{"head"};
  layer.work([&] { return product(n, weights_.head); });
  const tensor last = query_.first_rows(n);  // free by now
  layer.work([&] { return norm(last) + varve::embedding(n, config_.hidden, type_); });
  const tensor normed = normed_.first_rows(n);
  const tensor logits = logits_.first_rows(n);
  s.gather(last, hidden_.first_rows(rows.tokens.size), rows.last_rows);
  s.rms_norm(normed, last, weights_.norm, config_.norm_epsilon);
  s.matmul(logits, normed, weights_.head);
  return logits;
}

}  // namespace decoder

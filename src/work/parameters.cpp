// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/tensors.hpp"

#include <varve/model.hpp>

#include <algorithm>

namespace varve {
inline namespace v0 {

namespace {

using tensors::part;

std::int64_t& count_of(parameter_counts& counts, part p) {
  switch (p) {
    case part::qkv:
      return counts.qkv;
    case part::output:
      return counts.output;
    case part::gate:
      return counts.gate;
    case part::up:
      return counts.up;
    case part::down:
      return counts.down;
    case part::router:
      return counts.router;
    case part::experts:
      return counts.experts;
    case part::shared:
      return counts.shared;
    case part::qkv_bias:
      return counts.qkv_bias;
    case part::output_bias:
      return counts.output_bias;
    case part::mlp_bias:
      return counts.mlp_bias;
    case part::router_bias:
      return counts.router_bias;
    case part::expert_bias:
      return counts.expert_bias;
    case part::sinks:
      return counts.sinks;
    case part::norms:
      break;
  }
  return counts.norms;
}

bool is_matrix(part p) { return p <= part::shared; }

std::int64_t cached_width(const attention_layer& a) {
  return a.latent > 0 ? sizes::sum(a.latent, a.rotary)
                      : sizes::product(a.heads.keys, sizes::sum(a.heads.key_width, a.heads.value_width));
}

}  // namespace

parameter_counts count_parameters(const model& m) {
  parameter_counts out;
  const std::int64_t table = tensors::table_width(m);
  out.embedding = sizes::product(m.vocabulary, table);
  out.positions = sizes::product(m.positions, m.width);
  out.projections = table != m.width ? sizes::product(2, table, m.width) : 0;
  out.head = m.tied ? 0 : out.embedding;
  out.head_bias = m.head_bias ? m.vocabulary : 0;
  out.final_norm = m.final_norm ? sizes::product(tensors::norm_vectors(m), m.width) : 0;
  for (const model_layer& layer : m.layers) {
    for (const tensors::tensor& t : tensors::of(m, layer)) {
      const std::int64_t each = sizes::product(t.n, t.k);
      const std::int64_t all = sizes::product(each, t.copies);
      const std::int64_t used = sizes::product(each, t.used);
      std::int64_t& count = count_of(out, t.belongs);
      count = sizes::sum(count, all);
      out.layers = sizes::sum(out.layers, all);
      out.active = sizes::sum(out.active, used);
      out.active_matrices = sizes::sum(out.active_matrices, is_matrix(t.belongs) ? used : 0);
    }
  }
  const std::int64_t ends = sizes::sum(out.projections, sizes::sum(out.head_bias, out.final_norm));
  out.active = sizes::sum(sizes::sum(out.active, out.embedding), ends);  // the head's matrix, tied or not
  out.total = sizes::sum(sizes::sum(out.layers, sizes::sum(out.embedding, out.head)),
                         sizes::sum(out.positions, ends));
  return out;
}

std::int64_t weight_bytes(const model& m) {
  const parameter_counts counts = count_parameters(m);
  std::int64_t plain = counts.total - counts.layers;
  std::int64_t out = 0;
  if (m.head) {
    plain -= counts.head;
    out = bytes_of(m.vocabulary, tensors::table_width(m), *m.head);
  }
  out = sizes::sum(out, bytes_of(plain, m.type));
  for (const model_layer& layer : m.layers) {
    for (const tensors::tensor& t : tensors::of(m, layer)) {
      out = sizes::sum(out, sizes::product(t.copies, bytes_of(t.n, t.k, t.format)));
    }
  }
  return out;
}

std::int64_t kv_bytes_per_token(const model& m) {
  std::int64_t out = 0;
  for (const model_layer& layer : m.layers) {
    out = sizes::sum(out, bytes_of(cached_width(layer.attention), m.cache));
  }
  return out;
}

std::int64_t kv_bytes(const model& m, std::int64_t context) {
  std::int64_t out = 0;
  for (const model_layer& layer : m.layers) {
    const std::int64_t window = layer.attention.window;
    const std::int64_t kept = window > 0 ? std::min(context, window) : context;
    out = sizes::sum(out, bytes_of(sizes::product(kept, cached_width(layer.attention)), m.cache));
  }
  return out;
}

model unquantised(model m, dtype type) {
  m.type = m.cache = m.factors = type;
  m.quantisation.clear();
  for (model_layer& layer : m.layers) {
    layer.attention.in = layer.attention.output = layer.mlp.weights = layer.experts.weights =
        layer.experts.shared = type;
    for (std::optional<weight_format>* const other :
         {&layer.attention.keys, &layer.attention.values, &layer.attention.queries_up, &layer.mlp.down,
          &layer.mlp.up, &layer.experts.down, &layer.experts.up, &layer.experts.shared_down,
          &layer.experts.shared_up}) {
      other->reset();
    }
  }
  m.head.reset();
  return m;
}

}  // namespace v0
}  // namespace varve

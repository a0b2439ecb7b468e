// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// One rank's part of a model, as Megatron-LM splits it (Shoeybi et al. 2019): queries, keys, values, gate and
// up by their outputs, what projects back by its inputs.
#include <varve/model.hpp>

#include <stdexcept>
#include <string>

namespace varve {
inline namespace v0 {

namespace {

[[noreturn]] void fail(std::int64_t ranks, const std::string& why) {
  throw std::invalid_argument{std::to_string(ranks) + " ranks " + why};
}

std::int64_t part(std::int64_t size, std::int64_t ranks, const char* what) {
  if (size % ranks != 0) {
    fail(ranks, "do not divide the " + std::to_string(size) + ' ' + what);
  }
  return size / ranks;
}

}  // namespace

model tensor_parallel(const model& m, std::int64_t ranks) {
  if (ranks < 1) {
    fail(ranks, "cannot share a model");
  }
  if (m.ranks != 1) {
    fail(ranks, "cannot share what is one's part of " + std::to_string(m.ranks) + " already");
  }
  model out = m;
  out.ranks = ranks;
  out.vocabulary = sizes::quotient(m.vocabulary, ranks);
  for (model_layer& layer : out.layers) {
    attention_heads& heads = layer.attention.heads;
    heads.queries = part(heads.queries, ranks, "attention heads");
    if (heads.keys >= ranks) {
      heads.keys = part(heads.keys, ranks, "key-value heads");
    } else if (heads.keys > 0) {
      if (ranks % heads.keys != 0) {
        fail(ranks, "are no multiple of the " + std::to_string(heads.keys) + " key-value heads");
      }
      heads.keys = 1;
    }
    layer.mlp.width = part(layer.mlp.width, ranks, "columns of the feed-forward block");
    layer.experts.width = part(layer.experts.width, ranks, "columns of an expert");
    layer.experts.shared_width = part(layer.experts.shared_width, ranks, "columns of the shared experts");
  }
  return out;
}

}  // namespace v0
}  // namespace varve

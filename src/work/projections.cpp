// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/label_tree.hpp"

#include <cstddef>

namespace varve {
inline namespace v0 {
namespace model_work {

std::vector<operator_work> split_projections(const model& m, const std::vector<operator_work>& pass) {
  std::vector<operator_work> out;
  out.reserve(pass.size() + pass.size() / 4);
  for (const operator_work& o : pass) {
    if (o.name != "qkv_proj" || o.layer < 0 || static_cast<std::size_t>(o.layer) >= m.layers.size()) {
      out.push_back(o);
      continue;
    }
    const attention_layer& a = m.layers[static_cast<std::size_t>(o.layer)].attention;
    const std::int64_t widths[] = {sizes::product(a.heads.queries, a.heads.key_width),
                                   sizes::product(a.heads.keys, a.heads.key_width),
                                   sizes::product(a.heads.keys, a.heads.value_width)};
    const std::int64_t cached = sizes::sum(widths[1], widths[2]);
    const std::int64_t all = sizes::sum(widths[0], cached);
    const auto share = [](std::int64_t of, std::int64_t width, std::int64_t among) {
      return among > 0 ? of / among * width + sizes::product(of % among, width) / among : 0;
    };
    operator_work rest = o;
    const char* const names[] = {"q_proj", "k_proj", "v_proj"};
    for (int k = 0; k < 3; ++k) {
      operator_work part = rest;  // the last takes what is left
      part.name = names[k];
      part.with_previous = k > 0 || o.with_previous;
      if (k < 2) {
        part.declared.flops = share(o.declared.flops, widths[k], all);
        part.declared.weight_bytes = share(o.declared.weight_bytes, widths[k], all);
        // Inputs are read once, for queries; keys and values go to the cache.
        part.declared.kv_bytes = k == 0 ? 0 : share(o.declared.kv_bytes, widths[1], cached);
        part.declared.activation_bytes = k == 0 ? o.declared.activation_bytes : 0;
        rest.declared.flops -= part.declared.flops;
        rest.declared.weight_bytes -= part.declared.weight_bytes;
        rest.declared.kv_bytes -= part.declared.kv_bytes;
        rest.declared.activation_bytes -= part.declared.activation_bytes;
      }
      out.push_back(part);
    }
  }
  return out;
}

}  // namespace model_work
}  // namespace v0
}  // namespace varve

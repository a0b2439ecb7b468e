// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/model/module_names.hpp"
#include "formats/model/quantisation.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace model_file {

namespace {

/// Some files have regular expressions, "re:.*lm_head": their .* and \. are all that is ever used.
std::string plain_pattern(std::string_view pattern) {
  if (pattern.substr(0, 3) != "re:") {
    return std::string{pattern};
  }
  std::string out;
  for (std::size_t i = 3; i < pattern.size(); ++i) {
    if (pattern[i] == '.' && i + 1 < pattern.size() && pattern[i + 1] == '*') {
      continue;
    }
    if (pattern[i] != '\\' && pattern[i] != '^' && pattern[i] != '$') {
      out += pattern[i];
    }
  }
  return out;
}

}  // namespace

void apply(const quantisation& how, model& m) {
  std::vector<std::string> patterns;
  for (const std::string& excluded : how.excluded) {
    // Those of norms, routers and the head exclude what is never quantised.
    if (excluded.size() <= 512 && excluded.find("norm") == std::string::npos) {
      patterns.push_back(plain_pattern(excluded));
    }
  }
  const auto stored = [&](const std::string& module, weight_format& format) {
    const bool left_out = std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
      return names_module(pattern, module);
    });
    if (!left_out) {
      format = how.format;
    }
  };
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const std::string layer = "model.layers." + std::to_string(i);
    model_layer& l = m.layers[i];
    stored(layer + ".mlp.experts.0.up_proj", l.experts.weights);
    if (how.experts_only) {
      continue;
    }
    stored(layer + ".self_attn.q_proj", l.attention.in);
    stored(layer + ".self_attn.o_proj", l.attention.output);
    stored(layer + ".mlp.up_proj", l.mlp.weights);
    stored(layer + ".mlp.shared_experts.up_proj", l.experts.shared);
  }
  m.factors = how.factors;
  m.quantisation = how.method;
  m.cache = how.cache.value_or(m.cache);
}

}  // namespace model_file
}  // namespace v0
}  // namespace varve

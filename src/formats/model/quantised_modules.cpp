// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/model/quantisation.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace model_file {

namespace {

/// How many characters of `text` from `at` on a pattern with * takes, or npos: the fewest, by going back to
/// the last * alone.
std::size_t match(std::string_view pattern, std::string_view text, std::size_t at) {
  std::size_t p = 0;
  std::size_t t = at;
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  while (p < pattern.size()) {
    if (pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (t < text.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos && retry < text.size()) {
      p = star + 1;
      t = ++retry;
    } else {
      return std::string_view::npos;
    }
  }
  return t;
}

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

bool names_module(std::string_view pattern, std::string_view module) {
  const bool open_begin = !pattern.empty() && pattern.front() == '*';
  const bool open_end = !pattern.empty() && pattern.back() == '*';
  if (pattern.empty()) {
    return false;
  }
  for (std::size_t at = 0; at < module.size(); ++at) {
    if (at > 0 && module[at - 1] != '.' && !open_begin) {
      continue;
    }
    const std::size_t end = match(pattern, module, at);
    if (end != std::string_view::npos && (open_end || end == module.size() || module[end] == '.')) {
      return true;
    }
  }
  return false;
}

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
  m.cache = how.cache_fp8 ? dtype::fp8 : m.cache;
}

}  // namespace model_file
}  // namespace v0
}  // namespace varve

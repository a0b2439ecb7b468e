// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/input/pattern.hpp"
#include "formats/model/module_names.hpp"
#include "formats/model/quantisation.hpp"

#include <algorithm>
#include <optional>
#include <regex>

namespace varve {
inline namespace v0 {
namespace model_file {

namespace {

/// Modules that a file names: by whole steps of their path, or by a regular expression that fits from the
/// path's first character on, as Python's re.match has it.
class module_patterns {
 public:
  /// Bytes of regular expressions × layers, of all fields together: seconds at worst.
  static constexpr std::uint64_t most = std::uint64_t{1} << 18U;

  module_patterns(const config& from, std::string_view field, const std::vector<std::string>& patterns,
                  std::size_t layers, std::uint64_t& size) {
    for (const std::string& pattern : patterns) {
      if (pattern.compare(0, 3, "re:") == 0) {
        const std::string expression = pattern.substr(3);
        const auto refuse = [&](const std::string& why) {
          from.fail(field, "a regular expression in it " + why + "; name the modules instead");
        };
        regular_.push_back(input::compile_pattern(expression, refuse));
        size += expression.size() * input::repetitions(expression) * layers;
        if (size > most) {
          refuse("makes them too many to search for");
        }
      } else if (pattern.size() <= input::longest_pattern && pattern.find("norm") == std::string::npos) {
        plain_.push_back(pattern);  // norms are never quantised
      }
    }
  }

  [[nodiscard]] bool name(const std::string& module) const {
    const auto fits = [&](const std::regex& r) {
      return std::regex_search(module, r, std::regex_constants::match_continuous);
    };
    return std::any_of(plain_.begin(), plain_.end(),
                       [&](const std::string& p) { return names_module(p, module); }) ||
           std::any_of(regular_.begin(), regular_.end(), fits);
  }

 private:
  std::vector<std::string> plain_;
  std::vector<std::regex> regular_;
};

/// A matrix by the names that checkpoints and engines have for it below its layer.
using matrix = std::vector<std::string_view>;

class formats {
 public:
  formats(const config& from, const quantisation& how, const model& m)
      : how_{how},
        kept_{m.type},
        split_{how.grouped_by == "dynamic" && m.name != "phi3"},
        excluded_{from, how.excluded_by, how.excluded, m.layers.size(), size_},
        only_{from, "modules_in_block_to_quantize", how.only, m.layers.size(), size_} {
    for (const quantised_group& g : how.groups) {
      targets_.emplace_back(from, how.grouped_by, g.targets, m.layers.size(), size_);
    }
  }

  [[nodiscard]] weight_format of(std::size_t layer, const matrix& m) const {
    std::vector<std::string> modules;
    for (const std::string_view name : m) {
      if (split_ && (name == "self_attn.qkv_proj" || name == "mlp.gate_up_proj")) {
        continue;
      }
      const std::string module = "layers." + std::to_string(layer) + '.' + std::string{name};
      modules.push_back("model." + module);
      if (how_.nested) {
        modules.push_back("model.language_model." + module);
        modules.push_back("language_model.model." + module);
      }
    }
    const weight_format stored = how_.only.empty() || among(only_, modules) ? of_any(modules) : kept_;
    any_ = any_ || stored != kept_;
    return stored;
  }

  /// Whether a matrix is stored as another type than the model has.
  [[nodiscard]] bool any() const noexcept { return any_; }

  /// Nothing where the head stays as it is.
  [[nodiscard]] std::optional<weight_format> of_head() const {
    const weight_format stored = how_.head ? of_any({"lm_head"}) : kept_;
    return stored != kept_ ? std::optional{stored} : std::nullopt;
  }

  /// Nothing where the matrix is stored as another is.
  [[nodiscard]] std::optional<weight_format> beside(const weight_format& other, std::size_t layer,
                                                    const matrix& m) const {
    const weight_format stored = of(layer, m);
    return stored != other ? std::optional{stored} : std::nullopt;
  }

 private:
  static bool among(const module_patterns& patterns, const std::vector<std::string>& modules) {
    return std::any_of(modules.begin(), modules.end(),
                       [&](const std::string& module) { return patterns.name(module); });
  }

  [[nodiscard]] weight_format of_any(const std::vector<std::string>& modules) const {
    if (among(excluded_, modules)) {
      return kept_;
    }
    for (std::size_t g = 0; g < targets_.size(); ++g) {
      if (how_.groups[g].targets.empty() || among(targets_[g], modules)) {
        return how_.groups[g].format;
      }
    }
    return targets_.empty() ? how_.format : kept_;
  }

  const quantisation& how_;
  weight_format kept_;  ///< of what is not quantised
  bool split_;          ///< expressions are those of a checkpoint, where few models join matrices
  mutable bool any_ = false;
  std::uint64_t size_ = 0;
  module_patterns excluded_;
  module_patterns only_;
  std::vector<module_patterns> targets_;
};

/// With the names that families without a gate have for it (OPT, GPT-2, Falcon, Phi).
matrix named(matrix usual, bool older, const matrix& others) {
  usual.insert(usual.end(), others.begin(), older ? others.end() : others.begin());
  return usual;
}

void set_latent_attention(const formats& stored, std::size_t i, attention_layer& to) {
  const bool two_steps = to.query_latent > 0;
  to.in = stored.of(i, {two_steps ? "self_attn.q_a_proj" : "self_attn.q_proj"});
  if (two_steps) {
    to.queries_up = stored.beside(to.in, i, {"self_attn.q_b_proj"});
  }
  to.keys = stored.beside(to.in, i, {"self_attn.kv_a_proj_with_mqa"});
  to.values = stored.beside(to.in, i, {"self_attn.kv_b_proj"});
}

void set_attention(const formats& stored, std::size_t i, bool older, attention_layer& to) {
  const matrix joined{"attn.c_attn", "self_attention.query_key_value"};
  const auto of = [&](std::string_view name) { return named({name, "self_attn.qkv_proj"}, older, joined); };
  to.in = stored.of(i, of("self_attn.q_proj"));
  to.keys = stored.beside(to.in, i, of("self_attn.k_proj"));
  to.values = stored.beside(to.in, i, of("self_attn.v_proj"));
}

void set_experts(const formats& stored, std::size_t i, expert_layer& to) {
  constexpr std::string_view joined = "mlp.experts.gate_up_proj";
  to.weights = stored.of(i, {"mlp.experts.0.gate_proj", joined, "block_sparse_moe.experts.0.w1"});
  to.up = stored.beside(to.weights, i, {"mlp.experts.0.up_proj", joined, "block_sparse_moe.experts.0.w3"});
  to.down = stored.beside(
      to.weights, i, {"mlp.experts.0.down_proj", "mlp.experts.down_proj", "block_sparse_moe.experts.0.w2"});
}

void set_shared(const formats& stored, std::size_t i, expert_layer& to) {
  if (to.shared_width > 0) {
    to.shared = stored.of(i, {"mlp.shared_experts.gate_proj", "mlp.shared_expert.gate_proj"});
    to.shared_up = stored.beside(to.shared, i, {"mlp.shared_experts.up_proj", "mlp.shared_expert.up_proj"});
    to.shared_down =
        stored.beside(to.shared, i, {"mlp.shared_experts.down_proj", "mlp.shared_expert.down_proj"});
  }
}

void set_mlp(const formats& stored, std::size_t i, mlp_layer& to) {
  to.weights =
      stored.of(i, to.gated ? matrix{"mlp.gate_proj", "mlp.gate_up_proj"}
                            : matrix{"mlp.up_proj", "fc1", "mlp.fc1", "mlp.c_fc", "mlp.dense_h_to_4h"});
  to.up = to.gated ? stored.beside(to.weights, i, {"mlp.up_proj", "mlp.gate_up_proj"}) : std::nullopt;
  to.down = stored.beside(
      to.weights, i,
      named({"mlp.down_proj"}, !to.gated, {"fc2", "mlp.fc2", "mlp.c_proj", "mlp.dense_4h_to_h"}));
}

}  // namespace

void apply(const config& from, const quantisation& how, model& m) {
  const formats stored{from, how, m};
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    model_layer& l = m.layers[i];
    if (l.experts.count > 0) {
      set_experts(stored, i, l.experts);
    }
    if (how.experts_only) {
      continue;
    }
    const bool older = l.experts.count == 0 && !l.mlp.gated;
    if (l.attention.latent > 0) {
      set_latent_attention(stored, i, l.attention);
    } else {
      set_attention(stored, i, older, l.attention);
    }
    l.attention.output =
        stored.of(i, named({"self_attn.o_proj"}, older,
                           {"self_attn.out_proj", "self_attn.dense", "attn.c_proj", "self_attention.dense"}));
    set_shared(stored, i, l.experts);
    if (l.experts.count == 0) {
      set_mlp(stored, i, l.mlp);
    }
  }
  m.head = stored.of_head();
  if (!stored.any() && !m.head) {
    from.fail(
        !how.only.empty()       ? "modules_in_block_to_quantize"
        : !how.groups.empty()   ? how.grouped_by
        : !how.excluded.empty() ? how.excluded_by
                                : "quant_method",
        "leaves no matrix of the model to be quantised; correct the names of modules in it, or remove the "
        "quantisation to count 16-bit weights");
  }
  m.factors = how.factors;
  m.quantisation = how.method;
  m.cache = how.cache.value_or(m.cache);
}

}  // namespace model_file
}  // namespace v0
}  // namespace varve

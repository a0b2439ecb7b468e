// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/input/pattern.hpp"
#include "formats/model/module_names.hpp"
#include "formats/model/quantisation.hpp"

#include <algorithm>
#include <regex>

namespace varve {
inline namespace v0 {
namespace model_file {

namespace {

/// Modules that a file names: by whole steps of their path, or by a regular expression that fits from the
/// path's first character on, as Python's re.match has it.
class module_patterns {
 public:
  /// Bytes of regular expressions × layers: seconds at worst.
  static constexpr std::uint64_t most = std::uint64_t{1} << 18U;

  module_patterns(const config& from, std::string_view field, const std::vector<std::string>& patterns,
                  std::size_t layers) {
    std::uint64_t size = 0;
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
  formats(const config& from, const quantisation& how, std::size_t layers)
      : from_{from}, how_{how}, excluded_{from, how.excluded_by, how.excluded, layers} {
    for (const quantised_group& g : how.groups) {
      targets_.emplace_back(from, "config_groups", g.targets, layers);
      if (targets_.back().name("lm_head")) {
        from.fail("config_groups",
                  "quantises lm_head, which is not supported; remove it there to count the head in 16 bits");
      }
    }
  }

  /// Of matrices that a layer's description has one format for.
  void set(std::size_t layer, const std::vector<matrix>& joined, weight_format& to) const {
    const weight_format kept = to;
    for (std::size_t i = 0; i < joined.size(); ++i) {
      const weight_format stored = of(layer, joined[i], kept);
      if (i > 0 && stored != to) {
        std::string all;
        for (const matrix& m : joined) {
          all.append(all.empty() ? "" : ", ").append(m.front());
        }
        from_.fail(
            how_.excluded.empty() ? "config_groups" : how_.excluded_by,
            "stores some of " + all + " of layer " + std::to_string(layer) +
                " in another format than the others, which is not supported; name all of them or none");
      }
      to = stored;
    }
  }

 private:
  [[nodiscard]] weight_format of(std::size_t layer, const matrix& m, const weight_format& kept) const {
    std::vector<std::string> modules;
    for (const std::string_view name : m) {
      modules.push_back("model.layers." + std::to_string(layer) + '.' + std::string{name});
    }
    const auto among = [&](const module_patterns& patterns) {
      return std::any_of(modules.begin(), modules.end(),
                         [&](const std::string& module) { return patterns.name(module); });
    };
    if (among(excluded_)) {
      return kept;
    }
    for (std::size_t g = 0; g < targets_.size(); ++g) {
      if (how_.groups[g].targets.empty() || among(targets_[g])) {
        return how_.groups[g].format;
      }
    }
    return targets_.empty() ? how_.format : kept;
  }

  const config& from_;
  const quantisation& how_;
  module_patterns excluded_;
  std::vector<module_patterns> targets_;
};

}  // namespace

void apply(const config& from, const quantisation& how, model& m) {
  const formats stored{from, how, m.layers.size()};
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    model_layer& l = m.layers[i];
    if (l.experts.count > 0) {
      stored.set(i,
                 {{"mlp.experts.0.gate_proj", "mlp.experts.gate_up_proj", "block_sparse_moe.experts.0.w1"},
                  {"mlp.experts.0.up_proj", "mlp.experts.gate_up_proj", "block_sparse_moe.experts.0.w3"},
                  {"mlp.experts.0.down_proj", "mlp.experts.down_proj", "block_sparse_moe.experts.0.w2"}},
                 l.experts.weights);
    }
    if (how.experts_only) {
      continue;
    }
    if (l.attention.latent > 0) {
      stored.set(i,
                 {{l.attention.query_latent > 0 ? "self_attn.q_a_proj" : "self_attn.q_proj"},
                  {l.attention.query_latent > 0 ? "self_attn.q_b_proj" : "self_attn.q_proj"},
                  {"self_attn.kv_a_proj_with_mqa"},
                  {"self_attn.kv_b_proj"}},
                 l.attention.in);
    } else {
      stored.set(i,
                 {{"self_attn.q_proj", "self_attn.qkv_proj"},
                  {"self_attn.k_proj", "self_attn.qkv_proj"},
                  {"self_attn.v_proj", "self_attn.qkv_proj"}},
                 l.attention.in);
    }
    stored.set(i, {{"self_attn.o_proj"}}, l.attention.output);
    if (l.experts.shared_width > 0) {
      stored.set(i,
                 {{"mlp.shared_experts.gate_proj", "mlp.shared_expert.gate_proj"},
                  {"mlp.shared_experts.up_proj", "mlp.shared_expert.up_proj"},
                  {"mlp.shared_experts.down_proj", "mlp.shared_expert.down_proj"}},
                 l.experts.shared);
    }
    if (l.experts.count == 0) {
      weight_format back = l.mlp.weights;
      stored.set(i, {{"mlp.down_proj"}}, back);
      stored.set(i, {{"mlp.gate_proj", "mlp.gate_up_proj"}, {"mlp.up_proj", "mlp.gate_up_proj"}},
                 l.mlp.weights);
      if (back != l.mlp.weights) {
        l.mlp.down = back;
      }
    }
  }
  m.factors = how.factors;
  m.quantisation = how.method;
  m.cache = how.cache.value_or(m.cache);
}

}  // namespace model_file
}  // namespace v0
}  // namespace varve

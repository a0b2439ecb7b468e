// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/label_rules.hpp"

#include <algorithm>
#include <stdexcept>

namespace varve {
inline namespace v0 {
namespace model_work {

namespace {

struct usual_rule {
  std::string_view patterns;  ///< with spaces between them
  std::string_view parts;
  std::string_view nested = {};
  bool one_each = false;
};

// Names of operators before those of blocks, where one pattern would fit both.
constexpr usual_rule usual[] = {
    {"*rotary* rope", ""},

    // Blocks of layers
    {"layer layers *decoderlayer *transformerlayer *transformerblock *decoderblock gpt2block block blk h",
     "layer"},
    {"sharedexpert sharedexperts sharedmlp",
     "moe/shared_gate_up,moe/shared_gate_proj,moe/shared_up_proj,moe/shared_act_mul,moe/shared_down,"
     "moe/shared_gate"},
    {"experts *experts fusedmoe sharedfusedmoe",
     "moe/experts_gate_up,moe/experts_gate_proj,moe/experts_up_proj,moe/experts_act_mul,moe/experts_down,"
     "moe/combine"},
    {"router *router gate moegate *topkgate", "moe/router"},
    {"moe *moe *moeblock *moelayer *mixtureofexperts", "moe"},
    {"flashattention flashattn attncore attentioncore coreattention sdpa *scaleddotproduct* kqv "
     "pagedattention",
     "attention/attn_score,attention/attn_value"},
    {"attention attn *attention *attention2 *selfattn attnblock attentionblock", "attention",
     "attention/attn_score,attention/attn_value,attention/kv_b_k_absorb,attention/kv_b_v_absorb"},
    {"mlp ffn *mlp *mlpblock *feedforward *ffn", "mlp,moe",
     "moe/shared_gate_up,moe/shared_gate_proj,moe/shared_up_proj,moe/shared_act_mul,moe/shared_down"},

    // Of attention
    {"qkv qkvproj attnqkv wqkv cattn querykeyvalue qkvparallellinear *qkvlinear",
     "attention/q_proj,attention/k_proj,attention/v_proj"},
    {"q qproj attnq wq query qcur", "attention/q_proj"},
    {"k kproj attnk wk key kcur", "attention/k_proj"},
    {"v vproj attnv wv value vcur", "attention/v_proj"},
    {"kv kvproj wkv", "attention/k_proj,attention/v_proj"},
    {"qaproj", "attention/q_a_proj"},
    {"qbproj", "attention/q_b_proj"},
    {"kvaproj kvaprojwithmqa", "attention/kv_a_proj"},
    {"kvbproj", "attention/kv_b_proj"},
    {"o oproj attno attnout attnoutput wo outproj output dense", "attention/o_proj"},
    {"qknorm", "norm/qk_norm"},

    // Of feed-forward blocks
    {"gateup gateupproj ffngateup mergedcolumnparallellinear w13", "mlp/gate_proj,mlp/up_proj"},
    {"gateup gateupproj mergedcolumnparallellinear",
     "moe/shared_gate_up,moe/shared_gate_proj,moe/shared_up_proj"},
    {"gate gateproj ffngate w1", "mlp/gate_proj"},
    {"up upproj ffnup w3", "mlp/up_proj"},
    {"up upproj ffnup fc1 cfc fcin wi denseh4hto4h columnparallellinear", "mlp/fc1"},
    {"down downproj ffndown w2", "mlp/down_proj"},
    {"down downproj ffndown fc2 fcout dense4htoh", "mlp/fc2"},
    {"cproj rowparallellinear", "attention/o_proj,mlp/down_proj,mlp/fc2,moe/shared_down"},
    {"act actfn activation siluandmul geluandmul *andmul swiglu geglu ffnact", "mlp/act_mul,mlp/act"},
    {"act actfn siluandmul geluandmul *andmul", "moe/shared_act_mul"},
    {"gelu *geluactivation relu", "mlp/act"},

    // Norms
    {"attentionnorm attnnorm inputlayernorm inputnorm ln1 norm1", "norm/norm_1"},
    {"postattentionlayernorm postattentionnorm", "norm/post_attn_norm"},
    {"mlpnorm ffnnorm postattentionlayernorm prefeedforwardlayernorm ln2 norm2", "norm/norm_2"},
    {"postfeedforwardlayernorm postffnnorm", "norm/post_ffn_norm"},
    {"finalnorm finallayernorm outputnorm resultnorm lnf normf", "norm/final_norm"},
    {"norm *rmsnorm *layernorm", "norm", {}, true},

    // Before and after layers
    {"embedding embed embedtokens tokenembedding tokenembd wte vocabparallelembedding inpembd", "embedding"},
    {"head lmhead *lmhead logits logitsprocessor unembedding outputhead", "head"},

    {"*linear linear4bit linear8bitlt conv1d", "linear", {}, true},
};

bool is_plain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '*' ||
         (static_cast<unsigned char>(c) > 127);
}

/// Small letters and digits, of which patterns have "*" besides.
std::string plain(std::string_view text, bool is_pattern) {
  std::string out;
  for (char c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (is_plain(c) && (c != '*' || is_pattern)) {
      out += c;
    }
  }
  return out;
}

/// The longest text before each star is enough to go back to: time is the product of the lengths.
bool fits(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0;
  std::size_t i = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (i < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = i;
    } else if (p < pattern.size() && pattern[p] == text[i]) {
      ++p;
      ++i;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      i = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

template <class Each>
void split(std::string_view text, char separator, Each each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<label_part> parts_of(std::string_view text) {
  std::vector<label_part> out;
  split(text, ',', [&](std::string_view part) {
    const std::size_t slash = part.find('/');
    out.push_back({std::string{part.substr(0, slash)},
                   slash < part.size() ? std::string{part.substr(slash + 1)} : std::string{}});
  });
  return out;
}

parsed_rule parse(const label_rule& rule) {
  parsed_rule out;
  out.pattern = plain(rule.pattern, true);
  out.parts = parts_of(rule.parts);
  out.one_each = rule.one_each || rule.parts == "linear";
  out.is_layer = rule.parts == "layer";
  return out;
}

}  // namespace

bool is_inner_norm(const operator_work& o) noexcept {
  return o.name == "qk_norm" || o.name == "q_a_norm" || o.name == "kv_a_norm";
}

bool label_part::holds(const operator_work& o) const noexcept {
  if (block == "linear") {
    return o.declared.flops > 0 && o.name != "attn_score" && o.name != "attn_value" &&
           o.name.substr(0, 8) != "experts_";
  }
  return (block == o.block || (block == "attention" && is_inner_norm(o))) && (name.empty() || name == o.name);
}

bool parsed_rule::is_named() const noexcept {
  return std::all_of(parts.begin(), parts.end(), [](const label_part& p) { return !p.name.empty(); });
}

bool parsed_rule::stands_for_block_of(const parsed_rule& other) const noexcept {
  return std::any_of(parts.begin(), parts.end(), [&](const label_part& mine) {
    return std::any_of(other.parts.begin(), other.parts.end(), [&](const label_part& theirs) {
      return mine.block == theirs.block && mine.name.empty() && theirs.name.empty();
    });
  });
}

label_rules::label_rules(const std::vector<label_rule>& first) {
  for (const label_rule& rule : first) {
    check(rule);
    rules_.push_back(parse(rule));
  }
  for (const usual_rule& u : usual) {
    split(u.patterns, ' ', [&](std::string_view pattern) {
      parsed_rule rule = parse({std::string{pattern}, std::string{u.parts}, u.one_each});
      rule.nested = parts_of(u.nested);
      rules_.push_back(std::move(rule));
    });
  }
}

const std::vector<std::uint32_t>& label_rules::fitting(const string_table& strings, std::uint32_t name) {
  const auto [found, added] = fitting_.try_emplace(name);
  if (added) {
    constexpr std::size_t most = 512;
    const std::string text = plain(strings[name].substr(0, most), false);
    for (std::uint32_t i = 0; i < rules_.size() && !text.empty(); ++i) {
      if (fits(rules_[i].pattern, text)) {
        found->second.push_back(i);
      }
    }
  }
  return found->second;
}

}  // namespace model_work

void check(const label_rule& rule) {
  constexpr std::size_t most = 512;
  if (rule.pattern.size() > most || model_work::plain(rule.pattern, true).empty()) {
    throw std::invalid_argument{"the pattern \"" + rule.pattern.substr(0, most) +
                                "\" has no letter or digit that a label could have, or more than 512 bytes"};
  }
  constexpr std::string_view blocks[] = {"layer", "linear",   "embedding", "attention", "mlp",
                                         "moe",   "residual", "norm",      "head"};
  const std::vector<model_work::label_part> parts = model_work::parts_of(rule.parts);
  for (const model_work::label_part& part : parts) {
    const bool whole = part.block == "layer" || part.block == "linear";
    if (std::find(std::begin(blocks), std::end(blocks), part.block) == std::end(blocks) ||
        (whole && (!part.name.empty() || parts.size() > 1))) {
      throw std::invalid_argument{
          "\"" + part.block + (part.name.empty() ? "" : "/" + part.name) +
          "\" is no part of a model: layer or linear alone, or some of embedding, attention, mlp, moe, "
          "residual, norm and head, each as BLOCK or BLOCK/OPERATOR (docs/work.md)"};
    }
  }
}

}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/model/families.hpp"

namespace varve {
inline namespace v0 {
namespace model_file {

namespace {

struct family {
  std::string_view model_type;
  describe_family describe;
};

constexpr family families[] = {{"deepseek_v2", describe_deepseek_v2},
                               {"deepseek_v3", describe_deepseek_v3},
                               {"falcon", describe_falcon},
                               {"gemma", describe_gemma},
                               {"gemma2", describe_gemma2},
                               {"gemma3", describe_gemma3},
                               {"gemma3_text", describe_gemma3},
                               {"gpt2", describe_gpt2},
                               {"gpt_oss", describe_gpt_oss},
                               {"kimi_k2", describe_deepseek_v3},
                               {"llama", describe_llama},
                               {"mistral", describe_mistral},
                               {"mixtral", describe_mixtral},
                               {"opt", describe_opt},
                               {"phi", describe_phi},
                               {"phi3", describe_phi3},
                               {"phimoe", describe_phimoe},
                               {"qwen2", describe_qwen2},
                               {"qwen2_moe", describe_qwen2_moe},
                               {"qwen3", describe_qwen3},
                               {"qwen3_moe", describe_qwen3_moe},
                               // As Falcon's first checkpoints call themselves.
                               {"RefinedWeb", describe_falcon},
                               {"RefinedWebModel", describe_falcon}};

}  // namespace

describe_family find_family(std::string_view model_type) {
  for (const family& f : families) {
    if (f.model_type == model_type) {
      return f.describe;
    }
  }
  return nullptr;
}

std::string known_families() {
  std::string out;
  for (const family& f : families) {
    out.append(out.empty() ? "" : ", ").append(f.model_type);
  }
  return out;
}

void repeat(const config& from, model& m, std::int64_t count, const model_layer& layer) {
  if (count > most_layers) {
    from.fail("num_hidden_layers", std::to_string(count) + " layers are more than the " +
                                       std::to_string(most_layers) + " that varve takes");
  }
  m.layers.assign(static_cast<std::size_t>(count), layer);
}

attention_heads equal_heads(const config& from, names field, std::int64_t width, std::int64_t queries,
                            std::int64_t keys, std::int64_t head_width) {
  if (head_width == 0 && width % queries != 0) {
    from.fail(*field.begin(), std::to_string(queries) + " heads do not divide a width of " +
                                  std::to_string(width) + "; correct one of them, or add head_dim");
  }
  if (keys > queries || queries % keys != 0) {
    from.fail(*field.begin(), std::to_string(queries) + " heads cannot share " + std::to_string(keys) +
                                  " key-value heads; correct one of them");
  }
  const std::int64_t each = head_width > 0 ? head_width : width / queries;
  return {queries, keys, each, each};
}

bool set_windows(const config& from, model& m, std::int64_t window) {
  constexpr std::string_view field = "layer_types";
  if (!from.has(field)) {
    return false;
  }
  const std::vector<std::string_view> types = from.texts(field);
  if (types.size() < m.layers.size()) {
    from.fail(field, "names " + std::to_string(types.size()) + " layers of " +
                         std::to_string(m.layers.size()) + "; add the others");
  }
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    if (types[i] != "sliding_attention" && types[i] != "full_attention") {
      from.fail(field,
                "holds a kind of layer that varve does not know; it knows sliding_attention and "
                "full_attention");
    }
    m.layers[i].attention.window = types[i] == "sliding_attention" ? window : 0;
  }
  return true;
}

}  // namespace model_file
}  // namespace v0
}  // namespace varve

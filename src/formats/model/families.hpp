// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the fields of a config.json mean for each family of models: the defaults of the classes of
// Hugging Face transformers, and what these do without being told.
#ifndef VARVE_FORMATS_MODEL_FAMILIES_HPP
#define VARVE_FORMATS_MODEL_FAMILIES_HPP

#include "formats/model/config.hpp"

#include <varve/model.hpp>

#include <string>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace model_file {

/// Fills a model from its family's fields; nothing is quantised, all is of one type.
using describe_family = void (*)(const config&, model&);

/// Nothing for a family that is not known.
describe_family find_family(std::string_view model_type);
/// "deepseek_v2, deepseek_v3, falcon, …"
std::string known_families();

inline constexpr std::int64_t most_layers = 1024;

/// `count` equal layers.
void repeat(const config& from, model& m, std::int64_t count, const model_layer& layer);
/// Heads of equal width, whose number must divide the model's width where `head_width` is 0.
attention_heads equal_heads(const config& from, names field, std::int64_t width, std::int64_t queries,
                            std::int64_t keys, std::int64_t head_width);
/// Sets the windows of all layers from "layer_types" where the file has it. True when it has.
bool set_windows(const config& from, model& m, std::int64_t window);

void describe_opt(const config& from, model& m);
void describe_gpt2(const config& from, model& m);
void describe_falcon(const config& from, model& m);
void describe_phi(const config& from, model& m);
void describe_deepseek_v2(const config& from, model& m);
void describe_deepseek_v3(const config& from, model& m);
void describe_llama(const config& from, model& m);
void describe_mistral(const config& from, model& m);
void describe_mixtral(const config& from, model& m);
void describe_qwen2(const config& from, model& m);
void describe_qwen2_moe(const config& from, model& m);
void describe_qwen3(const config& from, model& m);
void describe_qwen3_moe(const config& from, model& m);
void describe_gemma(const config& from, model& m);
void describe_gemma2(const config& from, model& m);
void describe_gemma3(const config& from, model& m);
void describe_phi3(const config& from, model& m);
void describe_phimoe(const config& from, model& m);
void describe_gpt_oss(const config& from, model& m);

}  // namespace model_file
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_MODEL_FAMILIES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/model/quantisation.hpp"

#include "formats/input/json_text.hpp"

#include <varve/work_formulas.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace varve {
inline namespace v0 {
namespace model_file {

namespace {

/// Integers of 4 or 8 bits; others fail.
dtype integer_of(const config& from, std::string_view field, std::int64_t bits) {
  if (bits != 4 && bits != 8) {
    from.fail(field,
              std::to_string(bits) +
                  " bits are not supported, 4 and 8 are; remove the quantisation to count 16-bit weights");
  }
  return bits == 4 ? dtype::int4 : dtype::int8;
}

/// Weights along k that share a scale: −1 and 0 stand for all of them.
std::int64_t group_of(const config& from, std::int64_t otherwise) {
  return std::max<std::int64_t>(from.size_or({"group_size", "q_group_size"}, otherwise, -1), 0);
}

void exclude(const config& from, std::string_view field, quantisation& how) {
  for (const std::string_view pattern : from.texts(field)) {
    how.excluded.emplace_back(pattern);
    how.excluded_by = field;
  }
}

/// What keys and values are stored as, by ModelOpt's name or as compressed-tensors says it.
void read_cache(const config& from, quantisation& how) {
  const std::string advice = "; remove it to count a cache of 16 bits";
  if (const auto algorithm = from.text({"kv_cache_quant_algo"})) {
    if (*algorithm != "FP8" && *algorithm != "INT8") {
      from.fail("kv_cache_quant_algo", "is not one of FP8, INT8" + advice);
    }
    how.cache = *algorithm == "FP8" ? dtype::fp8 : dtype::int8;
  } else if (const auto scheme = from.object("kv_cache_scheme")) {
    if (scheme->need({"num_bits"}) != 8) {
      scheme->fail("num_bits", "is not 8, which alone is supported" + advice);
    }
    how.cache = scheme->text({"type"}).value_or("int") == "float" ? dtype::fp8 : dtype::int8;
  }
}

/// Packed integers, widened before they are multiplied.
quantisation packed(const config& from, std::int64_t bits, bool zeros, dtype type) {
  quantisation out;
  out.format = {integer_of(from, "bits", bits), group_of(from, 128), 1, 16, zeros ? bits : 0};
  out.factors = type;
  return out;
}

/// What GPTQModel and AutoGPTQ say of single modules. The first expression that fits a module counts.
void read_single_modules(const config& from, dtype type, quantisation& how) {
  for (const std::string_view module : from.nested_texts("modules_in_block_to_quantize")) {
    how.only.emplace_back(module);
  }
  const auto dynamic = from.object("dynamic");
  if (!dynamic) {
    return;
  }
  how.grouped_by = "dynamic";
  for (const auto& [name, own] : dynamic->objects()) {
    const bool excludes = name.substr(0, 2) == "-:";
    const std::string_view pattern = excludes || name.substr(0, 2) == "+:" ? name.substr(2) : name;
    weight_format format{type};
    if (!excludes) {
      format = how.format;
      if (const auto bits = own ? own->maybe({"bits"}) : std::nullopt) {
        format.type = integer_of(*own, "bits", *bits);
        format.zero_bits = *bits;
      }
      format.group = own ? group_of(*own, format.group) : format.group;
    }
    how.groups.push_back({format, {"re:" + std::string{pattern}}});
  }
  how.groups.push_back({how.format, {}});
}

quantisation read_fp8(const config& from) {
  quantisation out;
  const std::vector<std::int64_t> block = from.integers("weight_block_size");
  if (!block.empty() && (block.size() != 2 || block[0] == 0 || block[1] == 0)) {
    from.fail("weight_block_size", "must hold two sizes, of rows and of columns; correct it in the file");
  }
  out.format =
      block.empty() ? weight_format{dtype::fp8, 0, 0, 32} : weight_format{dtype::fp8, block[1], block[0], 32};
  out.factors = dtype::fp8;
  return out;
}

quantisation read_bits_and_bytes(const config& from, dtype type) {
  quantisation out;
  if (from.flag("load_in_4bit", false)) {
    const bool nested = from.flag("bnb_4bit_use_double_quant", false);
    out.format = {dtype::int4, 64, 1, nested ? 8 : 32};
    out.factors = type;
  } else {
    out.format = {dtype::int8, 0, 1, 32};
    out.factors = dtype::int8;
  }
  exclude(from, "llm_int8_skip_modules", out);
  return out;
}

weight_format read_weights(const config& weights) {
  const std::int64_t bits = weights.need({"num_bits"});
  const bool floating = weights.text({"type"}).value_or("int") == "float";
  const dtype stored = floating && bits == 8   ? dtype::fp8
                       : floating && bits == 4 ? dtype::fp4
                                               : integer_of(weights, "num_bits", bits);
  const std::string_view strategy = weights.text({"strategy"}).value_or("tensor");
  const std::int64_t group_size = group_of(weights, 0);
  weight_format out = strategy == "tensor"                       ? weight_format{stored, 0, 0, 32}
                      : stored == dtype::fp4                     ? weight_format{stored, group_size, 1, 8}
                      : strategy == "channel" || group_size == 0 ? weight_format{stored, 0, 1, 16}
                                                                 : weight_format{stored, group_size, 1, 16};
  const std::vector<std::int64_t> block = weights.integers("block_structure");
  if (strategy == "block" && block.size() == 2) {
    out = {stored, block[1], block[0], 32};
  }
  if (!floating && !weights.flag("symmetric", true)) {
    out.zero_bits = bits;
  }
  return out;
}

/// What a group's products are multiplied as; without a word on activations these stay as they are.
dtype read_factors(const config& group, const config& weights, dtype stored, dtype type) {
  const auto activations = group.object("input_activations");
  const std::int64_t bits = activations ? activations->need({"num_bits"}) : 16;
  if (bits == 16) {
    return type;
  }
  const std::string_view kind = activations->text({"type"}).value_or(weights.text({"type"}).value_or("int"));
  const dtype out = kind == "float" ? (bits == 4 ? dtype::fp4 : dtype::fp8) : dtype::int8;
  const bool meet = pipe_of(stored, out) != math_pipe::unknown && pipe_of(out, stored) != math_pipe::unknown;
  if ((bits != 8 && out != dtype::fp4) || !meet) {
    activations->fail("num_bits", std::to_string(bits) + " bits of type " +
                                      std::string{input::cut(kind, 16)} +
                                      " meet weights that varve knows no products with; known are 8 and 4 "
                                      "bits of float with weights of at most these, and 8 of int with "
                                      "weights of int; remove input_activations to count 16-bit products");
  }
  return out;
}

/// Modules by name; "Linear" is the class of all, and what other classes are made of is not known.
std::vector<std::string> read_targets(const config& group) {
  std::vector<std::string> out;
  for (const std::string_view target : group.texts("targets")) {
    if (target == "Linear") {
      return {};
    }
    if (!target.empty() && target[0] >= 'A' && target[0] <= 'Z' &&
        target.find('.') == std::string_view::npos) {
      group.fail("targets", std::string{input::cut(target, 64)} +
                                " is a class of modules, of which varve knows Linear alone; name the modules "
                                "instead");
    }
    out.emplace_back(target);
  }
  return out;
}

quantisation read_compressed_tensors(const config& from, dtype type) {
  constexpr std::string_view field = "config_groups";
  const auto groups = from.object(field);
  quantisation out;
  out.head = true;
  for (const auto& [name, group] : groups ? groups->objects() : decltype(groups->objects()){}) {
    const auto weights = group ? group->object("weights") : std::nullopt;
    if (!weights) {
      continue;  // of activations alone, or of the cache
    }
    const weight_format format = read_weights(*weights);
    const dtype factors = read_factors(*group, *weights, format.type, type);
    if (!out.groups.empty() && factors != out.factors) {
      from.fail(field,
                "multiplies activations as one type in one group and as another in another, which is not "
                "supported; keep one kind of group to count them all so");
    }
    out.factors = factors;
    out.groups.push_back({format, read_targets(*group)});
  }
  if (out.groups.empty()) {
    from.fail(field, "says nothing of weights; take the config.json that the model was published with");
  }
  exclude(from, "ignore", out);
  read_cache(from, out);
  return out;
}

void set_excluded(const config& from, quantisation& how) {
  for (const std::string_view field :
       {"modules_to_not_convert", "ignored_layers", "exclude_modules", "ignore"}) {
    exclude(from, field, how);
  }
}

}  // namespace

quantisation read_modelopt(const config& from, dtype type) {
  quantisation out;
  const std::string_view algorithm = from.text({"quant_algo"}).value_or("");
  if (algorithm == "FP8") {
    out.format = {dtype::fp8, 0, 0, 32};
    out.factors = dtype::fp8;
  } else if (algorithm == "FP8_PB_WO" || algorithm == "FP8_PB_REAL" || algorithm == "FP8_BLOCK_SCALES") {
    out.format = {dtype::fp8, 128, 128, 32};
    out.factors = dtype::fp8;
  } else if (algorithm == "FP8_PER_CHANNEL_PER_TOKEN") {
    out.format = {dtype::fp8, 0, 1, 32};
    out.factors = dtype::fp8;
  } else if (algorithm == "NVFP4") {
    out.format = {dtype::fp4, std::max<std::int64_t>(group_of(from, 16), 16), 1, 8};
    out.factors = dtype::fp4;
  } else if (algorithm == "W4A16_AWQ" || algorithm == "W4A8_AWQ") {
    out.format = {dtype::int4, group_of(from, 128), 1, 16};
    out.factors = algorithm == "W4A8_AWQ" ? dtype::fp8 : type;
  } else {
    from.fail("quant_algo",
              "is not one of FP8, FP8_PB_WO, FP8_PER_CHANNEL_PER_TOKEN, NVFP4, W4A16_AWQ, "
              "W4A8_AWQ; remove the quantisation to count 16-bit weights");
  }
  out.method = "modelopt ";
  out.method += algorithm;
  read_cache(from, out);
  set_excluded(from, out);
  return out;
}

quantisation read_quantisation(const config& from, dtype type) {
  constexpr std::string_view field = "quant_method";
  const std::string_view method = from.text({field}).value_or("");
  quantisation out;
  if (method == "gptq") {
    out = packed(from, from.need({"bits"}), true, type);
    out.head = from.flag("lm_head", false);
    read_single_modules(from, type, out);
  } else if (method == "awq") {
    out = packed(from, from.size_or({"bits", "w_bit"}, 4), from.flag("zero_point", true), type);
  } else if (method == "fp8") {
    out = read_fp8(from);
  } else if (method == "fbgemm_fp8") {
    out.format = {dtype::fp8, 0, 1, 32};
    out.factors = dtype::fp8;
  } else if (method == "mxfp4") {
    out.format = {dtype::fp4, 32, 1, 8};
    out.factors = type;
    out.experts_only = true;
  } else if (method == "bitsandbytes") {
    out = read_bits_and_bytes(from, type);
  } else if (method == "compressed-tensors") {
    out = read_compressed_tensors(from, type);
  } else if (method == "modelopt" || method == "modelopt_fp4") {
    return read_modelopt(from, type);
  } else {
    from.fail(field,
              (method.empty() ? std::string{"missing"} : std::string{"unknown"}) +
                  "; known are awq, bitsandbytes, compressed-tensors, fbgemm_fp8, fp8, gptq, modelopt, "
                  "mxfp4; remove the quantisation to count 16-bit weights");
  }
  out.method = method;
  if (method != "compressed-tensors") {
    set_excluded(from, out);
  }
  return out;
}

}  // namespace model_file
}  // namespace v0
}  // namespace varve

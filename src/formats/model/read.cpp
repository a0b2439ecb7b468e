// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/input/input.hpp"
#include "formats/input/json_damage.hpp"
#include "formats/input/json_text.hpp"
#include "formats/model/config.hpp"
#include "formats/model/families.hpp"
#include "formats/model/quantisation.hpp"

#include <varve/io.hpp>
#include <varve/model.hpp>

#include <simdjson.h>

#include <filesystem>

namespace varve {
inline namespace v0 {

namespace model_file {
namespace {

constexpr std::size_t deepest = 32;
constexpr std::uint64_t largest_file = std::uint64_t{16} << 20U;

/// A parsed file; elements of it are valid while it lives.
class document {
 public:
  explicit document(const std::string& path) {
    read_options options;
    options.max_unpacked = largest_file;
    const input::content file = input::read(path, options);
    simdjson::error_code code = parser_.allocate(file.bytes.size(), deepest);
    if (code == simdjson::SUCCESS) {
      code = parser_.parse(file.bytes.view().data(), file.bytes.size(), true).get(root_);
    }
    if (code != simdjson::SUCCESS) {
      if (const auto found = input::find_damage(file.bytes.view())) {
        input::fail(file, found->byte, found->cause);
      }
      input::fail(path, std::string{"is no config.json: "} + simdjson::error_message(code));
    }
    if (!root_.is_object()) {
      input::fail(path, "is JSON but no config.json: it must be an object");
    }
  }
  [[nodiscard]] simdjson::dom::element root() const noexcept { return root_; }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

dtype type_of(const config& from, const config& outer) {
  const config& said = from.has("torch_dtype") || from.has("dtype") ? from : outer;
  const auto name = said.text({"torch_dtype", "dtype"});
  if (!name || *name == "bfloat16" || *name == "auto") {
    return dtype::bf16;
  }
  if (*name == "float16") {
    return dtype::f16;
  }
  if (*name == "float32") {
    return dtype::f32;
  }
  said.fail(said.has("torch_dtype") ? "torch_dtype" : "dtype",
            "is not one of bfloat16, float16, float32; correct it in the file");
}

/// The description of the language model where the file is of one with others beside it (Gemma 3).
config language_model(const config& root) {
  if (!root.has("hidden_size") && !root.has("n_embd")) {
    if (auto nested = root.object("text_config")) {
      return *nested;
    }
  }
  return root;
}

model describe(const config& root) {
  const config inner = language_model(root);
  const auto type = root.text({"model_type"});
  const auto inner_type = inner.text({"model_type"});
  const std::string advice =
      "; known are " + known_families() + ", or fill a varve::model by hand (varve/model.hpp)";
  if (!type && !inner_type) {
    root.fail("model_type", "missing" + advice);
  }
  describe_family fill = inner_type ? find_family(*inner_type) : nullptr;
  if (fill == nullptr && type) {
    fill = find_family(*type);
  }
  if (fill == nullptr && type.value_or("") == "phi3small") {
    root.fail(
        "model_type",
        "phi3small attends to blocks of keys, another set in each head, which varve has no formula for; "
        "fill a varve::model by hand (varve/model.hpp), whose windows come near it");
  }
  if (fill == nullptr) {
    root.fail("model_type",
              "\"" + std::string{input::cut(type.value_or(*inner_type), 64)} + "\" is unknown" + advice);
  }
  model out;
  out.name = type.value_or(inner_type.value_or(""));
  fill(inner, out);
  return out;
}

/// Totals stop at 2^63 − 1: a model whose FLOPs could get there has a field that is wrong.
void check_size(const config& from, const model& m) {
  constexpr std::int64_t most = std::int64_t{1} << 50U;
  if (count_parameters(m).total <= most) {
    return;
  }
  constexpr std::string_view fields[] = {"hidden_size",       "n_embd",           "vocab_size",
                                         "intermediate_size", "ffn_dim",          "ffn_hidden_size",
                                         "n_inner",           "head_dim",         "moe_intermediate_size",
                                         "num_experts",       "qk_rope_head_dim", "num_attention_heads"};
  std::string_view worst = "hidden_size";
  for (const std::string_view field : fields) {
    worst = from.size_or({field}, 0, 0) > from.size_or({worst}, 0, 0) ? field : worst;
  }
  from.fail(worst,
            std::to_string(from.size_or({worst}, 0, 0)) +
                " makes a model of more than 2^50 parameters, which varve does not count; correct it in "
                "the file");
}

/// hf_quant_config.json beside a config.json, if any.
std::string modelopt_path(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path beside = std::filesystem::path{path}.parent_path() / "hf_quant_config.json";
  return std::filesystem::is_regular_file(beside, ignored) ? beside.string() : std::string{};
}

void quantise(const config& root, const config& inner, const std::string& path, model& m) {
  for (const std::string_view field : {"quantization_config", "compression_config"}) {  // new and old
    for (const config& from : {root, inner}) {
      if (const auto said = from.object(field)) {
        quantisation how = read_quantisation(*said, m.type);
        how.nested = !root.has("hidden_size") && root.has("text_config");
        apply(*said, how, m);
        return;
      }
    }
  }
  const std::string beside = modelopt_path(path);
  if (beside.empty()) {
    return;
  }
  const document file{beside};
  const auto of_modelopt = config{beside, file.root()}.object("quantization");
  if (of_modelopt && of_modelopt->has("quant_algo")) {
    apply(*of_modelopt, read_modelopt(*of_modelopt, m.type), m);
  }
}

}  // namespace
}  // namespace model_file

model read_model(const std::string& path) {
  std::error_code ignored;
  const std::string file = std::filesystem::is_directory(path, ignored)
                               ? (std::filesystem::path{path} / "config.json").string()
                               : path;
  const model_file::document parsed{file};
  const model_file::config root{file, parsed.root()};
  model out = model_file::describe(root);
  const model_file::config inner = model_file::language_model(root);
  model_file::check_size(inner, out);
  out = unquantised(std::move(out), model_file::type_of(inner, root));
  model_file::quantise(root, inner, file, out);
  return out;
}

}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What quantization_config, and hf_quant_config.json beside a config.json, say of a model's weights.
#ifndef VARVE_FORMATS_MODEL_QUANTISATION_HPP
#define VARVE_FORMATS_MODEL_QUANTISATION_HPP

#include "formats/model/config.hpp"

#include <varve/model.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace model_file {

/// Modules that are stored in a format of their own; no targets: all linear layers.
struct quantised_group {
  weight_format format;
  std::vector<std::string> targets;  ///< as `excluded`
};

struct quantisation {
  weight_format format;
  std::vector<quantised_group> groups;  ///< in place of `format`, the first that names a module counts
  std::string_view grouped_by = "config_groups";  ///< the field that has these
  std::string method;
  dtype factors = dtype::bf16;  ///< what activations are multiplied as
  bool experts_only = false;
  bool nested = false;  ///< names of modules may say that the model is the language model of another
  bool head = false;    ///< the head is stored as other modules are
  std::vector<std::string> only;      ///< where there are any, what is below layers and none of them stays
  std::optional<dtype> cache;         ///< of keys and values, where it is another than activations have
  std::vector<std::string> excluded;  ///< modules, with * for anything, or re: and a regular expression
  std::string_view excluded_by = "ignore";  ///< the field that names these
};

/// Of a quantization_config. `type` is that of the model's activations. Throws varve::error.
quantisation read_quantisation(const config& from, dtype type);
/// Of the "quantization" of hf_quant_config.json (NVIDIA's ModelOpt).
quantisation read_modelopt(const config& from, dtype type);

/// Gives each matrix of the model the format that it is stored in. Routers stay as they are. `from`
/// is what `how` was read of: throws varve::error, which names the field, where that cannot be told.
void apply(const config& from, const quantisation& how, model& m);

}  // namespace model_file
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_MODEL_QUANTISATION_HPP

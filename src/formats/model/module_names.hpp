// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_MODEL_MODULE_NAMES_HPP
#define VARVE_FORMATS_MODEL_MODULE_NAMES_HPP

#include <string_view>

namespace varve {
inline namespace v0 {
namespace model_file {

/// Whether a module, "model.layers.3.self_attn.q_proj", is among those that a pattern names: whole steps of
/// its path, unless the pattern has a * at that end.
bool names_module(std::string_view pattern, std::string_view module);

}  // namespace model_file
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_MODEL_MODULE_NAMES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/operator_work.hpp"

namespace varve {
inline namespace v0 {
namespace pytorch {

work operator_work(std::string_view /*name*/, const operator_inputs& /*inputs*/) { return {}; }
bool needs_values(std::string_view /*name*/) noexcept { return false; }

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/operator_joins.hpp"

#include "formats/pytorch/number.hpp"
#include "formats/pytorch/operator_terms.hpp"

#include <algorithm>
#include <cstddef>

namespace varve {
inline namespace v0 {
namespace pytorch {

bool joins_tensors(std::string_view name, const operator_inputs& in) noexcept {
  return in[0].is_list && (name == "aten::cat" || name == "aten::_cat");
}

amount joined_element_size(std::string_view kernel) noexcept {
  constexpr std::string_view copies = "CatArrayBatchedCopy";  // of all variants the element comes first
  constexpr std::string_view opaque = "OpaqueType<";
  const std::size_t at = kernel.find(copies);
  const std::size_t open = at != std::string_view::npos ? kernel.find('<', at) : at;
  if (open == std::string_view::npos) {
    return amount::unknown();
  }
  const std::string_view type = kernel.substr(open + 1, kernel.find(',', open) - open - 1);
  const std::size_t sized = type.find(opaque);
  if (sized == std::string_view::npos) {
    operator_input in;
    in.type = type;
    return element_size(in);
  }
  constexpr std::uint64_t most = 16;  // a complex number of two doubles
  const std::string_view digits = type.substr(sized + opaque.size());
  const auto bytes = whole(digits.substr(0, digits.find_first_of("u>")), most);
  return bytes && *bytes > 0 ? amount{static_cast<std::int64_t>(*bytes)} : amount::unknown();
}

void tell_joins(trace& t, const std::vector<joining_kind>& kinds) {
  struct told {
    bool any = false;
    amount size;
  };
  std::vector<told> sizes(kinds.size());
  for (std::size_t a = 0; a < t.operator_of_activity.size() && !kinds.empty(); ++a) {
    const std::uint32_t op = t.operator_of_activity[a];
    const std::uint32_t kind = op < t.operators.size() ? t.operators.kind[op] : none;
    const auto found =
        std::lower_bound(kinds.begin(), kinds.end(), kind,
                         [](const joining_kind& j, std::uint32_t value) { return j.kind < value; });
    const amount size = found != kinds.end() && found->kind == kind
                            ? joined_element_size(t.strings[t.activities.name[a]])
                            : amount::unknown();
    if (size.known()) {
      told& so_far = sizes[static_cast<std::size_t>(found - kinds.begin())];
      const bool agrees = !so_far.any || (so_far.size.known() && so_far.size.value() == size.value());
      so_far = {true, agrees ? size : amount::unknown()};
    }
  }
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (const amount bytes = kinds[k].elements * sizes[k].size * 2; bytes.known()) {
      t.operator_kinds[kinds[k].kind].declared = {0, 0, 0, bytes.value()};
    }
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/own_format.hpp"

#include "formats/input/json_text.hpp"

namespace varve {
inline namespace v0 {
namespace pytorch {
namespace own {

std::string clean(std::string_view text) {
  std::string out = input::valid_utf8(text);
  out.resize(input::cut(out, longest_text).size());
  return out;
}

std::uint32_t label_paths::add(label_table& to, string_table& strings, std::uint32_t parent,
                               std::string_view name, std::int32_t index, range_kind kind) {
  const std::uint32_t around = (*this)[parent];
  path here{1, name.size()};
  if (around != none) {
    here = {paths_[around].depth + 1, paths_[around].length + name.size()};
    if (here.depth > deepest || here.length > longest) {
      ++cut_;
      ids_.push_back(around);
      return around;
    }
  }
  const std::uint32_t id = to.intern({around, strings.intern(name), index, kind});
  if (id == paths_.size()) {
    paths_.push_back(here);
  }
  ids_.push_back(id);
  return id;
}

}  // namespace own
}  // namespace pytorch
}  // namespace v0
}  // namespace varve

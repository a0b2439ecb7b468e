// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Texts that outlive the piece of the file that they stood in.
#ifndef VARVE_FORMATS_PYTORCH_KEPT_TEXTS_HPP
#define VARVE_FORMATS_PYTORCH_KEPT_TEXTS_HPP

#include <deque>
#include <string>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace pytorch {

class kept_texts {
 public:
  /// A copy that lives as long as this, or what this is moved to.
  std::string_view keep(std::string_view text) { return texts_.emplace_back(text); }

 private:
  std::deque<std::string> texts_;  // which never move
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_KEPT_TEXTS_HPP

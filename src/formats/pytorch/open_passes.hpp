// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_PYTORCH_OPEN_PASSES_HPP
#define VARVE_FORMATS_PYTORCH_OPEN_PASSES_HPP

#include <varve/trace.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// The pass that is open at an instant, where all that are open in a process are on one thread: the
/// innermost.
class open_passes {
 public:
  explicit open_passes(const trace& t);

  /// Whether there are passes at all.
  [[nodiscard]] bool any() const noexcept { return !processes_.empty(); }
  /// In trace::ranges, or none. A pass's end counts as inside.
  [[nodiscard]] std::uint32_t at(std::uint32_t process, time_ns when) const;

 private:
  struct stretch {
    time_ns begin;
    std::uint32_t pass;
  };
  std::unordered_map<std::uint32_t, std::vector<stretch>> processes_;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_OPEN_PASSES_HPP

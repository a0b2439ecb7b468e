// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Where products run, as the names of the kernels that they launched tell.
#ifndef VARVE_FORMATS_PYTORCH_OPERATOR_PIPES_HPP
#define VARVE_FORMATS_PYTORCH_OPERATOR_PIPES_HPP

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Kernels know better than types: the longest one in a call that tells counts, of those on tensor cores, in
/// FP16 or by dp4a first, since conversions and sums on the cores stand around products. Those in FP32 or
/// FP64 count where none of the call took longer.
class operator_pipes {
 public:
  /// Sets the pipes of the trace's kinds of operators: `mixed` where calls of one kind ran differently. To be
  /// called once activities are joined to operators. `t` must outlive this.
  explicit operator_pipes(trace& t);

  /// Of one call.
  [[nodiscard]] math_pipe of(std::uint32_t op) const;

 private:
  void find_longest(const std::vector<bool>& inside);
  [[nodiscard]] math_pipe told(std::uint32_t op) const;
  bool ask(std::uint32_t activity);
  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const;

  const trace& t_;
  std::vector<std::uint32_t> longest_;  // activity by operator, or none; empty where no call tells anything
  std::vector<math_pipe> by_name_;
  std::vector<bool> asked_;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_OPERATOR_PIPES_HPP

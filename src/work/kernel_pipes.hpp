// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Where the products of ranges and of replayed paths multiply, by the names of the kernels that ran.
#ifndef VARVE_WORK_KERNEL_PIPES_HPP
#define VARVE_WORK_KERNEL_PIPES_HPP

#include <varve/report.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace model_work {

/// A description knows the type of weights; what they are multiplied as, the kernels' names tell.
class kernel_pipes {
 public:
  explicit kernel_pipes(const trace& t);

  /// The pipe of nearly all time of the linear kernels in the range and what is inside of it whose names tell
  /// one; unknown where none tells, or several do.
  [[nodiscard]] math_pipe of_range(std::uint32_t range) const noexcept { return pipe_of(ranges_, range); }
  /// The same of the nodes of graphs whose path begins with this label path.
  [[nodiscard]] math_pipe of_label(std::uint32_t label) const noexcept { return pipe_of(labels_, label); }

 private:
  /// Time by pipe: rows of pipes_.size().
  using times = std::vector<double>;

  [[nodiscard]] math_pipe pipe_of(const times& of, std::uint32_t row) const noexcept;

  std::vector<math_pipe> pipes_;  ///< those that some name tells
  times ranges_;
  times labels_;
};

}  // namespace model_work
}  // namespace v0
}  // namespace varve

#endif  // VARVE_WORK_KERNEL_PIPES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_PYTORCH_AUTOGRAD_HPP
#define VARVE_FORMATS_PYTORCH_AUTOGRAD_HPP

#include "formats/pytorch/flows.hpp"
#include "formats/pytorch/operators.hpp"

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Backward operators and the forward ones that they came of. What it is made with must outlive it.
class autograd {
 public:
  autograd(const trace& t, const std::vector<operators::sequence>& sequences,
           const std::vector<flows::backward>& backwards);

  /// Whether there are backward operators at all.
  [[nodiscard]] bool any() const noexcept { return any_; }

  struct found {
    bool is_backward = false;
    std::uint32_t outermost = none;  ///< backward operator
    std::uint32_t forward = none;    ///< the operator that the innermost came of
  };
  /// Looks at `op` and at what is around it, as far as that lies around [begin, end].
  [[nodiscard]] found look(std::uint32_t op, time_ns begin, time_ns end) const;

 private:
  struct forward {
    std::uint64_t number;
    std::uint16_t thread;
    time_ns begin;
    std::uint32_t index;
  };

  [[nodiscard]] const operators::sequence* sequence_of(std::uint32_t op) const;
  [[nodiscard]] std::uint32_t forward_of(const operators::sequence& s) const;
  [[nodiscard]] std::uint32_t forward_by_flow(std::uint32_t op) const;

  const trace& trace_;
  const std::vector<operators::sequence>& sequences_;
  const std::vector<flows::backward>& backwards_;
  std::vector<forward> forward_;
  std::vector<bool> evaluates_;  // by kind of operator: it runs a node of the backward graph
  bool any_ = false;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_AUTOGRAD_HPP

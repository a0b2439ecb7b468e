// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_PYTORCH_FLOWS_HPP
#define VARVE_FORMATS_PYTORCH_FLOWS_HPP

#include "formats/pytorch/unlaunched.hpp"

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Arrows between events, each a start and an end with one id. Of calls and what they launched only those are
/// kept that say more than "correlation" does.
class flows {
 public:
  /// From a host's thread.
  struct start {
    std::uint64_t id = 0;
    time_ns at = 0;
    std::uint16_t thread = narrow_none;
  };
  using end_on_host = start;
  struct end_on_device {
    std::uint64_t id = 0;
    time_ns at = 0;
    std::uint64_t stream = 0;
    std::uint32_t device = 0;
  };
  /// A backward operator and the one that it came of, both in trace::operators.
  struct backward {
    std::uint32_t op = none;
    std::uint32_t forward = none;
  };

  /// False when no more are kept.
  [[nodiscard]] bool add_launch(const start& s) { return add(launch_starts_, s); }
  [[nodiscard]] bool add_launch_end(const end_on_device& e) { return add(launch_ends_, e); }
  [[nodiscard]] bool add_forward(const start& s) { return add(forward_starts_, s); }
  [[nodiscard]] bool add_backward(const end_on_host& e) { return add(backward_ends_, e); }
  /// A launch ends at this activity, whose correlation is its id.
  void add_launch_end(std::size_t activity) {
    ends_at_.resize(activity + 1);
    ends_at_[activity] = true;
  }

  /// Once, before what follows: sorts, and moves all times.
  void settle(time_ns shift);
  [[nodiscard]] bool any_launch() const noexcept { return !launch_starts_.empty(); }
  /// Where those of `activities` were launched that a flow leads to. `correlations` by activity.
  [[nodiscard]] std::vector<launch_point> launches(const trace& t,
                                                   const std::vector<std::uint32_t>& activities,
                                                   const std::vector<std::uint64_t>& correlations) const;
  /// By operator, each once.
  [[nodiscard]] std::vector<backward> backwards(const trace& t) const;

 private:
  /// Of the flow that leads to an activity.
  [[nodiscard]] std::optional<std::uint64_t> id_of(const trace& t, std::uint32_t activity,
                                                   std::uint64_t correlation) const;

  static constexpr std::size_t most = std::size_t{1} << 20U;

  template <class T>
  static bool add(std::vector<T>& to, const T& what) {
    const bool fits = to.size() < most;
    if (fits) {
      to.push_back(what);
    }
    return fits;
  }

  std::vector<start> launch_starts_;
  std::vector<end_on_device> launch_ends_;
  std::vector<bool> ends_at_;  // by activity
  std::vector<start> forward_starts_;
  std::vector<end_on_host> backward_ends_;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_FLOWS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the counter says of itself.
#include "counters/ranges.hpp"
#include "cupti/library.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace varve::counters {

std::vector<device_info> range_counter::devices() const {
  const cuda::driver* const d = left_ ? nullptr : cuda::find_driver(false);
  return d != nullptr ? cuda::devices(*d) : std::vector<device_info>{};
}

std::vector<loss> range_counter::losses() const {
  std::vector<loss> out;
  if (left_) {
    return out;
  }
  const std::lock_guard lock{mutex_};
  const auto lose = [&](std::uint64_t count, const std::string& what) {
    if (count != 0) {
      out.push_back({what, "counters", count});
    }
  };
  lose(no_driver_,
       "passes not counted: the process has no CUDA driver: it uses no GPU, or none is in reach (see "
       "nvidia-smi)");
  lose(no_context_,
       "passes not counted: their thread had no CUDA context when they began; initialise CUDA before, on "
       "the thread that marks them");
  lose(other_context_, "passes not counted: in another CUDA context than the first one's");
  lose(failed_passes_, "passes not counted: " + failure_);
  lose(
      captured_,
      "passes not counted: a graph was captured, in them or beside them; count passes that replay it, or run "
      "eagerly");
  lose(cut_, "passes not counted: under way when the session stopped, or their thread ended");
  lose(busy_, "ranges not counted: of other threads while a pass was being counted");
  lose(beyond_,
       "ranges not counted: more in a pass than counter_options::ranges, or than CUPTI has room for");
  lose(dropped_, "ranges not counted: refused or dropped by CUPTI");
  lose(not_kept_, "ranges whose counts were not kept: no memory");
  if (profiler_ != nullptr && !running_) {  // else their turn may be to come
    using key = std::tuple<count_kind, math_pipe, std::uint8_t>;
    std::map<key, bool> counted;
    for (std::size_t t = 0; t < taken_.size(); ++t) {
      for (const quantity& q : profiler_->turns()[t].counts) {
        bool& once = counted[{q.what, q.pipe, q.part}];
        once = once || taken_[t] != 0;
      }
    }
    const auto missing =
        std::count_if(counted.begin(), counted.end(), [](const auto& entry) { return !entry.second; });
    lose(static_cast<std::uint64_t>(missing),
         "quantities not counted: there were fewer passes than turns to count them in (" +
             std::to_string(taken_.size()) + ")");
  }
  return out;
}

collector_status range_counter::status() const {
  collector_status out;
  out.name = "counters";
  if (left_) {
    out.state = collector_state::unavailable;
    out.detail =
        "a child forked from a process that counted: the GPU's counters stay with its parent; start the "
        "program anew (exec) to count";
    return out;
  }
  const std::lock_guard lock{mutex_};
  out.version = version_ != 0 ? cupti::version_text(version_) : "";
  out.state = !error_.empty() ? collector_state::unavailable
              : running_      ? collector_state::running
                              : collector_state::stopped;
  out.detail = !error_.empty()        ? "nothing is counted: " + error_
               : profiler_ == nullptr ? "waits for a pass on a thread with a CUDA context"
                                      : std::to_string(counted_) + " ranges counted in " +
                                            std::to_string(passes_) + " passes on a " + profiler_->chip() +
                                            ", which take turns at " + std::to_string(taken_.size()) +
                                            " sets of metrics; times of a run that counts say nothing";
  return out;
}

}  // namespace varve::counters

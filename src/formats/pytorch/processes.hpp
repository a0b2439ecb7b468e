// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A file may hold several processes, each of which counted correlations from 1: SGLang merges those of all
// ranks into one and writes the rank before each pid, "[TP00] 100".
#ifndef VARVE_FORMATS_PYTORCH_PROCESSES_HPP
#define VARVE_FORMATS_PYTORCH_PROCESSES_HPP

#include "formats/pytorch/kept_texts.hpp"
#include "formats/pytorch/losses.hpp"

#include <varve/trace.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

class processes {
 public:
  /// What the JSON value `pid` is told apart by: a number is itself, a text a number above those.
  std::optional<std::uint32_t> identity(std::string_view pid);
  /// The rank that stands before a pid, as a number from 1 on in order of appearance; 0 where there is none.
  std::uint32_t rank(std::string_view pid);

  /// The raw text of an identity; empty for a number.
  [[nodiscard]] std::string_view text(std::uint32_t process) const noexcept {
    return is_text(process) ? texts_[process - texts_from].text : std::string_view{};
  }
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t process) const noexcept {
    return is_text(process) ? texts_[process - texts_from].rank : 0;
  }
  [[nodiscard]] std::uint32_t ranks() const noexcept { return static_cast<std::uint32_t>(ranks_.size()); }

 private:
  static constexpr std::uint32_t texts_from = 1U << 31U;
  struct named {
    std::string_view text;
    std::uint32_t rank = 0;
  };

  [[nodiscard]] bool is_text(std::uint32_t process) const noexcept {
    return process >= texts_from && process - texts_from < texts_.size();
  }
  std::uint32_t find(std::string_view pid);

  kept_texts kept_;
  std::unordered_map<std::string_view, std::uint32_t> known_;  // index in texts_
  std::unordered_map<std::string_view, std::uint32_t> ranks_;
  std::vector<named> texts_;
};

/// Which process, as a number from 1 on, a thread is of, and what ran on a stream; 0: not known.
struct process_numbers {
  std::vector<std::uint32_t> of_thread;
  std::vector<std::uint32_t> of_stream;
};

/// Writes correlations into `t`, in 32 bits, so that equal ones are of one process. Where several made calls
/// with one correlation, an activity of an unknown process belongs to the process whose calls, as far as
/// their correlations are its own, launched most of what ran on the device; else to none, which is counted.
/// Returns each activity's process where there are several, else nothing.
[[nodiscard]] std::vector<std::uint32_t> write_correlations(trace& t,
                                                            const std::vector<std::uint64_t>& of_calls,
                                                            const std::vector<std::uint64_t>& of_activities,
                                                            const process_numbers& processes,
                                                            loss_counts& losses);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_PROCESSES_HPP

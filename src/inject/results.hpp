// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The files that a program leaves in the run's folder (variables.hpp). Each is whole or not there.
#ifndef VARVE_INJECT_RESULTS_HPP
#define VARVE_INJECT_RESULTS_HPP

#include "inject/settings.hpp"

#include <varve/report.hpp>
#include <varve/trace.hpp>

#include <optional>
#include <string>

namespace varve::inject {

enum class stage { snapshot, last };

/// Used by one thread at a time.
class results {
 public:
  /// Claims the first free number of this process, which may have been other programs before. Throws error.
  explicit results(const settings& asked);

  /// Writes the report of `t`, and `t` itself where that is asked for, or where there is no memory for the
  /// report; a model tells its work before. What that replaces is removed. False, and said once, where
  /// nothing could be written.
  bool write(trace&& t, stage at) noexcept;

 private:
  [[nodiscard]] std::string name_of(stage at, const char* suffix) const;
  /// Whether that worked; sets `disk` where a file could not be written.
  bool write_report(trace& t, stage at, bool& disk) noexcept;
  bool write_trace(const trace& t, stage at) noexcept;
  void remove(stage at, const char* suffix) noexcept;
  void complain(const char* what) noexcept;
  void mark_failed() const noexcept;

  std::string base_;  ///< FOLDER/PID.N
  analyze_options analysis_;
  std::optional<model_description> description_;
  bool traced_;
  bool complained_ = false;
  bool told_memory_ = false;
};

}  // namespace varve::inject

#endif  // VARVE_INJECT_RESULTS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The report of a session that runs for as long as the engine does, in bounded memory.
//
//     varve::session session;
//     varve::running_report running{session};
//     ... serve; running.so_far() whenever somebody asks ...
//     const varve::report report = running.stop();
#ifndef VARVE_RUNNING_REPORT_HPP
#define VARVE_RUNNING_REPORT_HPP

#include <varve/report.hpp>
#include <varve/session.hpp>

#include <memory>

namespace varve {
inline namespace v0 {

struct running_options {
  /// Between two takes of what is finished. What a period and some five seconds record should fit into a
  /// quarter of session_options::trace_memory, since records of devices come late. 0: only so_far() and
  /// stop() take.
  time_ns period = 1'000'000'000;
  analyze_options analysis{};  ///< of each trace that is taken; histograms are always made
};

/// Takes what the session has finished, now and then and on a thread of its own, analyzes it, and adds the
/// reports up (session::take(), add_report()): records are not kept. Mark passes, not the loop around them: a
/// range that stays open holds up all that is in it. The session outlives it and is not moved meanwhile;
/// nobody else takes from it. In a forked child it does nothing, as the session.
class VARVE_API running_report {
 public:
  /// Where the system has no thread for it, quality says so, and so_far() and stop() take all the same.
  explicit running_report(session& of, const running_options& options = {}) noexcept;
  running_report(const running_report&) = delete;
  running_report& operator=(const running_report&) = delete;
  /// Ends its thread; the session goes on.
  ~running_report();

  /// All that was finished by now. Thread safe; waits for a take that is under way. Throws only
  /// std::bad_alloc.
  [[nodiscard]] report so_far();
  /// Stops the session: all that it recorded. Then so_far() goes on to give that. Likewise.
  [[nodiscard]] report stop();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace v0
}  // namespace varve

#endif  // VARVE_RUNNING_REPORT_HPP

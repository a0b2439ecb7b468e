// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The life of the injected session: from the first NVTX call or CUDA's initialisation to the end of the
// process, whatever that is.
#ifndef VARVE_INJECT_LIFE_HPP
#define VARVE_INJECT_LIFE_HPP

#include <atomic>

namespace varve::inject {

enum class life : int {
  none,      ///< so far, or in a child that was forked
  starting,  ///< by some thread
  running,
  ending,
  over  ///< or there is nothing to record here
};
extern std::atomic<life> current_life;

/// Starts the session, unless that was done in this process.
void start_session() noexcept;
inline void ensure_session() noexcept {
  if (__builtin_expect(current_life.load(std::memory_order_relaxed) == life::none, 0)) {
    start_session();
  }
}

/// Ends the session at the process's exit, before what registered its exit functions earlier. May be called
/// several times.
void end_at_exit() noexcept;

enum class why : unsigned {
  perhaps = 1,  ///< the process may end, or become another program; if not, recording goes on
  crash,        ///< it ends, in whatever state it is
  end           ///< it ends
};
/// What was recorded is written by the session's own thread, for which this waits, some seconds at most.
/// Async-signal-safe. Does nothing on that thread, in a forked child, and without a session.
void write_now(why reason) noexcept;

}  // namespace varve::inject

#endif  // VARVE_INJECT_LIFE_HPP

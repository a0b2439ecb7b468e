// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_INJECT_EXITS_HPP
#define VARVE_INJECT_EXITS_HPP

namespace varve::inject {

/// Calls of _exit(), _Exit() and the exec functions by the modules that are loaded now write what was
/// recorded first: no exit function runs in them. Costs little where no module came since the last time. What
/// later modules and system calls do so is left to snapshots.
void watch_exits() noexcept;

/// No thread is at that, or holds the loader's lock for it, while the process is forked.
void lock_exits() noexcept;
void unlock_exits() noexcept;

}  // namespace varve::inject

#endif  // VARVE_INJECT_EXITS_HPP

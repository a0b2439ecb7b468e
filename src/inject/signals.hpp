// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_INJECT_SIGNALS_HPP
#define VARVE_INJECT_SIGNALS_HPP

namespace varve::inject {

/// Before a signal ends the process, what was recorded is written; then what was there before takes its
/// course. Handlers that the engine installs later take ours' place.
void watch_signals() noexcept;

}  // namespace varve::inject

#endif  // VARVE_INJECT_SIGNALS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_INJECT_SIGNAL_STACK_HPP
#define VARVE_INJECT_SIGNAL_STACK_HPP

namespace varve::inject {

/// Gives this thread a stack for its signal handlers, until it ends, so that they can run when its own is
/// full. One that the engine has set, or sets later, stays.
void give_signal_stack() noexcept;

}  // namespace varve::inject

#endif  // VARVE_INJECT_SIGNAL_STACK_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What every function of the stand-in passes through: configuration, faults, hooks, the log of calls, the
// clock.
#ifndef VARVE_TESTS_STANDIN_CUPTI_ENTRY_HPP
#define VARVE_TESTS_STANDIN_CUPTI_ENTRY_HPP

#include "standin_cupti/control.hpp"

#include <initializer_list>
#include <string>

namespace standin {

/// Valid for the life of the process, whatever changes later.
const config& settings();

std::uint64_t now();

/// Notes what a client must not do.
void misuse(std::string what);

enum class needs { nothing, driver };
enum class logging { full, counted, none };

/// Runs the hook and decides whether the call is to fail.
cupti::result arrive(const char* function, std::initializer_list<std::uint64_t> arguments, needs what);
void leave(const char* function, std::initializer_list<std::uint64_t> arguments, cupti::result result,
           logging how);

/// Numbers among the arguments; the first is what fault::argument is compared with.
template <class Body>
cupti::result enter(const char* function, std::initializer_list<std::uint64_t> arguments, needs what,
                    logging how, Body&& body) {
  cupti::result result = arrive(function, arguments, what);
  if (result == cupti::result::success) {
    result = body();
  }
  if (how != logging::none) {
    leave(function, arguments, result, how);
  }
  return result;
}

void reset_entry(const config& settings);

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_ENTRY_HPP

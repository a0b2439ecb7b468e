// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Plays a tape to whoever subscribes to the CUPTI that this library passes for: makes the callbacks, in
// their order and on as many threads, gives the buffers back with the bytes that were in them, and answers
// for versions, names, ids and record boundaries with what the tape says. Nothing in here knows CUDA.
//
// Collectors learn version and names of a libcupti once in a process: one tape in a process is the rule.
#ifndef VARVE_TESTS_TAPE_PLAYER_HPP
#define VARVE_TESTS_TAPE_PLAYER_HPP

#include "tape/prepare.hpp"

#include <string>
#include <vector>

#define VARVE_TAPE_EXPORT __attribute__((visibility("default")))

namespace varve_tape {

/// The program that the tape is of: called on the tape's threads.
class VARVE_TAPE_EXPORT program {
 public:
  program() = default;
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  virtual ~program();
  virtual void arms() = 0;
  virtual void disarms() = 0;
  virtual void starts(const start& how) = 0;
  /// What comes up to the next start or arming happens within the flush that the subscriber makes now.
  virtual void stops() = 0;
  virtual void begins(const begin& range) = 0;
  virtual void ends() = 0;
};

/// The tape's first thread is the caller's. Returns what the subscriber did that it must not do, or left
/// undone, in words: none is right. One tape at a time.
VARVE_TAPE_EXPORT std::vector<std::string> play(const prepared& p, program& engine);

/// What this library's file is called, for who loads it.
inline constexpr const char* library_name = "libvarve_tape_cupti.so";

}  // namespace varve_tape

#endif  // VARVE_TESTS_TAPE_PLAYER_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// From a tape as it was read to one that can be played: what was left to be worked out is, and what would
// lead a collector astray in a way that no libcupti does is refused.
#ifndef VARVE_TESTS_TAPE_PREPARE_HPP
#define VARVE_TESTS_TAPE_PREPARE_HPP

#include "gpu/tape/tape.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace varve_tape {

using call_key = std::pair<bool, std::uint32_t>;  ///< of the runtime or not, and the callback id

struct prepared {
  tape t;  ///< calls have ids, handles too where they are by hand, records bytes
  std::map<call_key, std::string> names;       ///< of all calls in it
  std::map<std::uint32_t, std::size_t> sizes;  ///< of records, by their kind
};

/// Throws std::runtime_error, with the line where there is one.
[[nodiscard]] prepared prepare(tape t);

}  // namespace varve_tape

#endif  // VARVE_TESTS_TAPE_PREPARE_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_TESTS_GPU_TAPE_CASES_HPP
#define VARVE_TESTS_GPU_TAPE_CASES_HPP

#include <functional>
#include <string>
#include <vector>

#include "gpu/tape/recorder.hpp"

namespace varve_tape {

struct tape_case {
  std::string name;
  std::function<void(recorder&)> record;  ///< starts and stops the recorder itself
  listener_options options;
  varve_gpu::scenario needs;  ///< what of the machine
};

/// Every scenario, and what only a subscriber can do.
[[nodiscard]] std::vector<tape_case> cases();

}  // namespace varve_tape

#endif  // VARVE_TESTS_GPU_TAPE_CASES_HPP

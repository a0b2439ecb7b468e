// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How long the parameters are of the calls whose handles a collector follows.
#ifndef VARVE_TESTS_GPU_TAPE_CALL_PARAMS_HPP
#define VARVE_TESTS_GPU_TAPE_CALL_PARAMS_HPP

#include <cupti.h>

#include <cstddef>

namespace varve_tape {

/// 0 for all other calls.
[[nodiscard]] std::size_t params_size(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept;

}  // namespace varve_tape

#endif  // VARVE_TESTS_GPU_TAPE_CALL_PARAMS_HPP

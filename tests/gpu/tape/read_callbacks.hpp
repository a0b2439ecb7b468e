// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What CUPTI hands to a callback, as lines of a tape.
#ifndef VARVE_TESTS_GPU_TAPE_READ_CALLBACKS_HPP
#define VARVE_TESTS_GPU_TAPE_READ_CALLBACKS_HPP

#include <cupti.h>

#include <cstddef>
#include <cstdint>

#include "gpu/tape/tape.hpp"

namespace varve_tape {

/// Whether resource_of() asks CUPTI for the ids of handles, as it does at first: should that crash, a tape
/// without them is left. Before any callback.
void ask_for_ids(bool ask);

/// `data` may be null.
[[nodiscard]] resource resource_of(CUpti_CallbackId id, const CUpti_ResourceData* data);
[[nodiscard]] buffer buffer_of(CUcontext context, std::uint32_t stream, std::uint8_t* memory,
                               std::size_t valid);

}  // namespace varve_tape

#endif  // VARVE_TESTS_GPU_TAPE_READ_CALLBACKS_HPP

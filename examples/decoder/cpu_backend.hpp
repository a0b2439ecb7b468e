// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A device made of threads: each stream is a worker with a queue, graphs are captured lists of work. It has
// no CUPTI, so it tells varve itself what it launches and what has run (varve/collector.hpp).
#ifndef DECODER_CPU_BACKEND_HPP
#define DECODER_CPU_BACKEND_HPP

#include "backend.hpp"

#include <memory>

namespace decoder {

/// A back end on the host's cores, in float. It lives longer than what it makes.
std::unique_ptr<backend> make_cpu_backend();

}  // namespace decoder

#endif  // DECODER_CPU_BACKEND_HPP

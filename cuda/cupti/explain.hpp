// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CUDA_CUPTI_EXPLAIN_HPP
#define VARVE_CUDA_CUPTI_EXPLAIN_HPP

#include "cupti/abi.hpp"

#include <string>

namespace varve::cupti {

/// Cause and next step of an error, for a status that a user reads; codes that are not known get by with
/// their number. `call` is the function that failed, "cuptiSubscribe". Empty for success.
[[nodiscard]] std::string explain(result code, const char* call);

}  // namespace varve::cupti

#endif  // VARVE_CUDA_CUPTI_EXPLAIN_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a CUDA call does, by its name. The loaded library names its callbacks itself, so that the calls of
// CUDA versions newer than this source are classified too.
#ifndef VARVE_CUDA_CUPTI_CLASSIFY_HPP
#define VARVE_CUDA_CUPTI_CLASSIFY_HPP

#include <varve/trace.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace varve::cupti {

/// The calls that are ignored, without prefix, suffixes and version; with a '*' at the end, all of a family.
[[nodiscard]] std::span<const std::string_view> ignored_calls() noexcept;

/// How many of the kinds, ignoring being one, a name fits: one, but for names that varve does not know.
[[nodiscard]] int kinds_that_fit(std::string_view name) noexcept;

/// Of a function of the runtime or driver API, as cuptiGetCallbackName names it ("cudaLaunchKernel_v7000",
/// "cuLaunchKernel_ptsz"). `other` where it is ignored: it neither does nor delays work on a device, as far
/// as a report is concerned. Nothing where varve does not know the call.
[[nodiscard]] std::optional<call_kind> classify(std::string_view name) noexcept;

}  // namespace varve::cupti

#endif  // VARVE_CUDA_CUPTI_CLASSIFY_HPP

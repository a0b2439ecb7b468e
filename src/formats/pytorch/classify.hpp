// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What an event is by its category, and what a call does by its name.
#ifndef VARVE_FORMATS_PYTORCH_CLASSIFY_HPP
#define VARVE_FORMATS_PYTORCH_CLASSIFY_HPP

#include <varve/trace.hpp>

#include <cstdint>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace pytorch {

enum class category : std::uint8_t {
  unread,
  kernel,
  copy,
  set,
  call,
  annotation,
  operation,          ///< of the framework: "aten::mm"
  python,             ///< a function's frame; of these only the calls of modules are read
  overhead,           ///< of the profiler
  device_annotation,  ///< the span on a device of what was launched in an annotation
  instant,            ///< of the host; of these only memory is read
  launch_flow,        ///< from a call to what it launched
  backward_flow       ///< from an operator to the one of the backward pass that came of it
};

/// Of a `cat` in any spelling that profilers have used, in small letters or capitals.
[[nodiscard]] category category_of(std::string_view cat) noexcept;

/// Of a CUDA or HIP function, runtime or driver, with or without a version's suffix.
[[nodiscard]] call_kind kind_of_call(std::string_view name) noexcept;

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_CLASSIFY_HPP

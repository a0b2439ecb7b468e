// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces of TensorFlow, XLA and JAX: events have no category; what one is, the names of its process and
// thread say, which come before it.
#ifndef VARVE_FORMATS_PYTORCH_ROWS_HPP
#define VARVE_FORMATS_PYTORCH_ROWS_HPP

#include "formats/pytorch/event.hpp"

#include <varve/trace.hpp>

#include <string_view>

namespace varve {
inline namespace v0 {
namespace pytorch {

enum class row_kind { unknown, stream, host };

struct row {
  row_kind kind = row_kind::unknown;
  std::string_view device;  // digits
  std::string_view stream;  // digits
};

/// "/device:GPU:0" and "Stream #13(Kernel,MemcpyH2D)" are stream 13 of device 0; "/host:CPU" is the host. The
/// other rows of a device repeat its kernels by module, operator or step.
[[nodiscard]] row read_row(std::string_view process, std::string_view thread) noexcept;

/// What an event in a stream's row is, by its name as a raw token.
[[nodiscard]] category category_in_stream(std::string_view name) noexcept;

/// What a call does that bears the name of what it launched or copied.
[[nodiscard]] call_kind kind_of_named_call(std::string_view name) noexcept;

/// "regs:32 … grid:1,2,3 block:256,1,1 …" or "… size:1024 …" into the event.
void read_details(event& e) noexcept;

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_ROWS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a kernel tells the host that it could not do: one number in memory that both reach, 0 while all is
// well. Kernels check every index that they read from memory and leave the work of a wrong one out.
#ifndef DECODER_CUDA_FAULT_HPP
#define DECODER_CUDA_FAULT_HPP

#include <cstdint>
#include <string>

namespace decoder::cuda {

enum class fault_kind : std::uint32_t { none, token, row, position, sequence };

/// In one number, so that two threads that write at once leave one of both.
constexpr std::uint64_t packed_fault(fault_kind kind, std::int32_t value) {
  return std::uint64_t{static_cast<std::uint32_t>(kind)} << 32U | static_cast<std::uint32_t>(value);
}

/// "token 61 is outside its table"
inline std::string describe_fault(std::uint64_t fault) {
  const auto value = std::to_string(static_cast<std::int32_t>(fault & 0xffffffffU));
  switch (static_cast<fault_kind>(fault >> 32U)) {
    case fault_kind::none:
      return "";
    case fault_kind::token:
      return "token " + value + " is outside its table";
    case fault_kind::row:
      return "row " + value + " is outside its matrix";
    case fault_kind::position:
      return "position " + value + " is outside the cache of its sequence";
    case fault_kind::sequence:
      return "sequence " + value + " is outside the cache";
  }
  return "a kernel reports what this program does not know";
}

}  // namespace decoder::cuda

#endif  // DECODER_CUDA_FAULT_HPP

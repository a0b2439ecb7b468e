// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a capture of a graph was made for.
#ifndef VARVE_FORMATS_PYTORCH_CAPTURE_SIZE_HPP
#define VARVE_FORMATS_PYTORCH_CAPTURE_SIZE_HPP

#include <cstdint>
#include <string>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// What the size of a capture counts.
enum class capture_unit : std::uint8_t { unknown, tokens, sequences };

/// What a capture was made for: "capture_64_FULL" is 64 tokens, mode "FULL".
struct capture_size {
  std::int64_t size = 0;
  capture_unit unit = capture_unit::unknown;
  std::string mode;
};
/// Of an annotation around a capture; unit unknown where it is none.
[[nodiscard]] capture_size read_capture_mark(std::string_view text);
/// Of a file: "DecodeRunner_bs_8_rank0.json.gz" is 8 sequences.
[[nodiscard]] capture_size read_capture_name(std::string_view file);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_CAPTURE_SIZE_HPP

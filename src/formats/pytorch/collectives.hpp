// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What collectives were called for: from their kernels' arguments, else from what stands around their launch.
#ifndef VARVE_FORMATS_PYTORCH_COLLECTIVES_HPP
#define VARVE_FORMATS_PYTORCH_COLLECTIVES_HPP

#include "formats/pytorch/event.hpp"
#include "formats/pytorch/losses.hpp"

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Bytes of one element, of a type as PyTorch spells it in inputs ("c10::BFloat16", "unsigned char") or alone
/// ("BFloat16", "Byte"); 0 when it is not known.
[[nodiscard]] std::int64_t element_bytes(std::string_view type) noexcept;

/// The inputs' bytes, one by one, from their recorded shapes, "[[8, 64], [], [[2, 2], [3]]]", and types,
/// "[\"float\", \"Scalar\", \"TensorList\"]"; −1 where they are not known. At most the first `most`.
[[nodiscard]] std::vector<std::int64_t> input_bytes(std::string_view shapes, std::string_view types,
                                                    std::size_t most);

class collectives {
 public:
  /// The kernel that was last added to the trace. `name` is its own, `called` that of the collective or none,
  /// both in `t.strings`.
  void add_kernel(const trace& t, const event& e, std::uint32_t name, std::uint32_t called,
                  loss_counts& losses);
  /// An operator that says which collective it is.
  void add_operator(const event& e, std::uint32_t called, std::uint16_t thread, time_ns begin, time_ns end,
                    loss_counts& losses);

  /// Moves the times of operators.
  void shift(time_ns by);
  /// Fills `t.collectives` once its calls and operators are there.
  void write(trace& t);

 private:
  struct host_call {
    time_ns begin = 0;
    time_ns end = 0;
    collective about;
    std::uint16_t thread = narrow_none;
  };

  /// What a kind of operator tells of the collective that is launched in it.
  struct telling {
    bool named = false;  ///< which it is
    std::int64_t bytes_in = -1;
    std::int64_t bytes_out = -1;
  };

  static collective read(const event& e, std::uint32_t called, loss_counts& losses);
  const telling& tells(const trace& t, std::uint32_t kind);
  void complete(const trace& t, std::uint32_t call, collective& c);

  std::vector<collective> all_;
  std::vector<host_call> operators_;
  std::unordered_map<std::uint32_t, telling> kinds_;
  std::vector<std::uint8_t> is_collective_;  // by a kernel's name: 0 not known yet, 1 no, 2 yes
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_COLLECTIVES_HPP

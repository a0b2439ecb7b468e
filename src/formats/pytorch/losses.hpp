// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a trace says that cannot be taken as it is, and how often.
#ifndef VARVE_FORMATS_PYTORCH_LOSSES_HPP
#define VARVE_FORMATS_PYTORCH_LOSSES_HPP

#include <varve/trace.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace pytorch {

enum class lost : std::uint8_t {
  not_an_object,
  incomplete_phase,
  invalid_time,
  time_out_of_range,
  negative_duration,
  no_stream,
  no_thread,
  many_threads,
  many_streams,
  no_name,
  invalid_correlation,
  shared_correlation,
  invalid_shape,
  invalid_bytes,
  invalid_node,
  invalid_message,
  invalid_arguments,
  repeated_key,
  long_name,
  damaged_name,
  bad_utf8,
  bare_control,
  trailing_comma,
  unknown_row,
  deep_annotation,
  crossing_annotation,
  unknown_vllm_pass,
  unknown_sglang_pass,
  unknown_atom_pass,
  slow_rule,
  invalid_base_time,
  invalid_device,
  invalid_inputs,
  unfit_inputs,
  invalid_memory,
  absurd_work,
  untold_work,
  invalid_flow,
  many_flows,
  own_late,
  own_version,
  own_value,
  own_reference,
  own_order,
  count_
};

class loss_counts {
 public:
  void add(lost what, std::uint64_t count = 1) noexcept { counts_[static_cast<std::size_t>(what)] += count; }
  [[nodiscard]] std::uint64_t operator[](lost what) const noexcept {
    return counts_[static_cast<std::size_t>(what)];
  }
  /// Into trace::losses, those that are not zero.
  void write(trace& to, std::string_view where) const;

 private:
  std::array<std::uint64_t, static_cast<std::size_t>(lost::count_)> counts_{};
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_LOSSES_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What varve's own traces say beside what profilers do: a member "varve" of the root, before the events, and
// a member "varve" of each event's "args". The writer and the reader share this.
#ifndef VARVE_FORMATS_PYTORCH_OWN_FORMAT_HPP
#define VARVE_FORMATS_PYTORCH_OWN_FORMAT_HPP

#include <varve/trace.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {
namespace own {

inline constexpr std::uint64_t version = 1;

// Names of enumerators, in their order.
inline constexpr std::array<std::string_view, 4> range_kinds{"phase", "layer", "op", "request"};
inline constexpr std::array<std::string_view, 10> call_kinds{
    "launch",   "graph launch", "copy",  "set",           "synchronise",
    "allocate", "graph build",  "event", "host function", "other"};
inline constexpr std::array<std::string_view, 5> activity_kinds{"kernel", "copy", "set", "graph", "other"};
inline constexpr std::array<std::string_view, 4> operator_sources{"operation", "annotation", "overhead",
                                                                  "device annotation"};
inline constexpr std::array<std::string_view, 4> label_sources{"captured", "capture trace", "inferred",
                                                               "position"};
inline constexpr std::array<std::string_view, 3> collector_states{"running", "stopped", "unavailable"};
inline constexpr std::array<std::string_view, gauge_kinds> gauge_names{
    "SM clock",    "memory clock", "clock limits", "temperature",        "power",
    "memory used", "minor faults", "major faults", "voluntary switches", "involuntary switches"};
inline constexpr std::array<std::string_view, count_kinds> count_names{"DRAM read", "DRAM written",
                                                                       "operations"};
inline constexpr std::array<std::string_view, 3> pass_inferences{"not inferred", "module calls",
                                                                 "repeated annotations"};
inline constexpr std::array<std::string_view, 4> work_sources{"counters", "engine", "shapes", "description"};
inline constexpr std::array<std::string_view, math_pipes> pipes{
    "unknown",    "mixed",       "fp64",        "fp64 tensor",      "fp32",
    "fp16",       "tf32 tensor", "fp16 tensor", "fp16 tensor fp16", "bf16 tensor",
    "fp8 tensor", "fp4 tensor",  "int8 tensor", "int8 dp4a"};
/// In the order of varve_attribute.
inline constexpr std::array<std::string_view, 11> attributes{
    "prefill tokens", "prefill sequences", "prefill context tokens", "prefill query context",
    "decode tokens",  "decode sequences",  "decode context tokens",  "decode query context",
    "logit tokens",   "emitted tokens",    "accepted tokens"};

/// The name of an enumerator; the first one's where it is none.
template <class Enum, std::size_t Size>
[[nodiscard]] std::string_view name_of(Enum value, const std::array<std::string_view, Size>& names) noexcept {
  const auto i = static_cast<std::size_t>(value);
  return names[i < Size ? i : 0];
}

/// Times are cut to ±most, so that the difference of any two fits.
inline constexpr time_ns most = (time_ns{1} << 62U) - 1;

[[nodiscard]] constexpr time_ns clamp(time_ns t) noexcept { return t < -most ? -most : t > most ? most : t; }

inline constexpr std::size_t longest_text = std::size_t{64} << 10U;  ///< bytes

/// `text` as the file has it: bytes that are no UTF-8 replaced by U+FFFD, then cut to longest_text bytes.
[[nodiscard]] std::string clean(std::string_view text);

/// Label paths that a report can write out: without bounds a small file could ask for any amount of memory.
class label_paths {
 public:
  static constexpr std::size_t deepest = 128;
  static constexpr std::size_t longest = 4096;  ///< bytes of the names of a path with more than one

  /// What the next label of the source is in `to`: itself, or where its path is too deep or too long, the one
  /// around it. `parent` is the source's index; one that is not before it counts as none.
  std::uint32_t add(label_table& to, string_table& strings, std::uint32_t parent, std::string_view name,
                    std::int32_t index, range_kind kind);
  /// Of the source's label; none where it has no such.
  [[nodiscard]] std::uint32_t operator[](std::uint32_t label) const noexcept {
    return label < ids_.size() ? ids_[label] : none;
  }
  [[nodiscard]] std::uint64_t cut() const noexcept { return cut_; }

 private:
  struct path {
    std::size_t depth = 0;
    std::size_t length = 0;
  };
  std::vector<std::uint32_t> ids_;
  std::vector<path> paths_;  // by label of `to`
  std::uint64_t cut_ = 0;
};

}  // namespace own
}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_OWN_FORMAT_HPP

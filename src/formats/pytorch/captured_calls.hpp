// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Launching calls that only recorded a node of a graph.
#ifndef VARVE_FORMATS_PYTORCH_CAPTURED_CALLS_HPP
#define VARVE_FORMATS_PYTORCH_CAPTURED_CALLS_HPP

#include "formats/pytorch/capture_size.hpp"

#include <varve/trace.hpp>

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// What the builder notes of captures while it reads a trace.
struct capture_notes {
  struct bound {
    std::uint32_t call = none;
    bool begins = false;
  };
  struct mark {
    time_ns begin = 0;
    time_ns end = 0;
    std::uint16_t thread = narrow_none;
    capture_size size;
  };
  std::vector<bound> bounds;                                     ///< calls that begin and end a capture
  std::vector<mark> marks;                                       ///< annotations around captures
  std::vector<std::pair<std::uint32_t, std::uint32_t>> kernels;  ///< launching call, name of its kernel
};

/// A stretch of time on a thread.
struct stretch {
  std::uint16_t thread = narrow_none;
  time_ns begin = 0;
  time_ns end = 0;
};

/// Between a begin and an end of a capture on their thread: by thread, in order.
[[nodiscard]] std::vector<stretch> find_captures(const trace& t, std::vector<capture_notes::bound> bounds);

/// Launching calls for which nothing ran, outermost ones, by thread in order of begin.
[[nodiscard]] std::vector<std::uint32_t> calls_without_work(const trace& t);

/// Calls `f(stretch, call)` for those of `calls` in one of `stretches`; both by thread and time.
template <class F>
void for_each_inside(const trace& t, const std::vector<stretch>& stretches,
                     const std::vector<std::uint32_t>& calls, F f) {
  auto c = calls.begin();
  for (const stretch& s : stretches) {
    const auto before = [&](std::uint32_t call) {
      return std::tuple{t.calls.thread[call], t.calls.begin[call]} < std::tuple{s.thread, s.begin};
    };
    for (; c != calls.end() && before(*c); ++c) {
    }
    for (; c != calls.end() && t.calls.thread[*c] == s.thread && t.calls.begin[*c] < s.end; ++c) {
      f(s, *c);
    }
  }
}

/// Sets `captured` of calls that only recorded a node: made between a begin and an end of a capture on their
/// thread, and nothing ran for them.
void mark_captured(trace& t, const std::vector<capture_notes::bound>& bounds);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_CAPTURED_CALLS_HPP

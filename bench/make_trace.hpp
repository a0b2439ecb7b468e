// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A PyTorch trace of any size, as Kineto writes one of an LLM engine that decodes eagerly with stacks and
// shapes recorded: modules and Python frames, operators, calls, kernels, flows. The same bytes for the same
// size, wherever it runs.
#ifndef VARVE_BENCH_MAKE_TRACE_HPP
#define VARVE_BENCH_MAKE_TRACE_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace varve_bench {

struct made {
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
  std::uint64_t kernels = 0;
};

/// Gives a JSON text of at least `bytes` bytes, and at most one pass more, to `write` in pieces.
made make_trace(std::uint64_t bytes, const std::function<void(std::string_view)>& write);

}  // namespace varve_bench

#endif  // VARVE_BENCH_MAKE_TRACE_HPP

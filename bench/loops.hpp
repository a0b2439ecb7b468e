// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The loops that are timed. loops.cpp is compiled three times: into the executable, into a shared object,
// and into the executable with VARVE_DISABLE.
#ifndef VARVE_BENCH_LOOPS_HPP
#define VARVE_BENCH_LOOPS_HPP

namespace varve_bench {

/// Each runs `n` rounds of what its name says, 10 pairs a round.
struct loops {
  void (*empty)(int n);
  void (*two_clock_reads)(int n);  ///< 10 times
  void (*nested_markers)(int n);   ///< 10 nested layers
  void (*sequence_next)(int n);    ///< 10 next()
  void (*nvtx_push_pop)(int n);    ///< 10 nested NVTX ranges; nullptr without the headers
};

loops loops_in_executable();
loops loops_in_shared_object();
loops loops_disabled();

}  // namespace varve_bench

#endif  // VARVE_BENCH_LOOPS_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Who records the work. linked.cpp: the recorder that this library is linked with. preloaded.cpp: none, until
// the library that `varve run` injects says which.
#ifndef VARVE_CUBLAS_RECORDER_HPP
#define VARVE_CUBLAS_RECORDER_HPP

#include <varve/varve.h>

#include <atomic>
#include <cstdint>

namespace varve::cublas {

using declare_function = void (*)(const varve_work_t*);

struct recorder {
  std::atomic<const std::uint32_t*> state;  ///< its varve_state_
  std::atomic<declare_function> declare;    ///< its varve_declare_here_
};
extern recorder the_recorder;

inline bool is_recording() noexcept {
  const std::uint32_t* const state = the_recorder.state.load(std::memory_order_acquire);
  return (__atomic_load_n(state, __ATOMIC_RELAXED) & VARVE_STATE_RECORDING) != 0;
}

}  // namespace varve::cublas

#endif  // VARVE_CUBLAS_RECORDER_HPP

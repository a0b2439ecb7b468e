// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Runs kernels on the host: every thread of a block is a fiber, one runs at a time until it waits at a
// barrier or a shuffle. All threads of the block, or lanes of the warp, must come to the same one, and none
// may have ended: else the launch fails. Which thread goes first is up to `order`: results that depend on it
// tell of a race. To be included before the kernels, in one source of a program.
#ifndef VARVE_TESTS_EXAMPLES_EMULATED_CUDA_HPP
#define VARVE_TESTS_EXAMPLES_EMULATED_CUDA_HPP

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <ucontext.h>

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

// One block runs at a time, so that what its threads share may be the program's.
#undef __shared__
#define __shared__ static  // NOLINT(bugprone-reserved-identifier)

// What nvcc declares by itself, of the fiber that runs.
inline uint3 threadIdx;  // NOLINT(readability-identifier-naming)
inline uint3 blockIdx;   // NOLINT(readability-identifier-naming)
inline uint3 gridDim;    // NOLINT(readability-identifier-naming)

namespace emulated {

inline constexpr int lanes = 32;

enum class order { ascending, descending, shuffled };

/// One block of threads.
class block {
 public:
  block(int threads, order which) : fibers_(static_cast<std::size_t>(threads)), exchanged_(fibers_.size()) {
    turns_.resize(fibers_.size());
    std::iota(turns_.begin(), turns_.end(), 0);
    if (which == order::descending) {
      std::reverse(turns_.begin(), turns_.end());
    } else if (which == order::shuffled) {
      std::shuffle(turns_.begin(), turns_.end(), std::mt19937{7});
    }
  }

  /// Runs `body` as each thread of the block `index`. Once it has thrown, the block is of no use any more.
  void run(uint3 index, const std::function<void()>& body) {
    body_ = &body;
    block_ = index;
    for (fiber& f : fibers_) {
      f.is = state::ready;
      f.shuffles = 0;
    }
    running = this;
    while (step()) {
    }
    running = nullptr;
  }

  void barrier() { wait(state::at_barrier); }

  template <class T>
  T shuffle(T value, int distance) {
    static_assert(sizeof(T) == sizeof(std::uint32_t));
    const std::size_t self = current_;
    // Two places, since a lane may be at the next exchange before another has read this one.
    const std::size_t side = fibers_[self].shuffles++ % 2;
    std::memcpy(&exchanged_[self][side], &value, sizeof value);
    wait(state::at_shuffle);
    std::memcpy(&value, &exchanged_[self ^ static_cast<std::size_t>(distance)][side], sizeof value);
    return value;
  }

  inline static block* running = nullptr;

 private:
  enum class state { ready, at_barrier, at_shuffle, ended };
  struct fiber {
    std::unique_ptr<char[]> stack;  // once it was entered
    jmp_buf place;
    state is = state::ready;
    std::size_t shuffles = 0;
  };
  struct exchange {
    std::uint32_t sides[2];
    std::uint32_t& operator[](std::size_t i) { return sides[i]; }
  };

  // Contexts are entered once each, since a switch of contexts asks the system about signals; jumps do not.
  static void enter() {
    for (;;) {
      (*running->body_)();
      running->wait(state::ended);
    }
  }

  void go_on(fiber& f) {
    constexpr std::size_t bytes = std::size_t{64} << 10U;
    if (_setjmp(main_) != 0) {
      return;
    }
    if (f.stack) {
      _longjmp(f.place, 1);
    }
    f.stack.reset(new char[bytes]);
    ucontext_t context{};
    getcontext(&context);
    context.uc_stack.ss_sp = f.stack.get();
    context.uc_stack.ss_size = bytes;
    makecontext(&context, &block::enter, 0);
    setcontext(&context);
  }

  void wait(state at) {
    fiber& self = fibers_[current_];
    self.is = at;
    if (_setjmp(self.place) == 0) {
      _longjmp(main_, 1);
    }
  }

  bool all(std::size_t from, std::size_t count, state is) const {
    return std::all_of(fibers_.begin() + static_cast<std::ptrdiff_t>(from),
                       fibers_.begin() + static_cast<std::ptrdiff_t>(from + count),
                       [&](const fiber& f) { return f.is == is; });
  }

  void release(std::size_t from, std::size_t count) {
    for (std::size_t i = from; i < from + count; ++i) {
      fibers_[i].is = state::ready;
    }
  }

  /// Every thread that can goes on to where it waits. False when all have ended.
  bool step() {
    for (const std::size_t i : turns_) {
      if (fibers_[i].is == state::ready) {
        current_ = i;
        threadIdx = {static_cast<unsigned>(i), 0, 0};
        blockIdx = block_;
        go_on(fibers_[i]);
      }
    }
    if (all(0, fibers_.size(), state::ended)) {
      return false;
    }
    if (all(0, fibers_.size(), state::at_barrier)) {
      release(0, fibers_.size());
      return true;
    }
    bool released = false;
    for (std::size_t warp = 0; warp < fibers_.size(); warp += lanes) {
      if (all(warp, lanes, state::at_shuffle)) {
        release(warp, lanes);
        released = true;
      }
    }
    if (!released) {
      throw std::logic_error{"threads of a block wait at different barriers or shuffles, or have ended"};
    }
    return true;
  }

  std::vector<fiber> fibers_;
  std::vector<exchange> exchanged_;
  std::vector<std::size_t> turns_;
  jmp_buf main_{};
  const std::function<void()>* body_ = nullptr;
  uint3 block_{};
  std::size_t current_ = 0;
};

/// Calls kernel(arguments...) as each thread of a grid.
template <class... Parameters, class... Arguments>
void launch(unsigned x, unsigned y, int threads, order which, void (*kernel)(Parameters...),
            Arguments... arguments) {
  static std::map<std::pair<int, order>, block> kept;  // their fibers serve all launches
  const auto place = kept.try_emplace({threads, which}, threads, which).first;
  gridDim = {x, y, 1};
  const std::function<void()> body = [&] { kernel(static_cast<Parameters>(arguments)...); };
  for (unsigned j = 0; j < y; ++j) {
    for (unsigned i = 0; i < x; ++i) {
      try {
        place->second.run({i, j, 0}, body);
      } catch (...) {
        kept.erase(place);
        throw;
      }
    }
  }
}

}  // namespace emulated

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): as CUDA names them
inline void __syncthreads() { emulated::block::running->barrier(); }

template <class T>
T __shfl_xor_sync(unsigned /*all*/, T value, int distance) {
  return emulated::block::running->shuffle(value, distance);
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

#endif  // VARVE_TESTS_EXAMPLES_EMULATED_CUDA_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Engines on the stand-in for CUPTI, whose threads launch, capture, clone, instantiate, update and destroy
// graphs on streams that come and go; and what to judge sessions around them by.
#ifndef VARVE_TESTS_SOAK_ENGINES_HPP
#define VARVE_TESTS_SOAK_ENGINES_HPP

#include "standin_cupti/control.hpp"

#include <varve/varve.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace soak {

constexpr int threads = 16;
constexpr int layers = 8;
constexpr double most_growth = 4e6;  // of resident memory, over the second half

#ifdef VARVE_SANITIZED
constexpr bool sanitized = true;  // what is freed is held for a while
#else
constexpr bool sanitized = false;
#endif

inline std::atomic<bool> enough{false};
inline std::atomic<int> pause_us{20'000};  // between passes

/// What the engines did: the truth.
inline struct truth {
  std::atomic<std::uint64_t> ranges{0};
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> kernels{0};
  std::atomic<std::uint64_t> rounds{0};
} made;

/// What a call did, counted.
inline void count(const standin::done& d) {
  ++made.calls;
  made.kernels += d.times.size();
}

inline void run_layers(standin::stream s) {
  static const char* const names[] = {"gemm", "rope", "norm", "silu", "attention"};
  for (int i = 0; i < layers; ++i) {
    const varve::layer layer{"layer", i};
    ++made.ranges;
    count(standin::launch(s, names[i % 5]));
  }
}

inline standin::graph capture(standin::stream s) {
  standin::begin_capture(s);
  run_layers(s);
  made.calls += 2;
  return standin::end_capture(s);
}

inline standin::executable make(standin::graph g) {
  ++made.calls;
  return standin::instantiate(g);
}

template <class Graph>
void remove(Graph g) {
  ++made.calls;
  standin::destroy(g);
}

inline void decode(standin::stream s, standin::executable e, int times) {
  for (int i = 0; i < times; ++i) {
    const varve::phase pass{varve::decode};
    ++made.ranges;
    count(standin::launch(s, e));
  }
}

inline void engine() {
  while (!enough) {
    const standin::stream s = standin::create_stream();
    const standin::graph g = capture(s);
    const standin::graph copy = standin::clone(g);
    ++made.calls;
    const standin::executable e = make(g);
    const standin::executable of_copy = make(copy);
    remove(copy);
    for (int i = 0; i < 10; ++i) {
      const varve::phase pass{varve::prefill};
      ++made.ranges;
      run_layers(s);
      std::this_thread::sleep_for(std::chrono::microseconds{pause_us});
    }
    decode(s, e, 4);
    decode(s, of_copy, 4);
    remove(of_copy);
    remove(g);
    const standin::graph again = capture(s);
    ++made.calls;
    standin::update(e, again);
    decode(s, e, 4);
    remove(e);
    const standin::executable anew = make(again);
    remove(again);
    decode(s, anew, 4);
    remove(anew);
    standin::destroy_stream(s);
    ++made.rounds;
  }
}

inline std::uint64_t lost(const std::vector<varve::loss>& losses, const char* what) {
  std::uint64_t sum = 0;
  for (const varve::loss& l : losses) {
    sum += l.what.find(what) != std::string::npos ? l.count : 0;
  }
  return sum;
}

class judge {
 public:
  void check(bool right, const std::string& what) {
    if (!right) {
      std::printf("wrong: %s\n", what.c_str());
      ++wrong_;
    }
  }
  void equal(std::uint64_t is, std::uint64_t should, const std::string& what) {
    check(is == should, what + ": " + std::to_string(is) + " instead of " + std::to_string(should));
  }
  [[nodiscard]] int wrong() const noexcept { return wrong_; }

 private:
  int wrong_ = 0;
};

/// How much the straight line through these grows from the first to the last; they are equally spaced.
inline double growth(const std::vector<double>& all) {
  const auto n = static_cast<double>(all.size());
  double weighted = 0;
  double squares = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double x = static_cast<double>(i) - (n - 1) / 2;
    weighted += x * all[i];
    squares += x * x;
  }
  return squares != 0 ? weighted / squares * (n - 1) : 0;
}

inline varve::session_options options(std::size_t trace_memory) {
  standin::config settings;
  settings.correlation = standin::nested_correlation::inner;
  settings.records_per_buffer = 500;
  standin::reset(settings);
  varve::session_options o;
  o.gpu.cupti_library = "libcupti.so.13";  // the programs link it: the stand-in
  o.gpu.buffer_bytes = std::size_t{256} << 10U;
  o.marker_memory = std::size_t{32} << 20U;
  o.trace_memory = trace_memory;
  return o;
}

}  // namespace soak

#endif  // VARVE_TESTS_SOAK_ENGINES_HPP

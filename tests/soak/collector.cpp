// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Sessions one after another, for as long as one likes: threads that launch, capture, replay and destroy
// graphs on the stand-in for CUPTI, and somebody who takes snapshots. Nothing may be lost, and memory must
// not grow.
//
//     soak_collector [SECONDS]
#include "standin_cupti/control.hpp"

#include <varve/varve.hpp>

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "soak/memory.hpp"

namespace {

using soak::memory;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr int threads = 4;
constexpr int layers = 8;
constexpr int passes_a_graph = 50;
constexpr int replays = 20;
// A session that runs within its options: buffers, undrained markers, what waits, and the trace twice (a
// snapshot).
constexpr double most_memory = 1.5e9;
constexpr double most_growth = 64e6;

std::atomic<bool> enough{false};
std::atomic<std::uint64_t> kernels{0};

void run_layers(standin::stream s) {
  for (int i = 0; i < layers; ++i) {
    const varve::layer layer{"layer", i};
    standin::launch(s, "gemm");
  }
}

void engine() {
  const standin::stream s = standin::create_stream();
  while (!enough) {
    standin::begin_capture(s);
    run_layers(s);
    const standin::graph g = standin::end_capture(s);
    const standin::executable e = standin::instantiate(g);
    standin::destroy(g);
    for (int i = 0; i < passes_a_graph; ++i) {
      const varve::phase pass{varve::prefill};
      run_layers(s);
      std::this_thread::sleep_for(
          std::chrono::microseconds{200});  // an engine, not a loop of nothing but launches
    }
    for (int i = 0; i < replays; ++i) {
      const varve::phase pass{varve::decode};
      standin::launch(s, e);
    }
    standin::destroy(e);
    kernels += layers * (passes_a_graph + replays);
  }
  standin::destroy_stream(s);
}

/// What went wrong; empty when nothing did.
std::string round(steady_clock::duration length) {
  standin::reset();
  enough = false;
  kernels = 0;
  varve::session_options options;
  options.gpu.cupti_library = "libcupti.so.13";  // this program links it: the stand-in
  options.marker_memory = std::size_t{64} << 20U;
  varve::session session{options};
  std::vector<std::thread> engines;
  for (int i = 0; i < threads; ++i) {
    engines.emplace_back(engine);
  }
  std::size_t before = 0;
  std::string wrong;
  for (const auto end = steady_clock::now() + length; steady_clock::now() < end;) {
    std::this_thread::sleep_for(std::min<steady_clock::duration>(length / 4, seconds{1}));
    const std::size_t now = session.snapshot().activities.size();
    wrong = now < before ? "a snapshot holds less than the one before" : wrong;
    before = now;
  }
  enough = true;
  for (std::thread& t : engines) {
    t.join();
  }
  const varve::trace t = session.stop();
  for (const varve::loss& l : t.losses) {
    wrong += l.what + " (" + std::to_string(l.count) + "); ";
  }
  if (t.activities.size() != kernels) {
    wrong += std::to_string(t.activities.size()) + " kernels of " + std::to_string(kernels) + "; ";
  }
  const auto layered = static_cast<std::uint64_t>(
      std::count_if(t.graph_nodes.begin(), t.graph_nodes.end(),
                    [](const varve::graph_node& n) { return n.label != varve::none; }));
  if (layered != t.graph_nodes.size()) {
    wrong += std::to_string(t.graph_nodes.size() - layered) + " nodes without a layer; ";
  }
  if (const auto misuses = standin::misuses(); !misuses.empty()) {
    wrong += std::to_string(misuses.size()) + " misuses: " + misuses.front();
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const double length = argc > 1 ? std::strtod(argv[1], nullptr) : 60;
  const auto all = std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>{length});
  const auto begin = steady_clock::now();
  double settled = 0;
  for (int i = 1; i == 1 || steady_clock::now() - begin < all; ++i) {
    const std::string wrong = round(std::min<steady_clock::duration>(all, seconds{5}));
    ::malloc_trim(0);  // what was freed is none of the growth
    const double resident = memory("VmRSS:");
    settled = i <= 3 ? std::max(settled, resident) : settled;
    std::printf("session %d: %llu kernels, %.0f MB resident, %.0f MB at most\n", i,
                static_cast<unsigned long long>(kernels), resident / 1e6, memory("VmHWM:") / 1e6);
    if (!wrong.empty()) {
      std::printf("wrong: %s\n", wrong.c_str());
      return 1;
    }
    if (memory("VmHWM:") > most_memory || resident > settled + most_growth) {
      std::printf("memory grows\n");
      return 1;
    }
  }
  return 0;
}

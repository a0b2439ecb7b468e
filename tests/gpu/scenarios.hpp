// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What engines do with a GPU, each thing once: played to the recorder of tapes, and to a session of varve by
// the tests. A scenario says how many kernels each layer runs; who plays it compares.
#ifndef VARVE_TESTS_GPU_SCENARIOS_HPP
#define VARVE_TESTS_GPU_SCENARIOS_HPP

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "gpu/gpu.hpp"

namespace varve_gpu {

/// Kernels of each layer.
using counts = std::array<int, layers>;

/// Who listens to a scenario. Its functions may be called from several threads.
class stage {
 public:
  stage() = default;
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;
  virtual ~stage() = default;

  virtual void begin_pass(bool capture) = 0;
  virtual void begin_layer(int layer) = 0;
  virtual void end() = 0;
  /// What comes next, or how it went.
  virtual void step(const std::string& text) = 0;

  /// The device ran, or will have run before the scenario returns, so many kernels for this layer.
  void expect(int layer, int kernels) { expected_[static_cast<std::size_t>(layer)] += kernels; }
  void expect(const counts& kernels);
  [[nodiscard]] counts expected() const;

  /// For kernels to work on, of a size that any scenario's kernels keep to. Made by prepare().
  [[nodiscard]] work some_work(std::uint32_t microseconds = 10) const;
  void prepare();

 private:
  std::array<std::atomic<int>, layers> expected_{};
  device_memory data_;
};

class in_pass {
 public:
  explicit in_pass(stage& s, bool capture = false) : stage_{s} { stage_.begin_pass(capture); }
  in_pass(const in_pass&) = delete;
  in_pass& operator=(const in_pass&) = delete;
  ~in_pass() { stage_.end(); }

 private:
  stage& stage_;
};

class in_layer {
 public:
  in_layer(stage& s, int layer) : stage_{s} { stage_.begin_layer(layer); }
  in_layer(const in_layer&) = delete;
  in_layer& operator=(const in_layer&) = delete;
  ~in_layer() { stage_.end(); }

 private:
  stage& stage_;
};

struct scenario {
  std::string name;
  void (*play)(stage&);
  int capability = 0;  ///< that it needs, 90 for 9.0
  int driver = 0;      ///< likewise, 12040 for 12.4
  int devices = 1;
};

/// All of them; needs no device.
[[nodiscard]] const std::vector<scenario>& scenarios();
/// Why it can't be played here; empty where it can.
[[nodiscard]] std::string why_not(const scenario& s);

// --- their parts -----------------------------------------------------------------------------------------

/// In the order given, one kernel in its layer for each entry.
void run_layers(stage& s, const std::vector<int>& order, cudaStream_t on, std::uint32_t microseconds = 10);
/// How many kernels of each layer that is.
[[nodiscard]] counts count(const std::vector<int>& order);
/// The same as a graph, captured in a pass of its own.
[[nodiscard]] graph capture_layers(stage& s, const std::vector<int>& order, cudaStream_t on,
                                   std::uint32_t microseconds = 10);
/// Launches it in a pass, and expects these kernels.
void replay(stage& s, const executable& e, const counts& kernels, cudaStream_t on);

[[nodiscard]] std::vector<scenario> stream_scenarios();
[[nodiscard]] std::vector<scenario> launch_scenarios();
[[nodiscard]] std::vector<scenario> graph_scenarios();
[[nodiscard]] std::vector<scenario> update_scenarios();
[[nodiscard]] std::vector<scenario> conditional_scenarios();

}  // namespace varve_gpu

#endif  // VARVE_TESTS_GPU_SCENARIOS_HPP

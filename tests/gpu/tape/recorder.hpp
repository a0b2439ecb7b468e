// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Plays scenarios to a listener, so that they become tapes.
#ifndef VARVE_TESTS_GPU_TAPE_RECORDER_HPP
#define VARVE_TESTS_GPU_TAPE_RECORDER_HPP

#include <cstdint>
#include <string>

#include "gpu/scenarios.hpp"
#include "gpu/tape/listener.hpp"

namespace varve_tape {

/// What the tapes are made on; found out elsewhere, since a recorder starts before CUDA.
struct machine {
  std::string device;
  std::uint32_t capability = 0;
};

class recorder : public varve_gpu::stage {
 public:
  recorder(const std::string& path, const std::string& name, const machine& on, listener_options options);

  void start() { listener_.start(); }
  /// Synchronises before it stops.
  void stop();
  void flush(bool forced) { listener_.flush(forced); }
  /// What the scenario expected, and the end of the tape.
  void finish();

  void begin_pass(bool capture) override;
  void begin_layer(int layer) override;
  void end() override;
  void step(const std::string& text) override;

 private:
  listener listener_;
};

}  // namespace varve_tape

#endif  // VARVE_TESTS_GPU_TAPE_RECORDER_HPP

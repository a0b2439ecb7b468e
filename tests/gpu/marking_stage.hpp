// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_TESTS_GPU_MARKING_STAGE_HPP
#define VARVE_TESTS_GPU_MARKING_STAGE_HPP

#include <string>
#include <varve/marker.hpp>
#include <vector>

#include "gpu/scenarios.hpp"

namespace varve_gpu {

/// Plays scenarios to varve's markers.
class marking_stage : public stage {
 public:
  void begin_pass(bool capture) override {
    open().push_back(varve::begin_phase(capture ? varve::capture : varve::decode));
  }
  void begin_layer(int layer) override { open().push_back(varve::begin_layer("layer", layer)); }
  void end() override {
    open().back().end();
    open().pop_back();
  }
  void step(const std::string& /*text*/) override {}

 private:
  static std::vector<varve::handle>& open() {
    thread_local std::vector<varve::handle> handles;
    return handles;
  }
};

}  // namespace varve_gpu

#endif  // VARVE_TESTS_GPU_MARKING_STAGE_HPP

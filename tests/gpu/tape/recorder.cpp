// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "gpu/tape/recorder.hpp"

#include <utility>

namespace varve_tape {
namespace {

header header_of(const std::string& name, const machine& on) {
  header out;
  out.name = name;
  out.device = on.device;
  out.capability = on.capability;
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess) {
    out.driver = static_cast<std::uint32_t>(version);
  }
  if (cudaRuntimeGetVersion(&version) == cudaSuccess) {
    out.runtime = static_cast<std::uint32_t>(version);
  }
  return out;
}

}  // namespace

recorder::recorder(const std::string& path, const std::string& name, const machine& on,
                   listener_options options)
    : listener_{path, header_of(name, on), std::move(options)} {}

void recorder::stop() {
  varve_gpu::check(cudaDeviceSynchronize());
  listener_.stop();
}

void recorder::finish() {
  const varve_gpu::counts kernels = expected();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i] != 0) {
      varve_tape::expect line;
      line.label = "layer:" + std::to_string(i);
      line.count = static_cast<std::uint64_t>(kernels[i]);
      listener_.add(line);
    }
  }
  listener_.finish();
}

void recorder::begin_pass(bool capture) {
  varve_tape::begin line;
  line.phase = capture ? "capture" : "decode";
  listener_.add(line);
}

void recorder::begin_layer(int layer) {
  varve_tape::begin line;
  line.layer = "layer";
  line.index = layer;
  listener_.add(line);
}

void recorder::end() { listener_.add(varve_tape::end{}); }
void recorder::step(const std::string& text) { listener_.add(varve_tape::step{text}); }

}  // namespace varve_tape

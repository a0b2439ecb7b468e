// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A plugin of an engine: a shared object with hidden visibility that marks its own layers. Built several
// times, by both compilers, with another PLUGIN_LAYER each.
#include <varve/collector.hpp>
#include <varve/varve.hpp>

#define PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))

PLUGIN_EXPORT void plugin_run(int index) {
  const varve::layer layer{PLUGIN_LAYER, index};
  const varve::op op{PLUGIN_LAYER " op"};
}

PLUGIN_EXPORT std::uint64_t plugin_capture(varve::host_device& device, int index) {
  const varve::layer layer{PLUGIN_LAYER, index};
  return device.capture_node();
}

PLUGIN_EXPORT const char* plugin_layer() { return PLUGIN_LAYER; }

PLUGIN_EXPORT const void* plugin_state() { return &varve_state_; }

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A plugin that runs sessions of its own. Built twice: as it should be, and wrongly, with a static varve
// inside whose symbols are hidden.
#include <varve/varve.hpp>

#include <cstring>

#define PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))

PLUGIN_EXPORT const void* plugin_state() { return &varve_state_; }

PLUGIN_EXPORT void plugin_run(int index) { const varve::layer layer{"in the plugin", index}; }

PLUGIN_EXPORT int plugin_arm() { return varve_arm(); }

// How many ranges a session records of one marker.
PLUGIN_EXPORT int plugin_ranges(int index) {
  varve::session session;
  plugin_run(index);
  return static_cast<int>(session.stop().ranges.size());
}

// What a session says of its collectors.
PLUGIN_EXPORT void plugin_session(char* text, std::size_t size) {
  const varve::session session;
  std::string all;
  for (const varve::collector_status& c : session.status().collectors) {
    all += c.name + ": " + c.detail + '\n';
  }
  std::strncpy(text, all.c_str(), size - 1);
  text[size - 1] = '\0';
}

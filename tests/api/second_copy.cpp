// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A plugin that was wrongly linked with a static varve of its own, its symbols hidden.
#include <varve/varve.hpp>

#include <cstring>

#define PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))

PLUGIN_EXPORT const void* plugin_state() { return &varve_state_; }

PLUGIN_EXPORT void plugin_run(int index) { const varve::layer layer{"in the second copy", index}; }

PLUGIN_EXPORT int plugin_arm() { return varve_arm(); }

// What a session of this copy says of its collectors.
PLUGIN_EXPORT void plugin_session(char* text, std::size_t size) {
  const varve::session session;
  std::string all;
  for (const varve::collector_status& c : session.status().collectors) {
    all += c.name + ": " + c.detail + '\n';
  }
  std::strncpy(text, all.c_str(), size - 1);
  text[size - 1] = '\0';
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What nvtx_tool.cpp, a shared object that NVTX loads as a tool, has seen.
#ifndef VARVE_TESTS_SUPPORT_NVTX_TOOL_HPP
#define VARVE_TESTS_SUPPORT_NVTX_TOOL_HPP

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

struct nvtx_event {
  enum what { push, pop, start, end };
  what kind = push;
  std::string domain;
  std::string text;     ///< name, and payload where there is one: "attention 3"
  std::string name;     ///< of what begins
  std::string payload;  ///< likewise; empty where there is none
  std::thread::id thread;
};

/// Exported by the tool under this name: moves all events until now, in order, to `out`.
using nvtx_tool_take_function = void(std::vector<nvtx_event>& out);
inline constexpr const char* nvtx_tool_take_name = "nvtx_tool_take";

/// The environment variable that names a file: the tool writes there, when the process exits, what was not
/// taken. A line for each event: what, thread, domain, name and payload, with tabs between.
inline constexpr const char* nvtx_tool_file_variable = "VARVE_NVTX_EVENTS";

#endif  // VARVE_TESTS_SUPPORT_NVTX_TOOL_HPP

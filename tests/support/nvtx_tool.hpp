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
  std::string text;  ///< name, and payload where there is one: "attention 3"
  std::thread::id thread;
};

/// Exported by the tool under this name: moves all events until now, in order, to `out`.
using nvtx_tool_take_function = void(std::vector<nvtx_event>& out);
inline constexpr const char* nvtx_tool_take_name = "nvtx_tool_take";

#endif  // VARVE_TESTS_SUPPORT_NVTX_TOOL_HPP

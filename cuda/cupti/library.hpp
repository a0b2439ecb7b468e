// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Finds libcupti at run time: varve never links it.
#ifndef VARVE_CUDA_CUPTI_LIBRARY_HPP
#define VARVE_CUDA_CUPTI_LIBRARY_HPP

#include "cupti/abi.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace varve::cupti {

/// A libcupti in this process. Stays loaded as long as the process lives.
struct library {
  functions call{};                  ///< what a collector cannot do without is never null
  std::vector<std::string> missing;  ///< the others that the library does not have: "cuptiGetGraphNodeId"
  std::uint32_t version = 0;         ///< as cuptiGetVersion gives it
  std::string path;                  ///< of its file
  bool was_loaded = false;           ///< by somebody else, before varve looked
};

struct load_result {
  const library* loaded = nullptr;  ///< lives as long as the process
  std::string error;                ///< where there is none: what was tried and what to do
};

/// Where `path` is not empty, that file (or what the loader finds by that name) and no other. Else the first
/// of: a copy that the process has loaded; the toolkit in CUDA_HOME, then CUDA_PATH; what the loader finds;
/// the toolkit in /usr/local/cuda. CUDA 13 goes before 12.
/// Thread safe. Looks for a path again only as long as it was not found. Throws nothing but std::bad_alloc.
[[nodiscard]] load_result load(const std::string& path = {});

/// `option`, or where it is empty the file that VARVE_CUPTI_LIBRARY names in the environment.
[[nodiscard]] std::string named_library(const std::string& option);

/// Whether `path` names the file of `l`, as what the process has loaded tells; loads nothing.
[[nodiscard]] bool is_named(const library& l, const std::string& path);

/// Of CUDA 13.0 without Update 1, whose CUPTI has defects that are worked around.
constexpr bool has_defects_of_13_0(std::uint32_t version) noexcept { return version == 130'000; }

/// "13.0 (130001)", "12.4 (22)": the CUDA that a version of CUPTI belongs to.
[[nodiscard]] std::string version_text(std::uint32_t version);

}  // namespace varve::cupti

#endif  // VARVE_CUDA_CUPTI_LIBRARY_HPP

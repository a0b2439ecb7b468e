// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/calibrate_gpu.hpp"

#include "cli/engine.hpp"
#include "cli/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

namespace varve::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* program = "varve-calibrate-gpu";
constexpr std::string_view flag = "--gpu";

bool is_number(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The folder that the tool lies in.
fs::path own_folder() {
  std::error_code failed;
  return fs::read_symlink("/proc/self/exe", failed).parent_path();
}

/// Beside the tool, where both are built, or in $PATH, of which the working folder is no part whatever it
/// says.
std::vector<fs::path> places() {
  std::vector<fs::path> out;
  if (const fs::path own = own_folder(); !own.empty()) {
    out.push_back(own);
    if (own.filename() == "cli" && own.parent_path().filename() == "src") {
      out.push_back(own.parent_path().parent_path() / "cuda" / "ceilings");
    }
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders{path != nullptr ? path : ""};
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (fs::path{folder}.is_absolute()) {
      out.emplace_back(folder);
    }
  }
  return out;
}

}  // namespace

std::optional<calibrate_gpu_arguments> gpu_arguments(const std::vector<std::string>& words) {
  const auto asks = [](const std::string& word) {
    return word == flag || word.compare(0, flag.size() + 1, "--gpu=") == 0;
  };
  if (std::none_of(words.begin(), words.end(), asks)) {
    return std::nullopt;
  }
  calibrate_gpu_arguments out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool alone = words[i] == flag && (i + 1 == words.size() || !is_number(words[i + 1]));
    if (!alone) {
      out.words.push_back(words[i]);
    }
  }
  return out;
}

int run(const calibrate_gpu_arguments& asked) {
  const std::vector<fs::path> folders = places();
  const auto found = std::find_if(folders.begin(), folders.end(), [](const fs::path& folder) {
    const fs::path file = folder / program;
    std::error_code failed;
    return fs::is_regular_file(file, failed) && ::access(file.c_str(), X_OK) == 0;
  });
  if (found == folders.end()) {
    complain(
        std::string{program} + ", which measures GPUs, is neither beside varve (" + own_folder().string() +
        ") nor in $PATH: it is built and installed with varve where CMake finds nvcc and cuBLAS of CUDA 12 "
        "or later (cmake --build BUILD --target varve_calibrate_gpu; docs/devices.md)");
    return unreadable;
  }
  std::vector<std::string> command{(*found / program).string()};
  command.insert(command.end(), asked.words.begin(), asked.words.end());
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  const engine_end end = run_engine(command, variables);
  if (end.start_error != 0) {
    complain(command[0] + ": cannot be started: " + std::generic_category().message(end.start_error));
    return unreadable;
  }
  if (end.signal != 0) {
    complain(command[0] + " was ended by signal " + std::to_string(end.signal) + " (" +
             ::strsignal(end.signal) + ')');
  }
  return end.code;
}

}  // namespace varve::cli

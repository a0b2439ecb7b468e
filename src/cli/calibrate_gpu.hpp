// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CLI_CALIBRATE_GPU_HPP
#define VARVE_CLI_CALIBRATE_GPU_HPP

#include <optional>
#include <string>
#include <vector>

namespace varve::cli {

/// varve calibrate --gpu: hands over to varve-calibrate-gpu, a program of its own, so that the tool needs
/// nothing of CUDA.
struct calibrate_gpu_arguments {
  std::vector<std::string> words;  ///< what the program is given
};

/// Of the words after "calibrate"; nothing where they do not ask for a GPU. What else they say the program
/// judges.
std::optional<calibrate_gpu_arguments> gpu_arguments(const std::vector<std::string>& words);

/// Runs it, and returns its exit code. Says where it was looked for, and how it is made, where it is not
/// there.
int run(const calibrate_gpu_arguments& asked);

}  // namespace varve::cli

#endif  // VARVE_CLI_CALIBRATE_GPU_HPP

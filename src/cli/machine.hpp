// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the system tells of the machine that the tool runs on.
#ifndef VARVE_CLI_MACHINE_HPP
#define VARVE_CLI_MACHINE_HPP

#include <cstdint>
#include <string>

namespace varve::cli {

std::string host_name();

/// "AMD EPYC 9654"; the architecture where the system tells no more.
std::string processor_name();

/// Processors that this process may run on, at least 1.
int usable_processors();

/// Bytes of the last level of cache, all of its parts together; 0 when unknown.
std::uint64_t last_cache_bytes();

std::uint64_t memory_bytes();

/// Whether there is a device file of an NVIDIA GPU.
bool has_gpu();

/// Where varve calibrate keeps what it measured: $XDG_CONFIG_HOME/varve/devices, else
/// ~/.config/varve/devices; empty when neither $XDG_CONFIG_HOME nor $HOME is an absolute path.
std::string devices_folder();

}  // namespace varve::cli

#endif  // VARVE_CLI_MACHINE_HPP

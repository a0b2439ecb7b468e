// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/machine.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

namespace varve::cli {

namespace {

namespace fs = std::filesystem;

std::string line_of(const fs::path& file) {
  std::string line;
  std::ifstream in{file};
  std::getline(in, line);
  return line;
}

/// "32768K" as bytes.
std::uint64_t size_of(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
  return *end == 'K' ? number << 10U : *end == 'M' ? number << 20U : number;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string processor_name() {
  std::ifstream in{"/proc/cpuinfo"};
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.compare(0, 10, "model name") == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  utsname about{};
  return ::uname(&about) == 0 ? about.machine : "processor";
}

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    return std::max(1, CPU_COUNT(&set));
  }
  return static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

std::uint64_t last_cache_bytes() {
  std::map<std::string, std::uint64_t> parts;  // of the last level, by the processors that share one
  std::string last;
  std::error_code ignored;
  for (const fs::directory_entry& cpu : fs::directory_iterator{"/sys/devices/system/cpu", ignored}) {
    for (const fs::directory_entry& cache : fs::directory_iterator{cpu.path() / "cache", ignored}) {
      const std::string level = line_of(cache.path() / "level");
      if (level > last) {
        last = level;
        parts.clear();
      }
      if (!level.empty() && level == last) {
        parts[line_of(cache.path() / "shared_cpu_list")] = size_of(line_of(cache.path() / "size"));
      }
    }
  }
  std::uint64_t sum = 0;
  for (const auto& [processors, size] : parts) {
    sum += size;
  }
  return sum;
}

std::uint64_t memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) : 0;
}

bool has_gpu() {
  constexpr std::array<const char*, 3> files{"/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg"};
  return std::any_of(files.begin(), files.end(), [](const char* file) { return ::access(file, F_OK) == 0; });
}

std::string devices_folder() {
  const auto absolute = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return value != nullptr && *value == '/' ? std::string{value} : std::string{};
  };
  if (const std::string config = absolute("XDG_CONFIG_HOME"); !config.empty()) {
    return config + "/varve/devices";
  }
  const std::string home = absolute("HOME");
  return home.empty() ? "" : home + "/.config/varve/devices";
}

}  // namespace varve::cli

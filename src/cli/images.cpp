// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/images.hpp"

#include "inject/variables.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <system_error>
#include <tuple>
#include <utility>

namespace varve::cli {

namespace {

namespace fs = std::filesystem;

result find_result(const std::string& base, const char* suffix) {
  if (fs::exists(base + suffix)) {
    return {base + suffix, true};
  }
  const std::string snapshot = base + inject::snapshot_infix + suffix;
  return fs::exists(snapshot) ? result{snapshot, false} : result{};
}

}  // namespace

std::vector<image> find_images(const fs::path& folder, pid_t engine) {
  std::vector<image> out;
  for (const fs::directory_entry& entry : fs::directory_iterator{folder}) {
    const std::string name = entry.path().filename().string();
    image i;
    const char* const last = name.data() + name.size();
    const auto [dot, no_process] = std::from_chars(name.data(), last, i.process);
    if (no_process != std::errc{} || dot == last || *dot != '.') {
      continue;
    }
    const auto [end, no_number] = std::from_chars(dot + 1, last, i.number);
    if (no_number != std::errc{} || end != last) {
      continue;
    }
    std::getline(std::ifstream{entry.path()}, i.title);
    i.failed = !i.title.empty() && i.title[0] == inject::claim_failed;
    i.title = i.title.substr(std::min<std::size_t>(1, i.title.size())) + " (process " +
              std::to_string(i.process) + ')';
    i.report = find_result(entry.path().string(), inject::report_suffix);
    i.trace = find_result(entry.path().string(), inject::trace_suffix);
    out.push_back(std::move(i));
  }
  const auto order = [&](const image& i) { return std::tuple{i.process != engine, i.process, i.number}; };
  std::sort(out.begin(), out.end(), [&](const image& a, const image& b) { return order(a) < order(b); });
  return out;
}

}  // namespace varve::cli

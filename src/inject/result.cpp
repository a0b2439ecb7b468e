// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/result.hpp"

#include <varve/io.hpp>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

namespace varve::inject {

namespace {

void write(const trace& t, const std::string& path) {
  std::ofstream file{path, std::ios::binary};
  file << to_json(analyze(t)) << '\n' << std::flush;
  if (!file) {
    throw error{path + ": cannot be written: " + std::generic_category().message(errno)};
  }
}

}  // namespace

void write_result(const trace& t, const std::string& path) {
  const std::string part = path + ".part";
  write(t, part);
  if (std::rename(part.c_str(), path.c_str()) != 0) {
    throw error{path + ": cannot be written: " + std::generic_category().message(errno)};
  }
}

}  // namespace varve::inject

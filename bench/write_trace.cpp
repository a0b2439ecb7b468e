// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// write_trace BYTES FILE: a made trace of that size, to try tools on.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "make_trace.hpp"

int main(int argc, char** argv) {
  char* end = nullptr;
  const std::uint64_t bytes = argc == 3 ? std::strtoull(argv[1], &end, 10) : 0;
  if (bytes == 0 || *end != '\0') {
    std::fprintf(stderr, "usage: write_trace BYTES FILE\n");
    return 2;
  }
  std::FILE* const file = std::fopen(argv[2], "wb");
  bool good = file != nullptr;
  varve_bench::made made;
  if (good) {
    made = varve_bench::make_trace(bytes, [&](std::string_view text) {
      good &= std::fwrite(text.data(), 1, text.size(), file) == text.size();
    });
    good &= std::fclose(file) == 0;
  }
  if (!good) {
    std::perror(argv[2]);
    return 1;
  }
  std::printf("%s: %llu bytes, %llu events, %llu kernels\n", argv[2],
              static_cast<unsigned long long>(made.bytes), static_cast<unsigned long long>(made.events),
              static_cast<unsigned long long>(made.kernels));
  return 0;
}

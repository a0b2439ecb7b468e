// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/pages.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace varve::inject {

bool is_writable(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const int file = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  std::array<char, 4096> text{};
  std::uintptr_t number = 0;  // "BEGIN-END rw…", and more, in each line
  std::uintptr_t begin = 0;
  int field = 0;
  bool writable = true;
  bool found = false;
  ssize_t size = 0;
  while (file >= 0 && !found && (size = ::read(file, text.data(), text.size())) > 0) {
    for (ssize_t i = 0; i < size && !found; ++i) {
      const char c = text[static_cast<std::size_t>(i)];
      if (c == '\n') {
        field = 0;
        number = 0;
      } else if (field == 0 && c == '-') {
        begin = std::exchange(number, 0);
        field = 1;
      } else if (field == 1 && c == ' ') {
        field = 2;
      } else if (field < 2) {
        number = number * 16 + static_cast<std::uintptr_t>(c <= '9' ? c - '0' : c - 'a' + 10);
      } else if (field == 2) {
        field = 3;  // 'r' or '-'
      } else if (field == 3) {
        found = at >= begin && at < number;
        writable = !found || c == 'w';
        field = 4;
      }
    }
  }
  if (file >= 0) {
    ::close(file);
  }
  return writable;
}

}  // namespace varve::inject

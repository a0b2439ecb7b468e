// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/input/input.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace varve {
inline namespace v0 {
namespace input {

namespace {

constexpr std::size_t step = std::size_t{4} << 20U;  // bytes between two calls of progress

}  // namespace

content read(const std::string& path, const read_options& options, const manner& how) {
  stream in{path};
  if (in.file_size() == 0) {
    fail(path, "is empty; the program that writes it may still run or was stopped before it wrote");
  }
  content out;
  out.path = path;
  out.packed = in.packed();
  out.file_size = in.file_size();
  const std::uint64_t limit = std::min(options.max_unpacked, how.longest);
  const auto refuse = [&](const std::string& place) {
    const std::string cause =
        place + (out.packed ? "unpacks to more than " : "holds more than ") + std::to_string(limit);
    fail(path, cause + (limit == options.max_unpacked
                            ? " bytes, the limit; raise read_options::max_unpacked if you trust the file"
                            : " bytes, beyond what can be parsed; record fewer steps"));
  };
  if (!out.packed && out.file_size > limit) {
    refuse("");
  }
  // One byte more than the limit is asked for, to tell "just fits" from "too much".
  const std::uint64_t most = std::min<std::uint64_t>(limit, std::numeric_limits<std::size_t>::max() / 2) + 1;
  // JSON traces shrink by 10 to 20; a first guess that is too small only costs a remapping.
  const std::uint64_t guess = out.packed ? in.file_size() * 8 : in.file_size() + 1;
  out.bytes.reserve(static_cast<std::size_t>(std::clamp<std::uint64_t>(guess, 1, most)));
  std::size_t size = 0;
  std::size_t reported = 0;
  for (;;) {
    if (size == out.bytes.capacity()) {
      if (size >= most) {
        refuse("byte " + std::to_string(in.consumed()) + ": ");
      }
      out.bytes.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(most, std::uint64_t{size} * 2)));
    }
    std::size_t got = 0;
    const std::size_t room = std::min(step, out.bytes.capacity() - size);
    try {
      got = in.read(out.bytes.data() + size, room);
    } catch (const cut_off& e) {
      if (!how.takes_cut_off || size == 0) {
        throw;
      }
      out.cut_off = std::string{e.what()}.substr(path.size() + 2);
    }
    if (got == 0) {
      break;
    }
    size += got;
    if (options.progress && size - reported >= step) {
      reported = size;
      const auto done = static_cast<double>(std::min(in.consumed(), out.file_size)) * how.share;
      options.progress(static_cast<std::uint64_t>(done), out.file_size);
    }
  }
  out.bytes.set_size(size);
  return out;
}

std::string head(const std::string& path, std::size_t size) {
  stream in{path};
  std::string out(size, '\0');
  std::size_t filled = 0;
  try {
    while (filled < size) {
      const std::size_t got = in.read(out.data() + filled, size - filled);
      if (got == 0) {
        break;
      }
      filled += got;
    }
  } catch (const error&) {
    // Damaged further on: what came before still tells what the file is.
  }
  out.resize(filled);
  return out;
}

}  // namespace input
}  // namespace v0
}  // namespace varve

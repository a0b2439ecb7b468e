// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Any bytes as a file: a clear error, or a trace or report that can be analysed and printed.
#include <varve/io.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

template <class Read>
void try_to(Read&& read) {
  try {
    read();
  } catch (const varve::error&) {
    // What a reader may answer.
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer looks for
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = ::memfd_create("fuzz.json", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  varve::read_options options;
  options.max_unpacked = std::uint64_t{1} << 26U;
  try_to([&] { static_cast<void>(varve::identify(path)); });
  try_to([&] {
    const varve::report report = varve::analyze(varve::read_pytorch(path, options));
    static_cast<void>(varve::to_table(report));
    static_cast<void>(varve::to_json(report));
  });
  try_to([&] { static_cast<void>(varve::to_table(varve::read_report(path, options))); });
  return 0;
}

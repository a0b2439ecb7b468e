// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Runs one of the loops a given number of times, for an instruction counter (bench/count_instructions).
#include <cstdlib>
#include <cstring>
#include <optional>

#include <varve/session.hpp>

#include "loops.hpp"

int main(int argc, char** argv) {
  if (argc != 4) {
    return 2;  // usage: instructions executable|shared|disabled empty|markers|next ROUNDS
  }
  const varve_bench::loops all = std::strcmp(argv[1], "shared") == 0 ? varve_bench::loops_in_shared_object()
                                 : std::strcmp(argv[1], "disabled") == 0 ? varve_bench::loops_disabled()
                                                                         : varve_bench::loops_in_executable();
  const auto loop = std::strcmp(argv[2], "empty") == 0  ? all.empty
                    : std::strcmp(argv[2], "next") == 0 ? all.sequence_next
                                                        : all.nested_markers;
  loop(1);  // the first marker looks for tools
  loop(std::atoi(argv[3]));
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// gpu_play [SCENARIO…]   plays all scenarios, or these, each under a session, and prints its table. Exits
// with 1
//                        when one can't be played to its end, 3 where there is no device.
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <varve/varve.hpp>
#include <vector>

#include "gpu/marking_stage.hpp"

namespace {

bool play(const varve_gpu::scenario& s) {
  std::cout << "==== " << s.name << "\n";
  if (const std::string reason = varve_gpu::why_not(s); !reason.empty()) {
    std::cout << "not here: " << reason << "\n\n";
    return true;
  }
  bool played = true;
  varve_gpu::marking_stage on;
  on.prepare();
  varve::session session;
  try {
    s.play(on);
  } catch (const std::exception& error) {
    std::cout << "failed: " << error.what() << "\n";
    played = false;
  }
  for (const varve::collector_status& c : session.status().collectors) {
    std::cout << c.name << " " << c.version << ": " << c.detail << "\n";
  }
  std::cout << varve::analyze(session.stop()) << "kernels by layer, as played:";
  for (const int kernels : on.expected()) {
    std::cout << " " << kernels;
  }
  std::cout << "\n\n";
  return played;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> wanted(arguments + 1, arguments + count);
  if (const std::string reason = varve_gpu::why_no_device(); !reason.empty()) {
    std::cerr << "nothing played, " << reason << "\n";
    return 3;
  }
  bool played = true;
  for (const varve_gpu::scenario& s : varve_gpu::scenarios()) {
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), s.name) != wanted.end()) {
      played = play(s) && played;
    }
  }
  return played ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// tape FOLDER [CASE…]   records all cases, or these, to FOLDER/<case>.tape, which must not be there yet
// tape --list           names them
//
// Each case has a process of its own: ids start anew, and one that crashes or hangs (a minute is enough)
// leaves the others. Exits with 0 when all that this machine can do was recorded, 1 when some case failed, 2
// for wrong arguments, 3 where there is no device.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "gpu/tape/cases.hpp"
#include "gpu/tape/read_callbacks.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX declares it nowhere

namespace {

constexpr unsigned longest_case = 60;  // seconds

std::vector<std::string> arguments_of(int count, char** arguments) { return {arguments, arguments + count}; }

const varve_tape::tape_case* find(const std::vector<varve_tape::tape_case>& cases, const std::string& name) {
  for (const varve_tape::tape_case& c : cases) {
    if (c.name == name) {
      return &c;
    }
  }
  return nullptr;
}

/// In the process of one case: arguments are --record CASE FILE DEVICE CAPABILITY ids|no-ids.
int record(const std::vector<std::string>& arguments) {
  const std::vector<varve_tape::tape_case> cases = varve_tape::cases();
  const varve_tape::tape_case* const c = find(cases, arguments.at(2));
  if (c == nullptr) {
    return 2;
  }
  alarm(longest_case);
  varve_tape::ask_for_ids(arguments.at(6) == "ids");
  varve_tape::machine on;
  on.device = arguments.at(4);
  on.capability = static_cast<std::uint32_t>(std::stoul(arguments.at(5)));
  varve_tape::recorder r{arguments.at(3), c->name, on, c->options};
  try {
    c->record(r);
  } catch (const std::exception& error) {
    r.step(std::string{"failed: "} + error.what());
    std::fprintf(stderr, "%s\n", error.what());
    _exit(1);  // CUPTI still calls back; the tape is in its file
  }
  r.finish();
  return 0;
}

/// How the process of a case ended: empty where it recorded all.
std::string run(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& a : arguments) {
    pointers.push_back(a.data());
  }
  pointers.push_back(nullptr);
  pid_t child = 0;
  if (const int error = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, pointers.data(), environ)) {
    return std::string{"cannot be started: "} + std::strerror(error);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) {
    return "is lost";
  }
  if (WIFSIGNALED(status)) {
    return "died by signal " + std::to_string(WTERMSIG(status));
  }
  return WEXITSTATUS(status) == 0 ? "" : "failed";
}

varve_tape::machine this_machine() {
  cudaDeviceProp properties{};
  varve_gpu::check(cudaGetDeviceProperties(&properties, 0));
  varve_tape::machine out;
  out.device = properties.name;
  out.capability = static_cast<std::uint32_t>(10 * properties.major + properties.minor);
  return out;
}

int record_all(const std::string& program, const std::string& folder,
               const std::vector<std::string>& wanted) {
  const varve_tape::machine on = this_machine();
  int failed = 0;
  const std::vector<varve_tape::tape_case> cases = varve_tape::cases();
  for (const varve_tape::tape_case& c : cases) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), c.name) == wanted.end()) {
      continue;
    }
    if (const std::string reason = varve_gpu::why_not(c.needs); !reason.empty()) {
      std::printf("%-32s not here: %s\n", c.name.c_str(), reason.c_str());
      continue;
    }
    const auto run_case = [&](const char* suffix, const char* ids) {
      return run({program, "--record", c.name, folder + "/" + c.name + suffix, on.device,
                  std::to_string(on.capability), ids});
    };
    std::string how = run_case(".tape", "ids");
    if (how.find("signal") != std::string::npos) {
      const std::string again = run_case(".no-ids.tape", "no-ids");
      how += ", without asking for ids it " + (again.empty() ? "works" : again);
    }
    failed += how.empty() ? 0 : 1;
    std::printf("%-32s %s\n", c.name.c_str(), how.empty() ? "recorded" : how.c_str());
    std::fflush(stdout);
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> given = arguments_of(count, arguments);
  try {
    if (given.size() == 7 && given[1] == "--record") {
      return record(given);
    }
    if (given.size() == 2 && given[1] == "--list") {
      for (const varve_tape::tape_case& c : varve_tape::cases()) {
        std::printf("%s\n", c.name.c_str());
      }
      return 0;
    }
    if (given.size() < 2 || given[1].rfind("--", 0) == 0) {
      std::fprintf(stderr, "usage: tape FOLDER [CASE...] | tape --list\n");
      return 2;
    }
    const std::vector<std::string> wanted{given.begin() + 2, given.end()};
    for (const std::string& name : wanted) {
      if (find(varve_tape::cases(), name) == nullptr) {
        std::fprintf(stderr, "no case '%s': see tape --list\n", name.c_str());
        return 2;
      }
    }
    if (const std::string reason = varve_gpu::why_no_device(); !reason.empty()) {
      std::fprintf(stderr, "nothing recorded, %s\n", reason.c_str());
      return 3;
    }
    return record_all(given[0], given[1], wanted);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

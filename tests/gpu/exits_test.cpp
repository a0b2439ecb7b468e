// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Ends of a process whose GPU is recorded: what it did until then is there.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "gpu/session_test.hpp"

#ifdef VARVE_WITH_TOOL
#include <varve/io.hpp>
#endif

namespace varve_gpu {
namespace {

class gpu_exits : public on_gpu {
 protected:
  /// Of the build, wherever it lies: from this program's folder on.
  static std::string program(const char* path = "gpu_exits") {
    return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / path).string();
  }
  static int exit_code_of(const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(gpu_exits, before_which_a_session_that_started_before_cuda_has_its_last_kernels) {
  EXPECT_EQ(exit_code_of(program() + " exit session"), 0);
}

#ifdef VARVE_WITH_TOOL
TEST_F(gpu_exits, of_an_engine_under_varve_run_lose_no_kernels) {
  const std::string file = testing::TempDir() + "gpu_exits." + std::to_string(::getpid()) + ".json";
  for (const char* const way : {"exit", "_exit", "abort"}) {
    SCOPED_TRACE(way);
    static_cast<void>(exit_code_of(program("../../src/cli/varve") + " run --json " + file + " -- " +
                                   program() + ' ' + way + " >/dev/null 2>&1"));
    const varve::report r = varve::read_report(file);
    EXPECT_EQ(kernels_by_layer(r)[0], 20) << varve::to_table(r);
    EXPECT_EQ(r.quality.unmatched, 0);
    std::filesystem::remove(file);
  }
}
#endif

}  // namespace
}  // namespace varve_gpu

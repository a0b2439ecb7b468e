// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces that others recorded, written by varve and read back.
#include "formats/chrome_traces.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace {

TEST_F(chrome_traces, recorded_on_real_gpus_come_back) {
  if (!std::filesystem::exists(VARVE_REAL_DATA)) {
    GTEST_SKIP() << "there are no real traces in " VARVE_REAL_DATA;
  }
  std::size_t traces = 0;
  for (const auto& entry : std::filesystem::directory_iterator{VARVE_REAL_DATA}) {
    const std::string file = entry.path().string();
    if (file.ends_with(".pt.trace.json.gz")) {
      SCOPED_TRACE(file);
      comes_back(read(file));
      ++traces;
    }
  }
  EXPECT_GE(traces, 5U);
}

}  // namespace

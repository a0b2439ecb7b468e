// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A program that has no cuBLAS; then one that a plugin brings for itself alone, as Python's modules do.
#include <varve/varve.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>

#include "cublas/prototypes.hpp"

namespace {

constexpr float one = 1;

int multiply() {
  return cublasSgemm_v2(nullptr, 0, 0, 1, 1, 1, &one, nullptr, 1, nullptr, 1, &one, nullptr, 1);
}

TEST(cublas_missing, is_not_initialized_until_a_plugin_brings_it) {
  varve::session_options options;
  options.gpu.enabled = false;
  varve::session session{options};
  const varve::phase pass{varve::decode};
  EXPECT_EQ(multiply(), 1);  // CUBLAS_STATUS_NOT_INITIALIZED
  cublasSgemm('n', 'n', 1, 1, 1, 1, nullptr, 1, nullptr, 1, 0, nullptr, 1);
  const float beta = 0;
  const auto matmul = [&] {
    return cublasLtMatmul(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &beta, nullptr,
                          nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr);
  };
  EXPECT_EQ(matmul(), 1);
  EXPECT_TRUE(session.snapshot().works.empty());

  void* const plugin = ::dlopen(VARVE_STANDIN_CUBLASLT, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(plugin, nullptr) << ::dlerror();
  EXPECT_EQ(multiply(), 0);
  EXPECT_EQ(session.snapshot().works.size(), 1U);
  EXPECT_EQ(matmul(), 0);  // of no description: nothing is told, and it is counted
  ::dlclose(plugin);
  EXPECT_EQ(multiply(), 0);  // what is called stays
}

}  // namespace

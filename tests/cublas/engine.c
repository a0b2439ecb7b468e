/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors
 *
 * An engine that marks a pass and its layer for NVTX tools, and multiplies in it: itself, or in a plugin that
 * nobody else sees the libraries of.
 */
#include <nvtx3/nvToolsExt.h>

#include <dlfcn.h>
#include <stdio.h>

#if defined(VARVE_PLUGIN)
static int (*find_multiply(void))(int) {
  void* const plugin = dlopen(VARVE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  int (*multiply)(int) = 0;
  if (plugin == 0) {
    fprintf(stderr, "%s\n", dlerror());
    return 0;
  }
  *(void**)&multiply = dlsym(plugin, "multiply");
  return multiply;
}
#else
int multiply(int m);
static int (*find_multiply(void))(int) { return multiply; }
#endif

int main(void) {
  int (*const product)(int) = find_multiply();
  if (product == 0) {
    return 2;
  }
  nvtxRangePushA("decode");
  nvtxRangePushA("layer_0");
  const int failed = product(2) | product(3);
  nvtxRangePop();
  nvtxRangePop();
  return failed;
}

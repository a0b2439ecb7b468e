/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors
 *
 * A program that is linked with the cuBLAS of the toolkit, whose functions have versions, and that runs with
 * ours loaded first: exits with 0 where ours are called all the same. Of functions without a handle a product
 * is told even where it fails, as without a GPU.
 */
#include <varve/varve.h>

#include <dlfcn.h>

void cublasSgemm(char transa, char transb, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc);

static int64_t flops;
static void note(const varve_work_t* work) { flops += work->flops; }

int main(void) {
  static const uint32_t state = VARVE_STATE_RECORDING;
  void (*record)(const uint32_t*, void (*)(const varve_work_t*)) = 0;
  *(void**)&record = dlsym(RTLD_DEFAULT, "varve_cublas_record_");
  if (record == 0) {
    return 2;
  }
  record(&state, note);
  cublasSgemm('n', 'n', 3, 5, 7, 1, 0, 3, 0, 7, 0, 0, 3);
  return flops == 2 * 3 * 5 * 7 ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors
 *
 * The part of an engine that has cuBLAS: a product of 2·m·4·8 FLOPs.
 */
int cublasSgemm_v2(void* handle, int transa, int transb, int m, int n, int k, const float* alpha,
                   const float* a, int lda, const float* b, int ldb, const float* beta, float* c, int ldc);

__attribute__((visibility("default"))) int multiply(int m);
int multiply(int m) {
  const float one = 1;
  const float zero = 0;
  return cublasSgemm_v2(0, 0, 0, m, 4, 8, &one, 0, m, 0, 8, &zero, 0, m);
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors
 *
 * All that varve.h has for C, in one mixed pass of two threads. Compiled as c_markers_on and, with
 * VARVE_DISABLE, as c_markers_off.
 */
#include "c_markers.h"

#include <pthread.h>
#include <varve/varve.h>

struct job {
  varve_handoff_t from;
  varve_request request;
};

static void* work_for_another(void* data) {
  const struct job* job = data;
  varve_work_t work = {100, 20, 3, 4, VARVE_MATH_BF16_TENSOR};
  varve_range adopted = varve_adopt(&job->from);
  varve_end(varve_op_begin("copy", 5));
  varve_declare(adopted, work);
  varve_end(adopted);
  varve_end(varve_op_begin("outside", VARVE_NO_INDEX));
  varve_request_end(job->request);
  return NULL;
}

int C_MARKERS(void) {
  const varve_sequence_tokens prompts[] = {{3, 3}, {2, 10}};
  const varve_sequence_tokens step_of_one = {1, 100};
  struct job job;
  pthread_t other;
  varve_range pass;
  varve_range layer;

  job.request = varve_request_begin("chat", 7);
  pass = varve_phase_begin(VARVE_MIXED);
  varve_serves(pass, job.request);
  layer = varve_layer_begin("attention", 0);
  layer = varve_next(layer, "mlp", 0);
  layer = varve_next(layer, "expert", 70000);
  varve_here(&job.from);
  if (pthread_create(&other, NULL, work_for_another, &job) != 0 || pthread_join(other, NULL) != 0) {
    return 1;
  }
  varve_end(layer);
  varve_end(pass);
  varve_set_prefill_batch(pass, prompts, 2);
  varve_set_decode_batch(pass, &step_of_one, 1);
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors
 *
 * An engine in C: one prefill and three decode passes of two layers. Leaves its report in the file argv[1].
 */
#include <stdio.h>
#include <varve/varve.h>

#if __STDC_VERSION__ != 201710L
#error "to be compiled as C17"
#endif

static void run_pass(const char* kind, int64_t tokens, const varve_label_t* mlp, varve_request request) {
  varve_range pass = varve_phase_begin(kind);
  int i;
  varve_set_model(pass, "target");
  varve_stream(pass, NULL);
  varve_serves(pass, request);
  for (i = 0; i < 2; ++i) {
    varve_range attention = varve_layer_begin("attention", i);
    varve_range rope = varve_op_begin("rope", VARVE_NO_INDEX);
    varve_end(rope);
    varve_end(varve_next(attention, mlp[i].name, mlp[i].index));
  }
  varve_end(pass);
  varve_set(pass, kind[0] == 'p' ? VARVE_PREFILL_TOKENS : VARVE_DECODE_TOKENS, tokens);
}

int main(int argc, char** argv) {
  char why[256] = "";
  varve_label_t mlp[2];
  varve_request chat;
  int i;
  if (argc != 2) {
    return 2;
  }
  mlp[0] = varve_label("mlp", 0);
  mlp[1] = varve_label_parse("mlp-1");
  if (varve_session_start(why, sizeof why) != 0) {
    fprintf(stderr, "start: %s\n", why);
    return 1;
  }
  if (varve_session_start(why, sizeof why) == 0 || why[0] == '\0') {
    fprintf(stderr, "a second session was not refused with a reason\n");
    return 1;
  }
  chat = varve_request_begin("chat", 1);
  run_pass(VARVE_PREFILL, 512, mlp, chat);
  for (i = 0; i < 3; ++i) {
    run_pass(VARVE_DECODE, 16, mlp, chat);
  }
  varve_request_end(chat);
  if (varve_session_stop(argv[1], why, sizeof why) != 0) {
    fprintf(stderr, "stop: %s\n", why);
    return 1;
  }
  if (varve_session_stop(argv[1], why, sizeof why) == 0 || why[0] == '\0') {
    fprintf(stderr, "stopping what does not run was not refused with a reason\n");
    return 1;
  }
  return 0;
}

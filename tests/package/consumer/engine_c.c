/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors */
#include <stdio.h>
#include <varve/varve.h>

int main(void) {
  char why[256];
  varve_range pass;
  if (varve_version() != VARVE_VERSION) {
    fprintf(stderr, "headers are %d, the library is %d\n", VARVE_VERSION, varve_version());
    return 1;
  }
  if (varve_session_start(why, sizeof why) != 0) {
    fprintf(stderr, "start: %s\n", why);
    return 1;
  }
  pass = varve_phase_begin(VARVE_DECODE);
  varve_end(varve_layer_begin("attention", 3));
  varve_end(pass);
  if (varve_session_stop("-", why, sizeof why) != 0) {
    fprintf(stderr, "stop: %s\n", why);
    return 1;
  }
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors
 *
 * An engine in C with varve's markers: a toy network that makes one token after another on the calling
 * thread. What the markers time here is the host; on a GPU the layers would launch kernels.
 *
 *     engine_c [FILE]    runs and leaves the report in FILE, by default on standard output
 */
#include <varve/varve.h>

#include <stdio.h>

enum { width = 128, layers = 4, prompt = 16, tokens = 8 };

struct network {
  float mix[layers][width][width];
  float feed[layers][width][width];
};

static struct network net;
static float state[width];

static void fill(float matrix[width][width], unsigned seed) {
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      seed = seed * 1664525U + 1013904223U;
      matrix[i][j] = ((float)(seed >> 16) / 32768.0F - 1.0F) / 8.0F;
    }
  }
}

/* state += weights * state, kept within bounds. */
static void apply(float weights[width][width]) {
  float result[width];
  for (int i = 0; i < width; ++i) {
    result[i] = state[i];
    for (int j = 0; j < width; ++j) {
      result[i] += weights[i][j] * state[j];
    }
  }
  for (int i = 0; i < width; ++i) {
    const float magnitude = result[i] < 0 ? -result[i] : result[i];
    state[i] = result[i] / (1.0F + magnitude);
  }
}

/* One token through all layers: the token that follows. */
static int forward(int token) {
  const varve_work_t product = {INT64_C(2) * width * width, INT64_C(1) * width * width * (int)sizeof(float),
                                0, INT64_C(2) * width * (int)sizeof(float), VARVE_MATH_FP32};
  state[token] += 1.0F;
  for (int i = 0; i < layers; ++i) {
    varve_range mix = varve_layer_begin("mix", i);
    varve_declare(mix, product);
    apply(net.mix[i]);
    varve_end(mix);

    varve_range feed = varve_layer_begin("feed", i);
    varve_declare(feed, product);
    apply(net.feed[i]);
    varve_end(feed);
  }
  int best = 0;
  for (int i = 1; i < width; ++i) {
    best = state[i] > state[best] ? i : best;
  }
  return best;
}

static void generate(void) {
  int token = 1;

  varve_range prefill = varve_phase_begin(VARVE_PREFILL);
  varve_set(prefill, VARVE_PREFILL_TOKENS, prompt);
  varve_set(prefill, VARVE_PREFILL_SEQUENCES, 1);
  varve_set(prefill, VARVE_EMITTED_TOKENS, 1);
  for (int i = 0; i < prompt; ++i) {
    token = forward(i);
  }
  varve_end(prefill);

  for (int step = 1; step < tokens; ++step) {
    varve_range decode = varve_phase_begin(VARVE_DECODE);
    varve_set(decode, VARVE_DECODE_TOKENS, 1);
    varve_set(decode, VARVE_DECODE_SEQUENCES, 1);
    varve_set(decode, VARVE_EMITTED_TOKENS, 1);
    token = forward(token);
    varve_end(decode);
  }
}

int main(int argc, char** argv) {
  char why[256];
  for (int i = 0; i < layers; ++i) {
    fill(net.mix[i], (unsigned)i);
    fill(net.feed[i], (unsigned)(i + layers));
  }
  if (varve_session_start(why, sizeof why) != 0) {
    fprintf(stderr, "engine_c: %s\n", why);
    return 1;
  }
  generate();
  if (varve_session_stop(argc > 1 ? argv[1] : "-", why, sizeof why) != 0) {
    fprintf(stderr, "engine_c: %s\n", why);
    return 1;
  }
  return 0;
}

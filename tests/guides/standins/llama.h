/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors
 *
 * Of llama.cpp what docs/guides/ggml.md uses. */
#ifndef VARVE_TESTS_GUIDES_LLAMA_H
#define VARVE_TESTS_GUIDES_LLAMA_H

#include <stdint.h>

struct llama_context;
struct llama_batch {
  int32_t n_tokens;
};

extern "C" int32_t llama_decode(llama_context* ctx, llama_batch batch);

#endif /* VARVE_TESTS_GUIDES_LLAMA_H */

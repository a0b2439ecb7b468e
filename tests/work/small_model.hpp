// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A model small enough to count by hand.
#ifndef VARVE_TESTS_WORK_SMALL_MODEL_HPP
#define VARVE_TESTS_WORK_SMALL_MODEL_HPP

#include <varve/model.hpp>

namespace varve_test {

/// Width 8, 2 heads of 4 that share one key-value head, a gated block of 16, 32 words.
inline varve::model small() {
  varve::model m;
  m.width = 8;
  m.vocabulary = 32;
  varve::model_layer layer;
  layer.attention.heads = {2, 1, 4, 4};
  layer.mlp.width = 16;
  m.layers.assign(2, layer);
  return m;
}

}  // namespace varve_test

#endif  // VARVE_TESTS_WORK_SMALL_MODEL_HPP

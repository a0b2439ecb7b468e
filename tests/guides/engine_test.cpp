// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What docs/guides/engine.md leaves to the engine. Its graphs are not replayed but run: the host's device has
// none.
#include "device.hpp"
#include "engine_guide.hpp"

void engine::norm(int /*layer*/) { launch("rms_norm"); }
void engine::attention(int /*layer*/) { launch("attention"); }
void engine::mlp(int /*layer*/) { launch("gemm"); }
void engine::head() { launch("gemm"); }
void engine::capture(int /*sequences*/) { forward(); }
void engine::replay(int /*sequences*/) { forward(); }

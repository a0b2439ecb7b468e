// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cublas/recorder.hpp"

namespace varve::cublas {

recorder the_recorder{{&varve_state_}, {&varve_declare_here_}};

}  // namespace varve::cublas

/// What is preloaded leaves the work to this library where it finds this.
extern "C" __attribute__((visibility("default"))) const int varve_cublas_is_linked_ = 1;

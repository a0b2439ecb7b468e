// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a session's stop calls of the CUDA driver: a library under its SONAME, for programs that link it.
#ifndef VARVE_TESTS_CUDA_FAKE_DRIVER_HPP
#define VARVE_TESTS_CUDA_FAKE_DRIVER_HPP

#include <functional>

namespace fake_driver {

/// The calling thread's context, of device 0, below what is pushed; null: none.
__attribute__((visibility("default"))) void set_current(void* context);

/// Run by cuCtxSynchronize, with the context that is current.
__attribute__((visibility("default"))) void on_synchronize(std::function<void(void* context)> hook);

/// A capture is under way that nobody has told of: cuCtxSynchronize returns an error (900), and breaks the
/// capture, in whatever mode. Of a blocking stream the legacy stream tells.
__attribute__((visibility("default"))) void capture(bool under_way, bool blocking = true);
__attribute__((visibility("default"))) bool capture_broken();
/// One in another context: cuCtxSynchronize is nothing to it.
__attribute__((visibility("default"))) void capture_elsewhere(bool under_way);
/// A call that may not be made beside a capture: breaks it unless its thread is in the relaxed capture mode.
__attribute__((visibility("default"))) void touch();

/// As when its own exit function has run: cuCtxSynchronize returns an error (4) from now on.
__attribute__((visibility("default"))) void end();

}  // namespace fake_driver

#endif  // VARVE_TESTS_CUDA_FAKE_DRIVER_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Drives the stand-in libcuda: streams on a simulated clock, as far as timing by events goes. What it does is
// what CUDA's documentation says of these functions.
//
// State is the process's; tests call reset() between them, with no other thread in a call. Current contexts,
// capture modes and the clock's hook apart, all may be called from any thread.
#ifndef VARVE_TESTS_STANDIN_CUDA_CONTROL_HPP
#define VARVE_TESTS_STANDIN_CUDA_CONTROL_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#define STANDIN_EXPORT __attribute__((visibility("default")))

namespace standin_cuda {

/// Back to a fresh process in which CUDA is not initialised, at time 1,000,000.
STANDIN_EXPORT void reset();

// ---- the clock of host and devices ----
STANDIN_EXPORT std::uint64_t now() noexcept;  ///< nanoseconds
STANDIN_EXPORT void advance(std::uint64_t nanoseconds);
/// null: the simulated clock again.
STANDIN_EXPORT void use_clock(std::uint64_t (*nanoseconds)() noexcept);

// ---- what an engine does ----
using handle = void*;
STANDIN_EXPORT handle create_context(int device = 0);  ///< and makes it this thread's; initialises CUDA
/// The same at the address of one that is gone.
STANDIN_EXPORT void create_context_again(handle context, int device = 0);
STANDIN_EXPORT void destroy_context(handle context);
STANDIN_EXPORT void set_current(handle context);  ///< of this thread
STANDIN_EXPORT handle create_stream(bool blocking = true);
STANDIN_EXPORT void destroy_stream(handle stream);
/// `busy` nanoseconds of work, behind what the stream does already. null: the legacy stream.
STANDIN_EXPORT void launch(handle stream, std::uint64_t busy);
/// `mode`: 0 global, 1 of the thread, 2 relaxed.
STANDIN_EXPORT void begin_capture(handle stream, int mode = 0);
STANDIN_EXPORT void end_capture(handle stream);
/// Events recorded from now on are not done before release_events().
STANDIN_EXPORT void hold_events();
STANDIN_EXPORT void release_events();
/// Run where cuDeviceGetCount begins, with nothing of the stand-in's locked; null: nothing.
STANDIN_EXPORT void on_device_count(std::function<void()> hook);
/// Run in the initialisation of CUDA, on its thread: who asks for devices there waits for itself, which is a
/// misuse. null: nothing.
STANDIN_EXPORT void on_initialise(std::function<void()> hook);

// ---- faults ----
/// Calls of `function` ("cuEventRecord") return `code`, once `after` more have worked; 0: they work again.
STANDIN_EXPORT void fail(std::string_view function, int code, std::size_t after = 0);
/// What cuEventElapsedTime says instead of the truth; null: the truth.
STANDIN_EXPORT void say_elapsed(std::function<float()> milliseconds);

// ---- inspection ----
STANDIN_EXPORT std::size_t calls();  ///< of all functions that it exports
STANDIN_EXPORT std::size_t calls(std::string_view function);
STANDIN_EXPORT std::size_t events_alive();
STANDIN_EXPORT std::size_t streams_alive();
/// Synchronising calls, events in captures, calls that break another thread's capture, handles that are gone
/// or of another context: in words. None is right.
STANDIN_EXPORT std::vector<std::string> misuses();

}  // namespace standin_cuda

#endif  // VARVE_TESTS_STANDIN_CUDA_CONTROL_HPP

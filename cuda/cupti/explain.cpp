// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/explain.hpp"

#include <algorithm>
#include <iterator>

namespace varve::cupti {

namespace {

struct reason {
  result code;
  const char* cause_and_step;
};

constexpr const char* report_it = "please report it, with the versions of CUDA and of the driver";

constexpr reason reasons[] = {
    {result::invalid_device,
     "the device is not one that CUPTI knows: check that it is visible (nvidia-smi, "
     "CUDA_VISIBLE_DEVICES)"},
    {result::invalid_context,
     "no CUDA context is current, or it was destroyed: stop the session before the "
     "engine shuts down CUDA"},
    {result::out_of_memory,
     "there is no memory left for CUPTI's buffers: leave it some on host and device, or "
     "make the collector's buffers smaller"},
    {result::hardware,
     "the device reports a fault: look at the system's log for messages of the driver (Xid)"},
    {result::api_not_implemented, "this libcupti does not have the function: use one of a newer CUDA"},
    {result::not_ready, "CUPTI is not ready: start the session after the engine has initialised CUDA"},
    {result::not_compatible,
     "another use of CUPTI in this process excludes this one: use one profiler at a "
     "time"},
    {result::not_initialized,
     "CUPTI could not initialise, most often since the driver is older than the CUDA "
     "that libcupti comes from: update the driver, or name the libcupti of an older CUDA"},
    {result::disabled,
     "CUPTI was disabled in this process, by another tool or by the environment: start the "
     "engine without that tool"},
    {result::hardware_busy, "another process uses the device's counters: stop it and try again"},
    {result::not_supported, "the device or its driver does not support this"},
    {result::cdp_tracing_not_supported, "kernels that launch kernels cannot be traced here"},
    {result::virtualized_device_not_supported,
     "a virtual GPU does not support tracing: ask the host's "
     "administrator to enable profiling of the vGPU, or use a whole "
     "device"},
    {result::cuda_compiler_not_compatible,
     "the engine's kernels were built by a compiler that this libcupti "
     "does not know: name the libcupti of the CUDA that the engine was "
     "built with"},
    {result::insufficient_privileges,
     "this user may not use the device's counters: run as root or with "
     "CAP_SYS_ADMIN, or have the administrator load the driver with "
     "NVreg_RestrictProfilingToAdminUsers=0"},
    {result::old_profiler_api_initialized,
     "an older profiling interface is in use in this process: use one "
     "profiler at a time"},
    {result::legacy_profiler_not_supported,
     "the device is too new for the profiling interface that was asked "
     "for: use a libcupti of a newer CUDA"},
    {result::multiple_subscribers_not_supported,
     "another profiler holds CUPTI in this process (Nsight Systems "
     "or Compute, the PyTorch profiler, a debugger, "
     "compute-sanitizer): run without it"},
    {result::virtualized_device_insufficient_privileges,
     "this virtual GPU may not be profiled: have the "
     "host's administrator enable profiling of the vGPU"},
    {result::confidential_computing_not_supported,
     "the device runs in confidential-computing mode, which "
     "forbids tracing: use a device in another mode"},
    {result::cmp_device_not_supported, "mining processors (CMP) cannot be traced: use another device"},
    {result::mig_device_not_supported,
     "an instance of a partitioned device (MIG) does not support this: use a "
     "whole device"},
    {result::sli_device_not_supported, "devices joined by SLI do not support this: turn SLI off"},
    {result::wsl_device_not_supported,
     "the Windows Subsystem for Linux does not support this here: use Linux "
     "itself"},
    {result::unknown,
     "most often there is no NVIDIA driver or no GPU in reach: check nvidia-smi, and in a "
     "container that the GPU is passed in"},
};

}  // namespace

std::string explain(result code, const char* call) {
  if (code == result::success) {
    return {};
  }
  const auto* const known =
      std::find_if(std::begin(reasons), std::end(reasons), [&](const reason& r) { return r.code == code; });
  const char* const text = known != std::end(reasons) ? known->cause_and_step : report_it;
  return std::string{call} + ": CUPTI error " + std::to_string(static_cast<std::uint32_t>(code)) + ": " +
         text;
}

}  // namespace varve::cupti

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "counters/library.hpp"

#include "cupti/library.hpp"

#include <dlfcn.h>

namespace varve::counters {

load_result load(const std::string& path) {
  load_result out;
  const cupti::load_result found = cupti::load(path);
  if (found.loaded == nullptr) {
    out.error = found.error;
    return out;
  }
  out.version = found.loaded->version;
  void* const handle = ::dlopen(found.loaded->path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  const char* missing = handle == nullptr ? "functions" : nullptr;
  const auto find = [&](const char* name, auto& to) {
    using function = std::remove_reference_t<decltype(to)>;
    to = handle != nullptr ? reinterpret_cast<function>(::dlsym(handle, name)) : nullptr;
    missing = to == nullptr && missing == nullptr ? name : missing;
  };
  functions& call = out.call;
  call.availability = handle != nullptr ? reinterpret_cast<decltype(call.availability)>(
                                              ::dlsym(handle, "cuptiProfilerGetCounterAvailability"))
                                        : nullptr;
  find("cuptiProfilerInitialize", call.initialize);
  find("cuptiDeviceGetChipName", call.chip_name);
  find("cuptiProfilerHostInitialize", call.host_initialize);
  find("cuptiProfilerHostDeinitialize", call.host_deinitialize);
  find("cuptiProfilerHostGetBaseMetrics", call.base_metrics);
  find("cuptiProfilerHostConfigAddMetrics", call.add_metrics);
  find("cuptiProfilerHostGetConfigImageSize", call.config_size);
  find("cuptiProfilerHostGetConfigImage", call.config);
  find("cuptiProfilerHostGetNumOfPasses", call.passes);
  find("cuptiProfilerHostEvaluateToGpuValues", call.evaluate);
  find("cuptiRangeProfilerEnable", call.enable);
  find("cuptiRangeProfilerDisable", call.disable);
  find("cuptiRangeProfilerSetConfig", call.set_config);
  find("cuptiRangeProfilerStart", call.start);
  find("cuptiRangeProfilerStop", call.stop);
  find("cuptiRangeProfilerPushRange", call.push);
  find("cuptiRangeProfilerPopRange", call.pop);
  find("cuptiRangeProfilerDecodeData", call.decode);
  find("cuptiRangeProfilerGetCounterDataSize", call.image_size);
  find("cuptiRangeProfilerCounterDataImageInitialize", call.image_initialize);
  find("cuptiRangeProfilerGetCounterDataInfo", call.image_info);
  find("cuptiRangeProfilerCounterDataGetRangeInfo", call.range_info);
  if (missing != nullptr) {
    out.error = found.loaded->path + " (CUDA " + cupti::version_text(out.version) + ") has no " + missing +
                ": counting takes a libcupti of CUDA 12.6 or later; name one in gpu_options::cupti_library";
  }
  return out;
}

}  // namespace varve::counters

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Our declarations of CUPTI's profilers against the toolkit's headers: checked while this compiles.
#include "counters/abi.hpp"

#if __has_include(<cupti_range_profiler.h>)
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstddef>

namespace {

using namespace varve::counters;

static_assert(range_profiler == CUPTI_PROFILER_TYPE_RANGE_PROFILER);
static_assert(metric_counter == CUPTI_METRIC_TYPE_COUNTER);
static_assert(user_range == CUPTI_UserRange);
static_assert(user_replay == CUPTI_UserReplay);

// The size that CUPTI reads, and the place of each member that is not where the one before ends.
#define VARVE_SIZE(ours, theirs) static_assert(ours::bytes() == theirs##_STRUCT_SIZE)
// Of what has grown since: up to the last member that we know.
#define VARVE_SIZE_TO(ours, theirs, last) \
  static_assert(ours::bytes() == offsetof(theirs, last) + sizeof(theirs::last))
#define VARVE_PLACE(ours, member, theirs, their_member)                    \
  static_assert(offsetof(ours, member) == offsetof(theirs, their_member)); \
  static_assert(sizeof(ours::member) == sizeof(theirs::their_member))

VARVE_SIZE(initialize_params, CUpti_Profiler_Initialize_Params);

VARVE_SIZE(chip_name_params, CUpti_Device_GetChipName_Params);
VARVE_PLACE(chip_name_params, device, CUpti_Device_GetChipName_Params, deviceIndex);
VARVE_PLACE(chip_name_params, name, CUpti_Device_GetChipName_Params, pChipName);

VARVE_SIZE_TO(availability_params, CUpti_Profiler_GetCounterAvailability_Params, pCounterAvailabilityImage);
VARVE_PLACE(availability_params, context, CUpti_Profiler_GetCounterAvailability_Params, ctx);
VARVE_PLACE(availability_params, image_size, CUpti_Profiler_GetCounterAvailability_Params,
            counterAvailabilityImageSize);
VARVE_PLACE(availability_params, image, CUpti_Profiler_GetCounterAvailability_Params,
            pCounterAvailabilityImage);

VARVE_SIZE_TO(host_initialize_params, CUpti_Profiler_Host_Initialize_Params, pHostObject);
VARVE_PLACE(host_initialize_params, profiler_type, CUpti_Profiler_Host_Initialize_Params, profilerType);
VARVE_PLACE(host_initialize_params, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
VARVE_PLACE(host_initialize_params, availability, CUpti_Profiler_Host_Initialize_Params,
            pCounterAvailabilityImage);
VARVE_PLACE(host_initialize_params, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);

VARVE_SIZE(host_deinitialize_params, CUpti_Profiler_Host_Deinitialize_Params);

VARVE_SIZE(base_metrics_params, CUpti_Profiler_Host_GetBaseMetrics_Params);
VARVE_PLACE(base_metrics_params, host, CUpti_Profiler_Host_GetBaseMetrics_Params, pHostObject);
VARVE_PLACE(base_metrics_params, metric_type, CUpti_Profiler_Host_GetBaseMetrics_Params, metricType);
VARVE_PLACE(base_metrics_params, names, CUpti_Profiler_Host_GetBaseMetrics_Params, ppMetricNames);
VARVE_PLACE(base_metrics_params, count, CUpti_Profiler_Host_GetBaseMetrics_Params, numMetrics);

VARVE_SIZE(add_metrics_params, CUpti_Profiler_Host_ConfigAddMetrics_Params);
VARVE_PLACE(add_metrics_params, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);

VARVE_SIZE(config_size_params, CUpti_Profiler_Host_GetConfigImageSize_Params);
VARVE_SIZE(config_params, CUpti_Profiler_Host_GetConfigImage_Params);
VARVE_PLACE(config_params, config, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);

VARVE_SIZE(passes_params, CUpti_Profiler_Host_GetNumOfPasses_Params);
VARVE_PLACE(passes_params, config_size, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
VARVE_PLACE(passes_params, config, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
VARVE_PLACE(passes_params, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);

VARVE_SIZE(evaluate_params, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
VARVE_PLACE(evaluate_params, image, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
VARVE_PLACE(evaluate_params, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
VARVE_PLACE(evaluate_params, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
VARVE_PLACE(evaluate_params, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
VARVE_PLACE(evaluate_params, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);

VARVE_SIZE(set_config_params, CUpti_RangeProfiler_SetConfig_Params);
VARVE_PLACE(set_config_params, config_size, CUpti_RangeProfiler_SetConfig_Params, configSize);
VARVE_PLACE(set_config_params, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
VARVE_PLACE(set_config_params, image_size, CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize);
VARVE_PLACE(set_config_params, image, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
VARVE_PLACE(set_config_params, range, CUpti_RangeProfiler_SetConfig_Params, range);
VARVE_PLACE(set_config_params, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
VARVE_PLACE(set_config_params, most_ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
VARVE_PLACE(set_config_params, nesting_levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
VARVE_PLACE(set_config_params, first_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
VARVE_PLACE(set_config_params, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
VARVE_PLACE(set_config_params, target_level, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);

VARVE_SIZE_TO(enable_params, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
VARVE_PLACE(enable_params, context, CUpti_RangeProfiler_Enable_Params, ctx);
VARVE_PLACE(enable_params, profiler, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
VARVE_SIZE(profiler_params, CUpti_RangeProfiler_Disable_Params);
VARVE_SIZE(profiler_params, CUpti_RangeProfiler_Start_Params);
VARVE_SIZE(profiler_params, CUpti_RangeProfiler_PopRange_Params);

VARVE_SIZE(stop_params, CUpti_RangeProfiler_Stop_Params);
VARVE_PLACE(stop_params, pass, CUpti_RangeProfiler_Stop_Params, passIndex);
VARVE_PLACE(stop_params, target_level, CUpti_RangeProfiler_Stop_Params, targetNestingLevel);
VARVE_PLACE(stop_params, all_passes, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);

VARVE_SIZE(push_params, CUpti_RangeProfiler_PushRange_Params);
VARVE_PLACE(push_params, name, CUpti_RangeProfiler_PushRange_Params, pRangeName);

VARVE_SIZE(decode_params, CUpti_RangeProfiler_DecodeData_Params);
VARVE_PLACE(decode_params, dropped, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);

VARVE_SIZE(image_size_params, CUpti_RangeProfiler_GetCounterDataSize_Params);
VARVE_PLACE(image_size_params, names, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
VARVE_PLACE(image_size_params, count, CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics);
VARVE_PLACE(image_size_params, most_ranges, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges);
VARVE_PLACE(image_size_params, most_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
            maxNumRangeTreeNodes);
VARVE_PLACE(image_size_params, image_size, CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);

VARVE_SIZE(image_params, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
VARVE_PLACE(image_params, image, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData);

VARVE_SIZE(image_info_params, CUpti_RangeProfiler_GetCounterDataInfo_Params);
VARVE_PLACE(image_info_params, image, CUpti_RangeProfiler_GetCounterDataInfo_Params, pCounterDataImage);
VARVE_PLACE(image_info_params, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges);

VARVE_SIZE(range_info_params, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
VARVE_PLACE(range_info_params, range, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeIndex);
VARVE_PLACE(range_info_params, delimiter, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params,
            rangeDelimiter);
VARVE_PLACE(range_info_params, name, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeName);

}  // namespace
#endif

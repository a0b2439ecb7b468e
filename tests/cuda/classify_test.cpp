// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/classify.hpp"

#include "formats/pytorch/classify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {

void PrintTo(call_kind kind, std::ostream* out) { *out << "call_kind " << static_cast<int>(kind); }

}  // namespace v0
}  // namespace varve

namespace {

using ::testing::IsEmpty;
using varve::call_kind;
using varve::cupti::classify;

struct expectation {
  const char* name;
  call_kind kind;
};

const expectation expectations[] = {
    // Every form of a launch, among them what nvcc 13.0 makes of <<<>>>.
    {"cudaLaunch_v3020", call_kind::launch},
    {"cudaLaunch_ptsz_v7000", call_kind::launch},
    {"cudaLaunchKernel_v7000", call_kind::launch},
    {"cudaLaunchKernel_ptsz_v7000", call_kind::launch},
    {"cudaLaunchCooperativeKernel_v9000", call_kind::launch},
    {"cudaLaunchCooperativeKernel_ptsz_v9000", call_kind::launch},
    {"cudaLaunchCooperativeKernelMultiDevice_v9000", call_kind::launch},
    {"cudaLaunchKernelExC_v11060", call_kind::launch},
    {"cudaLaunchKernelExC_ptsz_v11060", call_kind::launch},
    {"__cudaLaunchKernel_v13000", call_kind::launch},
    {"__cudaLaunchKernel_ptsz_v13000", call_kind::launch},
    {"cuLaunch", call_kind::launch},
    {"cuLaunchGrid", call_kind::launch},
    {"cuLaunchGridAsync", call_kind::launch},
    {"cuLaunchKernel", call_kind::launch},
    {"cuLaunchKernel_ptsz", call_kind::launch},
    {"cuLaunchKernelEx", call_kind::launch},
    {"cuLaunchKernelEx_ptsz", call_kind::launch},
    {"cuLaunchCooperativeKernel", call_kind::launch},
    {"cuLaunchCooperativeKernel_ptsz", call_kind::launch},
    {"cuLaunchCooperativeKernelMultiDevice", call_kind::launch},

    {"cudaGraphLaunch_v10000", call_kind::graph_launch},
    {"cudaGraphLaunch_ptsz_v10000", call_kind::graph_launch},
    {"cuGraphLaunch", call_kind::graph_launch},
    {"cuGraphLaunch_ptsz", call_kind::graph_launch},

    {"cudaMemcpy_v3020", call_kind::copy},
    {"cudaMemcpy_ptds_v7000", call_kind::copy},
    {"cudaMemcpyAsync_ptsz_v7000", call_kind::copy},
    {"cudaMemcpyToSymbol_v3020", call_kind::copy},
    {"cudaMemcpy3DPeerAsync_v4000", call_kind::copy},
    {"cudaMemcpyBatchAsync_v12080", call_kind::copy},
    {"cudaMemcpy3DBatchAsync_ptsz_v13000", call_kind::copy},
    {"cuMemcpyHtoDAsync_v2", call_kind::copy},
    {"cuMemcpyDtoD_v2_ptds", call_kind::copy},
    {"cuMemcpyBatchAsync_v2_ptsz", call_kind::copy},
    {"cu64MemcpyHtoD", call_kind::copy},
    {"cuMemPrefetchAsync_v2_ptsz", call_kind::copy},
    {"cudaMemPrefetchBatchAsync_v13000", call_kind::copy},
    {"cudaMemDiscardAndPrefetchBatchAsync_v13000", call_kind::copy},
    {"cuMemBatchDecompressAsync", call_kind::copy},

    {"cudaMemset_v3020", call_kind::set},
    {"cudaMemset2DAsync_ptsz_v7000", call_kind::set},
    {"cuMemsetD32Async_ptsz", call_kind::set},
    {"cuMemsetD2D8_v2_ptds", call_kind::set},

    {"cudaDeviceSynchronize_v3020", call_kind::synchronise},
    {"cudaStreamSynchronize_ptsz_v7000", call_kind::synchronise},
    {"cudaEventSynchronize_v3020", call_kind::synchronise},
    {"cuCtxSynchronize", call_kind::synchronise},
    {"cuCtxSynchronize_v2", call_kind::synchronise},
    {"cuStreamSynchronize", call_kind::synchronise},

    {"cudaMalloc_v3020", call_kind::allocate},
    {"cudaMallocPitch_v3020", call_kind::allocate},
    {"cudaMalloc3DArray_v3020", call_kind::allocate},
    {"cudaMallocHost_v3020", call_kind::allocate},
    {"cudaMallocManaged_v6000", call_kind::allocate},
    {"cudaMallocAsync_ptsz_v11020", call_kind::allocate},
    {"cudaMallocFromPoolAsync_v11020", call_kind::allocate},
    {"cudaFree_v3020", call_kind::allocate},
    {"cudaFreeAsync_v11020", call_kind::allocate},
    {"cudaHostAlloc_v3020", call_kind::allocate},
    {"cudaHostRegister_v4000", call_kind::allocate},
    {"cuMemAlloc_v2", call_kind::allocate},
    {"cuMemAllocHost_v2", call_kind::allocate},
    {"cuMemFreeAsync_ptsz", call_kind::allocate},
    {"cuMemHostAlloc_v2", call_kind::allocate},
    {"cuMemCreate", call_kind::allocate},
    {"cuMemMapArrayAsync_ptsz", call_kind::allocate},
    {"cudaMemPoolTrimTo_v11020", call_kind::allocate},
    {"cuMipmappedArrayCreate", call_kind::allocate},

    {"cudaStreamBeginCapture_v10000", call_kind::graph_build},
    {"cudaStreamBeginCaptureToGraph_ptsz_v12030", call_kind::graph_build},
    {"cuStreamBeginCapture_v2_ptsz", call_kind::graph_build},
    {"cudaStreamEndCapture_v10000", call_kind::graph_build},
    {"cudaGraphCreate_v10000", call_kind::graph_build},
    {"cudaGraphAddKernelNode_v10000", call_kind::graph_build},
    {"cudaGraphInstantiate_v12000", call_kind::graph_build},
    {"cudaGraphInstantiateWithFlags_v11040", call_kind::graph_build},
    {"cudaGraphExecUpdate_v10020", call_kind::graph_build},
    {"cuGraphExecKernelNodeSetParams_v2", call_kind::graph_build},
    {"cudaGraphKernelNodeGetParams_v10000", call_kind::graph_build},
    {"cudaGraphUpload_v10000", call_kind::graph_build},
    {"cuGraphDestroy", call_kind::graph_build},

    {"cudaEventCreateWithFlags_v3020", call_kind::event},
    {"cudaEventRecord_v3020", call_kind::event},
    {"cuEventRecordWithFlags_ptsz", call_kind::event},
    {"cudaStreamWaitEvent_ptsz_v7000", call_kind::event},
    {"cuStreamWaitValue32_v2_ptsz", call_kind::event},
    {"cuStreamWriteValue64", call_kind::event},
    {"cuStreamBatchMemOp_v2", call_kind::event},
    {"cuCtxRecordEvent", call_kind::event},
    {"cudaSignalExternalSemaphoresAsync_v11020", call_kind::event},

    {"cudaLaunchHostFunc_ptsz_v10000", call_kind::host_function},
    {"cuLaunchHostFunc", call_kind::host_function},
    {"cudaStreamAddCallback_v5000", call_kind::host_function},

    {"cudaEventQuery_v3020", call_kind::other},
    {"cuEventQuery", call_kind::other},
    {"cudaGetLastError_v3020", call_kind::other},
    {"cudaStreamQuery_v3020", call_kind::other},
    {"cudaStreamIsCapturing_ptsz_v10000", call_kind::other},
    {"__cudaPushCallConfiguration_v13000", call_kind::other},
    {"cudaGraphicsMapResources_v3020", call_kind::other},
    {"cuCtxPushCurrent_v2", call_kind::other},
    {"cudaMemGetInfo_v3020", call_kind::other},
};

TEST(classify_test, calls_are_of_the_kind_that_their_name_says) {
  for (const expectation& e : expectations) {
    EXPECT_EQ(classify(e.name), std::optional{e.kind}) << e.name;
  }
}

TEST(classify_test, what_is_not_known_is_not_ignored) {
  // The first four could be calls of a later CUDA; "Stream" alone and the suffix alone are no calls.
  for (const char* const name :
       {"cudaStreamTeleport_v14000", "cuFrobnicate", "cudaInitLater_v14000", "cuMemo", "cudaStream", "cu",
        "cuda_v3020", "INVALID", "", "memcpy", "hipMemcpy"}) {
    EXPECT_EQ(classify(name), std::nullopt) << name;
  }
}

TEST(classify_test, what_belongs_to_no_version_is_part_of_the_name) {
  EXPECT_EQ(classify("cudaMalloc_v"), call_kind::allocate);  // by its beginning
  EXPECT_EQ(classify("cuInit_v2x"), std::nullopt);
  EXPECT_EQ(classify("cuInit_v"), std::nullopt);
  EXPECT_EQ(classify("cuInit_v2_ptsz_v13000"), call_kind::other);
}

/// Importers count polls of events, which are in the traces that they read, as what is done to events.
bool importers_agree_on(std::string_view name, std::optional<call_kind> kind) {
  const call_kind imported = varve::pytorch::kind_of_call(name);
  const bool polls = name.find("EventQuery") != std::string_view::npos;
  return imported == kind || imported == call_kind::other || (polls && imported == call_kind::event);
}

TEST(classify_test, importers_agree) {
  for (const expectation& e : expectations) {
    EXPECT_TRUE(importers_agree_on(e.name, e.kind)) << e.name;
  }
}

#if defined(VARVE_CBID_HEADERS)

// The names of all callback ids that a header of the toolkit lists.
std::vector<std::string> names_of(const char* api) {
  std::string file{api};
  std::transform(file.begin(), file.end(), file.begin(),
                 [](char c) { return static_cast<char>(c - 'A' + 'a'); });
  std::ifstream in{std::string{VARVE_CBID_HEADERS} + "/cupti_" + file + "_cbid.h"};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  const std::regex pattern{"CUPTI_" + std::string{api} + "_TRACE_CBID_(\\w+)"};
  std::vector<std::string> names;
  for (std::sregex_iterator match{text.begin(), text.end(), pattern}; match != std::sregex_iterator{};
       ++match) {
    const std::string name = (*match)[1];
    if (name != "INVALID" && name != "SIZE" && name != "FORCE_INT") {
      names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names = names_of("RUNTIME");
  EXPECT_GT(names.size(), 400U);
  const std::vector<std::string> driver = names_of("DRIVER");
  EXPECT_GT(driver.size(), 600U);
  names.insert(names.end(), driver.begin(), driver.end());
  return names;
}

TEST(classify_test, every_call_of_the_toolkit_is_classified) {
  std::vector<std::string> unlisted = all_names();
  unlisted.erase(std::remove_if(unlisted.begin(), unlisted.end(),
                                [](const std::string& name) { return classify(name).has_value(); }),
                 unlisted.end());
  EXPECT_THAT(unlisted, IsEmpty()) << "decide what each does, in cuda/cupti/classify.cpp";
}

TEST(classify_test, every_call_of_the_toolkit_is_of_one_kind_only) {
  for (const std::string& name : all_names()) {
    EXPECT_EQ(varve::cupti::kinds_that_fit(name), 1) << name;
  }
}

TEST(classify_test, importers_agree_on_every_call_of_the_toolkit) {
  std::vector<std::string> names = all_names();
  names.erase(
      std::remove_if(names.begin(), names.end(),
                     [](const std::string& name) { return importers_agree_on(name, classify(name)); }),
      names.end());
  EXPECT_THAT(names, IsEmpty());
}

TEST(classify_test, hand_picked_names_are_the_toolkits) {
  const std::vector<std::string> names = all_names();
  for (const expectation& e : expectations) {
    EXPECT_NE(std::find(names.begin(), names.end(), e.name), names.end()) << e.name;
  }
}

TEST(classify_test, every_ignored_entry_names_a_call) {
  const std::vector<std::string> names = all_names();
  for (std::string_view entry : varve::cupti::ignored_calls()) {
    const bool family = entry.ends_with('*');
    entry.remove_suffix(family ? 1 : 0);
    const std::regex pattern{"(__cuda|cuda|cu64|cu)" + std::string{entry} +
                             (family ? ".*" : "(_v[0-9]+|_ptsz|_ptds)*")};
    EXPECT_TRUE(std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return std::regex_match(name, pattern);
    })) << entry;
  }
}

#endif

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// One small trace for each way of writing that PyTorch 1.8 to 2.9, ROCm and XLA have had, each with the same
// step: one pass of 100 µs, in it a launch at 10 µs whose kernel runs from 20 to 25 µs on stream 7 of GPU 0.
#include "formats/input_files.hpp"

#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class pytorch_producers_test : public input_files {
 protected:
  varve::trace read(const std::string& json) { return varve::read_pytorch(write("t.json", json)); }
  static std::map<std::string, std::uint64_t> losses(const varve::trace& t) {
    std::map<std::string, std::uint64_t> out;
    for (const varve::loss& l : t.losses) {
      out[l.what] += l.count;
    }
    return out;
  }
  /// The step of the head of this file, all times later by `base` ns.
  static void expect_the_step(const varve::trace& t, varve::time_ns base = 0) {
    ASSERT_EQ(t.ranges.size(), 1U);
    EXPECT_EQ(t.ranges[0].kind, varve::range_kind::phase);
    EXPECT_EQ(varve::label_text(t, t.ranges[0].label), "ProfilerStep 3");
    EXPECT_EQ(t.ranges[0].begin, base);
    EXPECT_EQ(t.ranges[0].end, base + 100'000);
    expect_the_kernel(t, base);
    EXPECT_THAT(t.calls.range, ElementsAre(0U));
  }
  static void expect_the_kernel(const varve::trace& t, varve::time_ns base = 0) {
    EXPECT_THAT(t.calls.begin, ElementsAre(base + 10'000));
    EXPECT_THAT(t.calls.kind, ElementsAre(varve::call_kind::launch));
    EXPECT_THAT(t.activities.begin, ElementsAre(base + 20'000));
    EXPECT_THAT(t.activities.end, ElementsAre(base + 25'000));
    EXPECT_THAT(t.activities.kind, ElementsAre(varve::activity_kind::kernel));
    EXPECT_EQ(t.activities.correlation, t.calls.correlation);
    EXPECT_NE(t.calls.correlation.at(0), 0U);
    ASSERT_EQ(t.streams.size(), 1U);
    EXPECT_EQ(t.streams[0].device, 0U);
    EXPECT_EQ(t.streams[0].stream, 7U);
    EXPECT_THAT(t.losses, IsEmpty());
  }
};

TEST_F(pytorch_producers_test, reads_pytorch_1_8) {
  // Categories Operator, Runtime, Kernel; steps are operators; tids are texts; "external id" in small
  // letters; integer microseconds; a flow named "launch".
  const varve::trace t = read(
      R"json({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "Operator", "name": "ProfilerStep#3", "pid": 50, "tid": "50", "ts": 0, "dur": 100,
   "args": {"Device": 50, "External id": 1, "Extra arguments": "None", "Input dims": "[]", "Trace name": "",
            "Trace iteration": 0}},
  {"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 50, "tid": "50", "ts": 5, "dur": 20,
   "args": {"Device": 50, "External id": 2, "Input dims": "[[2, 3], [3, 4]]", "Input type": "('float',)"}},
  {"name": "process_name", "ph": "M", "ts": 0, "pid": 50, "tid": 0, "args": {"name": "python"}},
  {"name": "thread_name", "ph": "M", "ts": 0, "pid": 0, "tid": "stream 7", "args": {"name": "stream 7 "}},
  {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 50, "tid": "50", "ts": 10, "dur": 4,
   "args": {"cbid": 211, "correlation": 9, "external id": 2, "external ts": 5}},
  {"ph": "s", "id": 9, "pid": 50, "tid": "50", "ts": 10, "cat": "async", "name": "launch", "bp": "e"},
  {"ph": "X", "cat": "Kernel", "name": "sgemm", "pid": 0, "tid": "stream 7", "ts": 20, "dur": 5,
   "args": {"queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": 9, "external id": 2,
            "registers per thread": 64, "shared memory": 0, "warps per SM": 0.5, "grid": [1, 1, 1],
            "block": [64, 1, 1], "theoretical occupancy %": 50}},
  {"ph": "f", "id": 9, "pid": 0, "tid": "stream 7", "ts": 20, "cat": "async", "name": "launch", "bp": "e"},
  {"ph": "X", "cat": "Trace", "ts": 0, "dur": 100, "pid": "Traces", "tid": "PyTorch Profiler",
   "name": "PyTorch Profiler (0)", "args": {"Op count": 0}},
  {"name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g", "pid": "Traces",
   "tid": "Trace PyTorch Profiler", "ts": 0}
], "traceName": "t.json"})json");
  expect_the_step(t);
  EXPECT_THAT(t.shapes.at(t.activities.detail.at(0)).block, ElementsAre(64, 1, 1));
}

TEST_F(pytorch_producers_test, reads_pytorch_1_10_and_1_11) {
  // user_annotation has come, its copy on the GPU has a capital A and a row of its own; calls are Runtime,
  // then cuda_runtime; kernels are still Kernel, copies Memcpy.
  for (const char* const runtime : {"Runtime", "cuda_runtime"}) {
    const varve::trace t = read(
        R"json({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2}, "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 50, "tid": 50, "ts": 0, "dur": 100,
   "args": {"External id": 1, "Trace name": "PyTorch Profiler", "Trace iteration": 0}},
  {"ph": "X", "cat": "gpu_user_Annotation", "name": "ProfilerStep#3", "pid": 0, "tid": "stream 7 annotations",
   "ts": 19, "dur": 7, "args": {"External id": 1}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 50, "tid": 50, "ts": 5, "dur": 20,
   "args": {"External id": 2, "Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"],
            "Fwd thread id": 0, "Sequence number": 7}},
  {"ph": "X", "cat": ")json" +
        std::string{runtime} + R"json(", "name": "cudaLaunchKernel", "pid": 50, "tid": 50, "ts": 10, "dur": 4,
   "args": {"cbid": 211, "correlation": 9, "external id": 2, "external ts": 5}},
  {"ph": "X", "cat": "Kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 20, "dur": 5,
   "args": {"External id": 2, "device": 0, "context": 1, "stream": 7, "correlation": 9}},
  {"ph": "f", "id": 9, "pid": 0, "tid": 7, "ts": 20, "cat": "async_gpu", "name": "async_gpu", "bp": "e"}
]})json");
    expect_the_step(t);
  }
}

TEST_F(pytorch_producers_test, reads_pytorch_1_12_to_2_2) {
  // Today's categories; whole microseconds, durations perhaps as "5.0"; external ids equal correlations;
  // values without a number as bare words.
  const varve::trace t = read(
      R"json({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Tesla V100", "totalGlobalMem": 16,
          "computeMajor": 7, "computeMinor": 0, "numSms": 80}], "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 50, "tid": 50, "ts": 1661938466265000,
   "dur": 100, "args": {"Trace name": "PyTorch Profiler", "Trace iteration": 0, "External id": 1,
                        "Profiler Event Index": 0}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 50, "tid": 50, "ts": 1661938466265010,
   "dur": 4.0, "args": {"External id": 9, "cbid": 211, "correlation": 9}},
  {"ph": "s", "id": 9, "pid": 50, "tid": 50, "ts": 1661938466265010, "cat": "async_cpu_to_gpu", "name": "a"},
  {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 1661938466265020, "dur": 5.0,
   "args": {"External id": 9, "device": 0, "context": 1, "stream": 7, "correlation": 9,
            "blocks per SM": inf, "warps per SM": nan, "est. achieved occupancy %": -nan}},
  {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 1661938466265100}
], "traceName": "t.json"})json");
  expect_the_step(t, 1'661'938'466'265'000'000);
  EXPECT_EQ(t.clock_error, 1000);
}

TEST_F(pytorch_producers_test, reads_pytorch_2_4_to_2_9) {
  // Three decimals, relative to a base that stands behind the events or, since 2.8, before them.
  const std::string events = R"json("traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 50, "tid": 50, "ts": 1000.500,
   "dur": 100.000, "args": {"External id": 1, "Record function id": 0, "Ev Idx": 0}},
  {"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#3", "pid": 0, "tid": 7, "ts": 1020.499,
   "dur": 5.002, "args": {"External id": 1}},
  {"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernelEx", "pid": 50, "tid": 50, "ts": 1010.500,
   "dur": 4.125, "args": {"External id": 2, "cbid": 652, "correlation": 9}},
  {"ph": "s", "id": 9, "pid": 50, "tid": 50, "ts": 1010.500, "cat": "ac2g", "name": "ac2g"},
  {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 1020.500, "dur": 5.000,
   "args": {"External id": 2, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": 9}},
  {"ph": "f", "id": 9, "pid": 0, "tid": 7, "ts": 1020.500, "cat": "ac2g", "name": "ac2g", "bp": "e"},
  {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 7, "ts": 1030.000, "dur": 1.000,
   "args": {"cuda_sync_kind": "Stream Sync", "stream": 7, "correlation": 10, "device": 0, "context": 1}},
  {"ph": "X", "cat": "overhead", "name": "Lazy Function Loading", "pid": -1, "tid": 0, "ts": 1001.0, "dur": 1.0}
])json";
  const std::string base = R"("displayTimeUnit": "ms", "baseTimeNanoseconds": 1751410836000000000)";
  for (const std::string& text :
       {"{\"schemaVersion\": 1, " + base + ", " + events + "}", "{" + events + ", " + base + "}"}) {
    const varve::trace t = read(text);
    expect_the_step(t, 1'751'410'836'000'000'000 + 1'000'500);
    EXPECT_EQ(t.clock_error, 0);
  }
}

TEST_F(pytorch_producers_test, reads_rocm_eager) {
  // Roctracer: launches name their kernel, streams of calls are pointers, kernels have no grid.
  for (const char* const cat : {"cuda_runtime", "hip_runtime"}) {
    const varve::trace t = read(
        R"json({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 50, "tid": 50, "ts": 0.000, "dur": 100.000,
   "args": {"External id": 1}},
  {"ph": "X", "cat": ")json" +
        std::string{cat} +
        R"json(", "name": "hipExtModuleLaunchKernel", "pid": 50, "tid": 50, "ts": 10.000, "dur": 4.000,
   "args": {"External id": 2, "cid": 98, "correlation": 9, "kernel": "Cijk_Alik_Bljk", "grid": [64, 1, 1],
            "block": [256, 1, 1], "shared memory": 0, "stream": "0x55d0c8a3f2b0"}},
  {"ph": "X", "cat": "kernel", "name": "Cijk_Alik_Bljk", "pid": 0, "tid": 7, "ts": 20.000, "dur": 5.000,
   "args": {"External id": 2, "device": 0, "stream": 7, "correlation": 9, "kind": "Dispatch Kernel"}}
]})json");
    expect_the_step(t);
  }
}

TEST_F(pytorch_producers_test, reads_rocm_graphs_and_copies) {
  const varve::trace t = read(
      R"json({"traceEvents": [
  {"ph": "X", "cat": "cuda_runtime", "name": "hipGraphLaunch", "pid": 50, "tid": 50, "ts": 1, "dur": 4,
   "args": {"cid": 400, "correlation": 9}},
  {"ph": "X", "cat": "kernel", "name": "a", "pid": 2, "tid": 0, "ts": 20, "dur": 5,
   "args": {"device": 2, "stream": 0, "correlation": 9, "kind": "Dispatch Kernel", "hsa_queue": 1}},
  {"ph": "X", "cat": "kernel", "name": "b", "pid": 2, "tid": 0, "ts": 26, "dur": 5,
   "args": {"device": 2, "stream": 0, "correlation": 9, "kind": "Dispatch Kernel", "hsa_queue": 1}},
  {"ph": "X", "cat": "cuda_runtime", "name": "hipMemcpyAsync", "pid": 50, "tid": 50, "ts": 6, "dur": 4,
   "args": {"cid": 72, "correlation": 10, "src": "0x7f00", "dst": "0x7f80", "size": "4096", "kind": "DeviceToHost"}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "CopyDeviceToHost", "pid": 2, "tid": 0, "ts": 32, "dur": 1,
   "args": {"device": 2, "stream": 0, "correlation": 10, "kind": "DtoH", "bytes": 4096}}
]})json");
  EXPECT_THAT(t.calls.kind, ElementsAre(varve::call_kind::graph_launch, varve::call_kind::copy));
  EXPECT_THAT(t.activities.correlation, ElementsAre(9U, 9U, 10U));
  EXPECT_EQ(t.bytes.at(t.activities.detail.at(2)), 4096);
  ASSERT_EQ(t.devices.size(), 1U);
  EXPECT_EQ(t.devices[0].id, 2U);
  EXPECT_THAT(t.losses, IsEmpty());
}

// XLA: no categories, all arguments are texts, an empty object ends the list.
const std::string xla_names = R"json(
  {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}},
  {"ph": "M", "pid": 1, "name": "process_sort_index", "args": {"sort_index": 1}},
  {"ph": "M", "pid": 1, "tid": 13, "name": "thread_name", "args": {"name": "Stream #7(Kernel,MemcpyH2D)"}},
  {"ph": "M", "pid": 1, "tid": 13, "name": "thread_sort_index", "args": {"sort_index": 13}},
  {"ph": "M", "pid": 1, "tid": 90, "name": "thread_name", "args": {"name": "XLA Modules"}},
  {"ph": "M", "pid": 1, "tid": 91, "name": "thread_name", "args": {"name": "XLA Ops"}},
  {"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}},
  {"ph": "M", "pid": 701, "tid": 500, "name": "thread_name", "args": {"name": "python"}},)json";

TEST_F(pytorch_producers_test, reads_xla) {
  const varve::trace t =
      read(R"json({"displayTimeUnit": "ns", "metadata": {"highres-ticks": true}, "traceEvents": [)json" +
           xla_names +
           R"json(
  {"ph": "X", "pid": 701, "tid": 500, "ts": 9.5, "dur": 6, "name": "PjitFunction(f)"},
  {"ph": "X", "pid": 701, "tid": 500, "ts": 10, "dur": 4, "name": "loop_fusion", "args": {"correlation_id": "9",
   "context_id": "1", "device_id": "0"}},
  {"ph": "X", "pid": 1, "tid": 13, "ts": 20, "dur": 5, "name": "loop_fusion", "args": {"correlation_id": "9",
   "context_id": "$$1", "hlo_op": "loop_fusion.1", "hlo_module": "jit_f",
   "kernel_details": "regs:16 static_shared:0 dynamic_shared:32 grid:4,2,1 block:128,1,1 occ_pct:100"}},
  {"ph": "X", "pid": 1, "tid": 90, "ts": 20, "dur": 5, "name": "jit_f(123)"},
  {"ph": "X", "pid": 1, "tid": 91, "ts": 20, "dur": 5, "name": "loop_fusion.1", "args": {"hlo_op": "loop_fusion.1"}},
  {}]})json");
  expect_the_kernel(t);  // once: the other rows of the device repeat it
  EXPECT_EQ(t.threads.at(0).name, "python");
  const varve::launch_shape& shape = t.shapes.at(t.activities.detail.at(0));
  EXPECT_THAT(shape.grid, ElementsAre(4, 2, 1));
  EXPECT_THAT(shape.block, ElementsAre(128, 1, 1));
  EXPECT_EQ(shape.registers, 16U);
  EXPECT_EQ(shape.dynamic_shared_memory, 32U);
  EXPECT_EQ(t.clock, "XLA, whole microseconds");
  EXPECT_EQ(t.collectors.at(0).name, "xla");
}

TEST_F(pytorch_producers_test, reads_copies_and_sets_of_xla) {
  const varve::trace t = read(R"json({"traceEvents": [)json" + xla_names + R"json(
  {"ph": "X", "pid": 701, "tid": 500, "ts": 1, "dur": 1, "name": "MemcpyH2D", "args": {"correlation_id": "3"}},
  {"ph": "X", "pid": 701, "tid": 500, "ts": 3, "dur": 1, "name": "Memset 8", "args": {"correlation_id": "4"}},
  {"ph": "X", "pid": 701, "tid": 500, "ts": 5, "dur": 1, "name": "cuMemAlloc", "args": {"correlation_id": "5"}},
  {"ph": "X", "pid": 701, "tid": 500, "ts": 7, "dur": 1, "name": "cuGraphLaunch", "args": {"correlation_id": "6"}},
  {"ph": "X", "pid": 1, "tid": 13, "ts": 10, "dur": 5, "name": "MemcpyH2D", "args": {"correlation_id": "3",
   "memcpy_details": "kind_src:pinned kind_dst:device size:1024 dest:0 async:1"}},
  {"ph": "X", "pid": 1, "tid": 13, "ts": 16, "dur": 5, "name": "Memset 8", "args": {"correlation_id": "4"}},
  {"ph": "X", "pid": 1, "tid": 13, "ts": 22, "dur": 5, "name": "k", "args": {"kernel_details": "grid:1,1 block:x,1,1"}},
  {}]})json");
  EXPECT_THAT(t.calls.kind, ElementsAre(varve::call_kind::copy, varve::call_kind::set,
                                        varve::call_kind::allocate, varve::call_kind::graph_launch));
  EXPECT_THAT(t.activities.kind, ElementsAre(varve::activity_kind::copy, varve::activity_kind::set,
                                             varve::activity_kind::kernel));
  EXPECT_EQ(t.bytes.at(t.activities.detail.at(0)), 1024);
  EXPECT_THAT(losses(t),
              ElementsAre(Pair("kernels with an invalid grid, block or resources: taken as unknown", 1U)));
}

TEST_F(pytorch_producers_test, explains_events_without_a_category) {
  // As EventList.export_chrome_trace() of torch.autograd.profiler writes them.
  const std::string host =
      R"({"name": "aten::mm", "ph": "X", "ts": 0, "dur": 50, "tid": 1, "pid": "CPU functions", "args": {}})";
  const std::string flow =
      R"({"name": "gemm", "ph": "f", "ts": 20, "tid": 0, "pid": "GPU functions", "id": 0, "cat": "cpu_to_gpu"})";
  const std::string device =
      R"({"name": "gemm", "ph": "X", "ts": 20, "dur": 10, "tid": 0, "pid": "GPU functions", "args": {}})";
  EXPECT_EQ(error_of([&] { read("[" + host + "," + flow + "," + device + "]"); }),
            "t.json: holds only events without a category (\"cat\"), as the legacy profiler's "
            "EventList.export_chrome_trace() writes them: what ran where can't be told; record with "
            "torch.profiler.profile and call its export_chrome_trace()");
  // One that is read is enough.
  const std::string kernel =
      R"({"name": "gemm", "ph": "X", "cat": "kernel", "ts": 20, "dur": 10, "tid": 7, "pid": 0})";
  EXPECT_EQ(read("[" + host + "," + kernel + "]").activities.size(), 1U);
}

TEST_F(pytorch_producers_test, counts_work_of_xla_whose_row_has_no_name) {
  const varve::trace t = read(
      R"json({"traceEvents": [
  {"ph": "X", "pid": 1, "tid": 13, "ts": 20, "dur": 5, "name": "k", "args": {"correlation_id": "9"}},
  {"ph": "X", "pid": 1, "tid": 13, "ts": 20, "dur": 5, "name": "no work"}, {}]})json");
  EXPECT_EQ(t.activities.size(), 0U);
  EXPECT_THAT(losses(t),
              ElementsAre(Pair("events without a category, before the name of their process: not read", 1U)));
}

}  // namespace

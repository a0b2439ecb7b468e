// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What profilers have written over the years, one small trace each, with the answer worked out by hand.
#include "formats/input_files.hpp"

#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class pytorch_test : public input_files {
 protected:
  varve::trace read(const std::string& json) { return varve::read_pytorch(write("t.json", json)); }
  varve::trace read_events(const std::string& events) {
    return read(R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}");
  }
  /// A kernel that begins at `ts` and lasts `dur`, both as text.
  static std::string kernel(const std::string& ts, const std::string& dur, const std::string& args = "") {
    return R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": )" + ts +
           R"(, "dur": )" + dur + R"(, "args": {)" + args + "}}";
  }
  static std::string call(const std::string& name, const std::string& ts = "1", const std::string& args = "",
                          const std::string& cat = "cuda_runtime") {
    return R"({"ph": "X", "cat": ")" + cat + R"(", "name": ")" + name + R"(", "pid": 50, "tid": 51, "ts": )" +
           ts + R"(, "dur": 2, "args": {)" + args + "}}";
  }
  static std::string annotation(const std::string& name, int ts, int dur, int thread = 51) {
    return R"({"ph": "X", "cat": "user_annotation", "name": ")" + name + R"(", "pid": 50, "tid": )" +
           std::to_string(thread) + R"(, "ts": )" + std::to_string(ts) + R"(, "dur": )" +
           std::to_string(dur) + "}";
  }
  static std::string path_of_call(const varve::trace& t, std::size_t i) {
    const std::uint32_t r = t.calls.range[i];
    return r == varve::none ? "" : varve::label_text(t, t.ranges[r].label);
  }
};

// --- Times ------------------------------------------------------------------------------------------------

TEST_F(pytorch_test, takes_decimals_exactly) {
  // Through a double, 1365627862814.773 × 1000 would be …814772.9…; 2.08 × 1000 = 2080.
  const varve::trace t = read_events(kernel("1365627862814.773", "2.08"));
  EXPECT_EQ(t.activities.begin.at(0), 1365627862814773);
  EXPECT_EQ(t.activities.end.at(0), 1365627862814773 + 2080);
  EXPECT_EQ(t.clock, "Kineto, microseconds with 3 decimals");
  EXPECT_EQ(t.clock_error, 0);
}

TEST_F(pytorch_test, takes_every_way_to_write_a_number) {
  const std::vector<std::pair<std::string, std::int64_t>> cases{
      {"12", 12'000},
      {"12.0", 12'000},
      {"0", 0},
      {"-3.5", -3'500},
      {"1.5e3", 1'500'000},
      {"1.5E+3", 1'500'000},
      {"12345e-4", 1'235},     // 1.2345 µs = 1234.5 ns, and halves go away from zero
      {"-12345e-4", -1'235},   //
      {"1.2344", 1'234},       // 1234.4 ns
      {"0.0004999999999", 0},  // 0.4999999999 ns
      {"0.0005", 1},           // 0.5 ns
      {"1e-30", 0},            //
      {"1e-99999999999999999999", 0},
      {"0e99999999999999999999", 0},
      {"1661938466265032", 1'661'938'466'265'032'000},
      {"1661938466265032.123", 1'661'938'466'265'032'123},
      {"1661938466265032.12349999999999999999999999", 1'661'938'466'265'032'123},
      {"100000000000000000000000000e-20", 1'000'000'000},   // 10^26 · 10^-20 µs = 10^6 µs
      {"4611686018427387.903", 4'611'686'018'427'387'903},  // 2^62 − 1, the largest
  };
  for (const auto& [text, expected] : cases) {
    const varve::trace t = read_events(kernel(text, "0"));
    ASSERT_EQ(t.activities.size(), 1U) << text;
    EXPECT_EQ(t.activities.begin[0], expected) << text;
    EXPECT_THAT(t.losses, IsEmpty()) << text;
  }
}

TEST_F(pytorch_test, knows_whole_microseconds_and_their_error) {
  const varve::trace t = read_events(kernel("1682725898082228", "10.0"));
  EXPECT_EQ(t.activities.begin.at(0), 1682725898082228000);
  EXPECT_EQ(t.clock, "Kineto, whole microseconds");
  EXPECT_EQ(t.clock_error, 1000);
}

TEST_F(pytorch_test, adds_the_base_time_wherever_it_stands) {
  const std::string events = R"("traceEvents": [)" + kernel("1428625731896.179", "1") + "," +
                             call("cudaLaunchKernel", "5") + "," + annotation("a", 3, 9) + "]";
  const std::string base = R"("baseTimeNanoseconds": 1751410836000000000)";
  for (const auto& [first, second] : {std::pair{base, events}, std::pair{events, base}}) {
    const varve::trace t = read(std::string{"{"}.append(first).append(",").append(second).append("}"));
    EXPECT_EQ(t.activities.begin.at(0), 1751410836000000000 + 1428625731896179);
    EXPECT_EQ(t.calls.begin.at(0), 1751410836000000000 + 5000);
    EXPECT_EQ(t.ranges.at(0).begin, 1751410836000000000 + 3000);
    EXPECT_EQ(t.ranges.at(0).end, 1751410836000000000 + 12'000);
    EXPECT_EQ(t.begin, t.ranges.at(0).begin);  // the first of all
    EXPECT_EQ(t.end, t.activities.end.at(0));  // the last of all
  }
}

// --- Devices, streams, threads ----------------------------------------------------------------------------

TEST_F(pytorch_test, takes_device_context_and_stream_from_the_arguments) {
  const varve::trace t = read_events(kernel("1", "1", R"("device": 3, "context": 2, "stream": 20)"));
  ASSERT_EQ(t.streams.size(), 1U);
  EXPECT_EQ(t.streams[0].device, 3U);
  EXPECT_EQ(t.streams[0].context, 2U);
  EXPECT_EQ(t.streams[0].stream, 20U);
}

TEST_F(pytorch_test, falls_back_to_process_and_thread_for_device_and_stream) {
  const varve::trace t = read_events(
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 14, "ts": 1, "dur": 1},
         {"ph": "X", "cat": "Kernel", "name": "k", "pid": 1, "tid": "stream 7", "ts": 1, "dur": 1, "args": {}},
         {"ph": "X", "cat": "kernel", "name": "k", "pid": "GPU 1", "tid": "7", "ts": 1, "dur": 1, "args": {}})");
  ASSERT_EQ(t.streams.size(), 2U);
  EXPECT_EQ(t.streams[0].device, 1U);
  EXPECT_EQ(t.streams[0].stream, 14U);
  EXPECT_EQ(t.streams[1].device, 1U);
  EXPECT_EQ(t.streams[1].stream, 7U);
  EXPECT_THAT(t.activities.stream, ElementsAre(0, 1, 1));
}

TEST_F(pytorch_test, reads_the_categories_of_2021) {
  const varve::trace t = read_events(
      R"({"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 5, "dur": 1,
          "args": {"device": 0, "stream": 7, "correlation": 9}},
         {"ph": "X", "cat": "Memcpy", "name": "c", "pid": 0, "tid": "stream 7", "ts": 6, "dur": 1,
          "args": {"device": 0, "stream": 7, "bytes": 64}},
         {"ph": "X", "cat": "Memset", "name": "s", "pid": 0, "tid": "stream 7", "ts": 7, "dur": 1,
          "args": {"device": 0, "stream": 7}},
         {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 25738, "tid": "25738",
          "ts": 1, "dur": 1, "args": {"correlation": 9}},
         {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 25738, "tid": 25738, "ts": 0, "dur": 9})");
  EXPECT_THAT(t.activities.kind, ElementsAre(varve::activity_kind::kernel, varve::activity_kind::copy,
                                             varve::activity_kind::set));
  EXPECT_THAT(t.calls.correlation, ElementsAre(9U));
  // The tid "25738" and the tid 25738 are one thread.
  ASSERT_EQ(t.threads.size(), 1U);
  EXPECT_EQ(t.threads[0].id, 25738U);
  EXPECT_EQ(path_of_call(t, 0), "step");
}

TEST_F(pytorch_test, names_threads_from_the_metadata) {
  const varve::trace t = read_events(
      R"json({"ph": "M", "name": "process_name", "pid": 50, "tid": 0, "ts": 0, "args": {"name": "python3"}},
         {"name": "thread_name", "ph": "M", "pid": 50, "tid": 51, "ts": 0, "args": {"name": "thread 51 (main)"
}
},
         {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "ts": 0, "args": {"name": "stream 7 "}},
         {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "ts": 0, "args": {"labels": "GPU 0"}},
         {"ph": "M", "name": "process_sort_index", "pid": "Spans", "tid": 0, "ts": 0,
          "args": {"sort_index": 5}},)json" +
      call("cudaLaunchKernel") + "," + annotation("other thread", 0, 1, 60) +
      R"(,{"ph": "X", "cat": "cuda_runtime", "name": "f", "pid": 51, "tid": "worker", "ts": 1, "dur": 1})");
  ASSERT_EQ(t.threads.size(), 3U);  // streams are no threads
  EXPECT_EQ(t.threads[0].id, 51U);
  EXPECT_EQ(t.threads[0].process, 50U);
  EXPECT_EQ(t.threads[0].name, "thread 51 (main)");
  EXPECT_EQ(t.threads[1].id, 60U);
  EXPECT_EQ(t.threads[1].name, "python3");
  EXPECT_EQ(t.threads[2].name, "worker");
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST_F(pytorch_test, knows_devices_with_and_without_properties) {
  const varve::trace with = read(
      R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 85045084160,
           "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
          "traceEvents": [)" +
      kernel("1", "1", R"("device": 2)") + "," + kernel("1", "1", R"("device": 0)") + "]}");
  ASSERT_EQ(with.devices.size(), 2U);
  EXPECT_EQ(with.devices[0].id, 0U);
  EXPECT_EQ(with.devices[0].name, "NVIDIA H100");
  EXPECT_EQ(with.devices[0].memory_bytes, 85045084160);
  EXPECT_EQ(with.devices[0].compute_capability, 90);
  EXPECT_EQ(with.devices[0].multiprocessors, 132);
  EXPECT_EQ(with.devices[1].id, 2U);
  EXPECT_EQ(with.devices[1].name, "");
  const varve::trace without = read_events(kernel("1", "1", R"("device": 4)"));
  ASSERT_EQ(without.devices.size(), 1U);
  EXPECT_EQ(without.devices[0].id, 4U);
}

// --- Activities -------------------------------------------------------------------------------------------

TEST_F(pytorch_test, takes_a_kernels_launch_shape) {
  const std::string shape =
      R"("grid": [2400, 2, 1], "block": [256, 1, 1], "registers per thread": 27, "shared memory": 1024)";
  const varve::trace t =
      read_events(kernel("1", "1", shape) + "," + kernel("2", "1", shape) + "," +
                  kernel("3", "1", R"("grid": [1, 1, 1], "block": [32, 1, 1])") + "," + kernel("4", "1"));
  EXPECT_THAT(t.activities.detail, ElementsAre(0U, 0U, 1U, varve::none));  // HIP graph kernels have none
  ASSERT_EQ(t.shapes.size(), 2U);
  EXPECT_THAT(t.shapes[0].grid, ElementsAre(2400, 2, 1));
  EXPECT_THAT(t.shapes[0].block, ElementsAre(256, 1, 1));
  EXPECT_EQ(t.shapes[0].registers, 27U);
  EXPECT_EQ(t.shapes[0].static_shared_memory + t.shapes[0].dynamic_shared_memory, 1024U);
  EXPECT_EQ(t.shapes[1].registers, 0U);
}

TEST_F(pytorch_test, takes_the_bytes_of_copies_and_sets) {
  const varve::trace t = read_events(
      R"json({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 1,
          "dur": 1.6, "args": {
  "device" : 0, "stream" : 7, "correlation" : 16, "bytes" : 2048, "memory bandwidth (GB/s)" : 1.28}},
         {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": 3, "dur": 1,
          "args": {"device": 0, "stream": 7, "correlation": 17, "bytes": 8}},
         {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": 5, "dur": 1,
          "args": {}})json");
  EXPECT_THAT(t.activities.kind,
              ElementsAre(varve::activity_kind::copy, varve::activity_kind::set, varve::activity_kind::set));
  EXPECT_EQ(t.bytes.at(t.activities.detail[0]), 2048);
  EXPECT_EQ(t.bytes.at(t.activities.detail[1]), 8);
  EXPECT_EQ(t.activities.detail[2], varve::none);
  EXPECT_EQ(t.strings[t.activities.name[0]], "Memcpy HtoD (Pinned -> Device)");
}

TEST_F(pytorch_test, keeps_the_nodes_of_a_graph_whose_kernels_share_one_correlation) {
  const varve::trace t =
      read_events(call("cudaGraphLaunch", "1", R"("correlation": 5)") + "," +
                  kernel("4", "1", R"("correlation": 5, "graph node id": 8589934593)") + "," +
                  kernel("6", "1", R"("correlation": 5, "graph node id": 8589934594)") + "," +
                  call("cudaGraphLaunch", "11", R"("correlation": 6)") + "," +
                  kernel("14", "1", R"("correlation": 6, "graph node id": 8589934593)") + "," +
                  kernel("16", "1", R"("correlation": 6, "graph node id": 0)") + "," +
                  kernel("18", "1", R"("correlation": 6)"));
  EXPECT_THAT(t.calls.kind, ElementsAre(varve::call_kind::graph_launch, varve::call_kind::graph_launch));
  EXPECT_THAT(t.activities.correlation, ElementsAre(5U, 5U, 6U, 6U, 6U));
  // The two without an id are two more nodes of the same graph.
  EXPECT_THAT(t.activities.node, ElementsAre(0U, 1U, 0U, 2U, 3U));
  ASSERT_EQ(t.graph_nodes.size(), 4U);
  EXPECT_EQ(t.graph_nodes[0].id, 8589934593U);
  EXPECT_EQ(t.graph_nodes[1].id, 8589934594U);
}

TEST_F(pytorch_test, unescapes_names) {
  const auto names = [&](const std::string& json) {
    const varve::trace t = read_events(R"({"ph": "X", "cat": "kernel", "name": )" + json +
                                       R"(, "pid": 0, "tid": 7, "ts": 1, "dur": 1})");
    return std::string{t.strings[t.activities.name.at(0)]};
  };
  EXPECT_EQ(names(R"("a\"b\\c\/d\n\t\u0041")"), "a\"b\\c/d\n\tA");
  EXPECT_EQ(names(R"("\u00e9 \u20ac \ud83d\ude00")"), "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(names("\"\xE2\x82\xAC\""), "\xE2\x82\xAC");
  EXPECT_EQ(names(R"("")"), "");
}

// --- Calls ------------------------------------------------------------------------------------------------

TEST_F(pytorch_test, tells_calls_apart_by_name) {
  using varve::call_kind;
  const std::vector<std::pair<std::string, call_kind>> cases{
      {"cudaLaunchKernel", call_kind::launch},
      {"cudaLaunchKernel_v7000", call_kind::launch},
      {"cudaLaunchKernel_ptsz", call_kind::launch},
      {"cudaLaunchKernelExC", call_kind::launch},
      {"cudaLaunchKernelExC_v11060", call_kind::launch},
      {"cudaLaunchCooperativeKernel", call_kind::launch},
      {"cudaLaunchCooperativeKernelMultiDevice", call_kind::launch},
      {"cuLaunchKernel", call_kind::launch},
      {"cuLaunchKernelEx", call_kind::launch},
      {"cuLaunchCooperativeKernel", call_kind::launch},
      {"hipLaunchKernel", call_kind::launch},
      {"hipExtLaunchKernel", call_kind::launch},
      {"hipModuleLaunchKernel", call_kind::launch},
      {"hipExtModuleLaunchKernel", call_kind::launch},
      {"cudaGraphLaunch", call_kind::graph_launch},
      {"cudaGraphLaunch_v10000", call_kind::graph_launch},
      {"cuGraphLaunch", call_kind::graph_launch},
      {"hipGraphLaunch", call_kind::graph_launch},
      {"cudaGraphInstantiateWithFlags", call_kind::graph_build},
      {"cudaGraphExecUpdate", call_kind::graph_build},
      {"cudaGraphAddMemcpyNode", call_kind::graph_build},
      {"cuGraphDestroy", call_kind::graph_build},
      {"cudaStreamBeginCapture", call_kind::graph_build},
      {"cudaStreamEndCapture_v10000", call_kind::graph_build},
      {"cudaStreamIsCapturing", call_kind::other},
      {"cudaStreamGetCaptureInfo_v2", call_kind::other},
      {"cudaGraphicsMapResources", call_kind::other},
      {"cudaMemcpyAsync", call_kind::copy},
      {"cudaMemcpy2DAsync_v3020", call_kind::copy},
      {"cuMemcpyHtoDAsync_v2", call_kind::copy},
      {"hipMemcpyWithStream", call_kind::copy},
      {"cudaMemsetAsync", call_kind::set},
      {"cuMemsetD8Async", call_kind::set},
      {"cudaDeviceSynchronize", call_kind::synchronise},
      {"cudaStreamSynchronize_v3020", call_kind::synchronise},
      {"cudaEventSynchronize", call_kind::synchronise},
      {"cuCtxSynchronize", call_kind::synchronise},
      {"hipDeviceSynchronize", call_kind::synchronise},
      {"cudaMalloc", call_kind::allocate},
      {"cudaMallocAsync_v11020", call_kind::allocate},
      {"cudaHostAlloc", call_kind::allocate},
      {"cudaFree", call_kind::allocate},
      {"cuMemAlloc_v2", call_kind::allocate},
      {"cuMemCreate", call_kind::allocate},
      {"hipHostMalloc", call_kind::allocate},
      {"cudaEventRecord", call_kind::event},
      {"cudaEventQuery", call_kind::event},
      {"cudaStreamWaitEvent", call_kind::event},
      {"cudaLaunchHostFunc", call_kind::host_function},
      {"cudaStreamAddCallback", call_kind::host_function},
      {"cudaFuncGetAttributes", call_kind::other},
      {"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", call_kind::other},
      {"hipModuleLoad", call_kind::other},
      {"INVALID", call_kind::other},
      {"", call_kind::other},
  };
  std::string events;
  for (const auto& [name, kind] : cases) {
    events += (events.empty() ? "" : ",") + call(name);
  }
  const varve::trace t = read_events(events);
  ASSERT_EQ(t.calls.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(t.calls.kind[i], cases[i].second) << cases[i].first;
  }
}

TEST_F(pytorch_test, reads_runtime_and_driver_calls_of_every_category) {
  const varve::trace t = read_events(call("cuLaunchKernelEx", "1", "", "cuda_driver") + "," +
                                     call("hipLaunchKernel", "1", "", "hip_runtime") + "," +
                                     call("cudaLaunchKernel", "1", "", "Runtime"));
  EXPECT_EQ(t.calls.size(), 3U);
}

TEST_F(pytorch_test, renumbers_correlations_that_exceed_32_bits) {
  const varve::trace t = read_events(
      call("cudaLaunchKernel", "1", R"("correlation": 4294967296)") + "," +
      call("cudaLaunchKernel", "2", R"("correlation": -1)") + "," + call("cudaEventQuery", "3") + "," +
      kernel("4", "1", R"("correlation": -1)") + "," + kernel("5", "1", R"("correlation": 4294967296)") +
      "," + kernel("6", "1", R"("correlation": 18446744073709551615)") + "," +
      kernel("7", "1", R"("correlation": 77)"));
  // In order of appearance: 2^32 → 1, −1 (the same 64 bits as 2^64 − 1) → 2, none stays 0, 77 → 3.
  EXPECT_THAT(t.calls.correlation, ElementsAre(1U, 2U, 0U));
  EXPECT_THAT(t.activities.correlation, ElementsAre(2U, 1U, 2U, 3U));
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST_F(pytorch_test, keeps_correlations_that_fit) {
  const varve::trace t = read_events(call("cudaLaunchKernel", "1", R"("correlation": 4294967295)") + "," +
                                     kernel("4", "1", R"("correlation": 4294967295)"));
  EXPECT_THAT(t.calls.correlation, ElementsAre(4294967295U));
  EXPECT_THAT(t.activities.correlation, ElementsAre(4294967295U));
}

// --- Annotations ------------------------------------------------------------------------------------------

TEST_F(pytorch_test, nests_annotations_by_containment_on_each_thread) {
  // Unsorted, as in the file: inner before outer, calls before both.
  const varve::trace t =
      read_events(call("cudaLaunchKernel", "25") + "," + call("cudaLaunchKernel", "45") + "," +
                  call("cudaLaunchKernel", "95") + "," + annotation("attention", 20, 10) + "," +
                  annotation("forward", 10, 80) + "," + annotation("mlp", 40, 10) + "," +
                  annotation("elsewhere", 0, 200, 99));
  ASSERT_EQ(t.ranges.size(), 4U);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < t.ranges.size(); ++i) {
    const varve::range& r = t.ranges[i];
    paths.push_back(varve::label_text(t, r.label));
    EXPECT_TRUE(r.parent == varve::none || r.parent < i) << "parents before children";
    EXPECT_EQ(r.kind, varve::range_kind::op);
    EXPECT_EQ(t.labels[r.label].index, varve::no_index);
  }
  EXPECT_THAT(paths,
              testing::UnorderedElementsAre("forward", "forward / attention", "forward / mlp", "elsewhere"));
  EXPECT_EQ(path_of_call(t, 0), "forward / attention");
  EXPECT_EQ(path_of_call(t, 1), "forward / mlp");
  EXPECT_EQ(path_of_call(t, 2), "");  // its middle, 96, lies behind all of its thread
}

TEST_F(pytorch_test, nests_annotations_of_equal_times_in_the_order_of_the_file) {
  const varve::trace t = read_events(annotation("outer", 10, 5) + "," + annotation("inner", 10, 5) + "," +
                                     annotation("point", 15, 0) + "," + call("cudaLaunchKernel", "11"));
  EXPECT_EQ(path_of_call(t, 0), "outer / inner");
  EXPECT_EQ(varve::label_text(t, t.ranges.at(2).label), "outer / inner / point");
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST_F(pytorch_test, makes_profiler_steps_passes) {
  const varve::trace t =
      read_events(annotation("ProfilerStep#6", 0, 100) + "," + annotation("layer", 10, 10) + "," +
                  annotation("ProfilerStep#7", 100, 50) + "," + annotation("layer", 110, 10) + "," +
                  annotation("ProfilerStep#", 160, 5) + "," + annotation("ProfilerStep#x", 170, 5) + "," +
                  annotation("ProfilerStep#99999999999", 180, 5));
  ASSERT_EQ(t.ranges.size(), 7U);
  EXPECT_EQ(t.ranges[0].kind, varve::range_kind::phase);
  EXPECT_EQ(t.strings[t.labels[t.ranges[0].label].name], "ProfilerStep");
  EXPECT_EQ(t.labels[t.ranges[0].label].index, 6);
  EXPECT_EQ(varve::label_text(t, t.ranges[1].label), "ProfilerStep 6 / layer");
  EXPECT_EQ(t.ranges[1].parent, 0U);
  EXPECT_EQ(t.ranges[2].kind, varve::range_kind::phase);
  EXPECT_EQ(t.labels[t.ranges[2].label].index, 7);
  EXPECT_EQ(t.ranges[3].parent, 2U);
  for (const std::size_t i : {4U, 5U, 6U}) {
    EXPECT_EQ(t.ranges[i].kind, varve::range_kind::op);  // only a number makes a step
  }
}

TEST_F(pytorch_test, takes_crossing_annotations_as_siblings_and_counts_them) {
  //  first  [10, 50]
  //  second     [30, 80]       begins inside the first and outlasts it
  //  third       [35, 45]      in both: belongs to the later one
  const varve::trace t =
      read_events(annotation("first", 10, 40) + "," + annotation("second", 30, 50) + "," +
                  annotation("third", 35, 10) + "," + call("cudaLaunchKernel", "20") + "," +
                  call("cudaLaunchKernel", "40") + "," + call("cudaLaunchKernel", "60"));
  EXPECT_EQ(path_of_call(t, 0), "first");
  EXPECT_EQ(path_of_call(t, 1), "second / third");
  EXPECT_EQ(path_of_call(t, 2), "second");
  ASSERT_EQ(t.losses.size(), 1U);
  EXPECT_EQ(t.losses[0].what, "annotations that overlap another without nesting: taken as its siblings");
  EXPECT_EQ(t.losses[0].where, path("t.json"));
  EXPECT_EQ(t.losses[0].count, 1U);
}

TEST_F(pytorch_test, sees_through_the_rounding_of_whole_microseconds) {
  //  outer [9.9, 50.1) µs is written as 9 + 40, inner [10.0, 50.0) as 10 + 40: ends 1 µs after it.
  const varve::trace nested = read_events(annotation("outer", 9, 40) + "," + annotation("inner", 10, 40) +
                                          "," + call("cudaLaunchKernel", "20"));
  EXPECT_EQ(path_of_call(nested, 0), "outer / inner");
  EXPECT_EQ(nested.ranges.at(1).end, 49'000);  // inside the outer one
  EXPECT_THAT(nested.losses, IsEmpty());
  // The second begins 1 µs before the first ends: one after the other, however short the second is.
  const varve::trace in_turn = read_events(annotation("first", 10, 40) + "," + annotation("second", 49, 2) +
                                           "," + call("cudaLaunchKernel", "49"));
  EXPECT_EQ(path_of_call(in_turn, 0), "second");
  EXPECT_THAT(in_turn.losses, IsEmpty());
  // With three decimals nothing is rounded, so they cross.
  const varve::trace exact = read_events(annotation("outer", 9, 40) + "," + annotation("inner", 10, 40) +
                                         "," + call("cudaLaunchKernel", "20.5"));
  EXPECT_EQ(path_of_call(exact, 0), "inner");
  EXPECT_EQ(exact.losses.size(), 1U);
}

// --- What is not read, and what stands around -------------------------------------------------------------

TEST_F(pytorch_test, skips_other_events_without_calling_them_lost) {
  const varve::trace t = read_events(
      R"json({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 50, "tid": 51, "ts": 1, "dur": 9, "args": {}},
         {"ph": "X", "cat": "python_function", "name": "f", "pid": 50, "tid": 51, "ts": 1, "dur": 9},
         {"ph": "X", "cat": "gpu_user_annotation", "name": "step", "pid": 0, "tid": 7, "ts": 1, "dur": 9},
         {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 7, "ts": 1, "dur": 9},
         {"ph": "X", "cat": "overhead", "name": "Activity Buffer Request", "pid": -1, "tid": 0, "ts": 1, "dur": 9},
         {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler",
          "ts": 1, "dur": 9, "args": {
  "Op count" : 0}},
         {"ph": "s", "id": 16, "pid": 50, "tid": 51, "ts": 1, "cat": "ac2g", "name": "ac2g"},
         {"ph": "f", "id": 16, "pid": 0, "tid": 7, "ts": 1, "cat": "async_cpu_to_gpu", "name": "async", "bp": "e"},
         {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 50, "tid": 51, "ts": 1, "s": "t",
          "args": {"Bytes": 8, "Device Type": 0}},
         {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 9},)json" +
      kernel("3", "1"));
  EXPECT_EQ(t.activities.size(), 1U);
  EXPECT_EQ(t.calls.size(), 0U);
  EXPECT_EQ(t.ranges.size(), 0U);
  EXPECT_THAT(t.losses, IsEmpty());
  ASSERT_EQ(t.collectors.size(), 1U);
  EXPECT_EQ(t.collectors[0].detail,
            "kernels 1, copies 0, sets 0, calls 0, annotations 0, operators 1, "
            "events of other kinds, not read 4");
}

TEST_F(pytorch_test, takes_the_keys_of_an_event_in_any_order) {
  const varve::trace t = read_events(
      R"({"args": {"stream": 9, "correlation": 4, "device": 1}, "dur": 2, "ts": 3, "tid": 7, "pid": 0,
          "name": "gemm", "cat": "kernel", "ph": "X"})");
  ASSERT_EQ(t.activities.size(), 1U);
  EXPECT_EQ(t.activities.begin[0], 3000);
  EXPECT_EQ(t.activities.end[0], 5000);
  EXPECT_EQ(t.activities.correlation[0], 4U);
  EXPECT_EQ(t.streams[0].device, 1U);
  EXPECT_EQ(t.streams[0].stream, 9U);
}

TEST_F(pytorch_test, says_what_recorded_the_trace) {
  const varve::trace t = read(
      R"({"schemaVersion": 1, "cupti_version": 28, "cuda_runtime_version": 12090, "cuda_driver_version": 13000,
          "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [{"ranks": [0]}]},
          "traceEvents": []})");
  EXPECT_EQ(t.source, path("t.json") + " (rank 3 of 8, backend nccl)");
  ASSERT_EQ(t.collectors.size(), 1U);
  EXPECT_EQ(t.collectors[0].name, "pytorch");
  EXPECT_EQ(t.collectors[0].version, "schema 1, CUPTI 28, CUDA runtime 12.9, driver 13.0");
  EXPECT_EQ(t.collectors[0].state, varve::collector_state::stopped);
  const varve::trace plain = read_events("");
  EXPECT_EQ(plain.source, path("t.json"));
  EXPECT_EQ(plain.collectors.at(0).version, "schema 1");
}

TEST_F(pytorch_test, reads_a_bare_list_of_events) {
  const varve::trace t = read("[" + kernel("3", "1") + "]");
  EXPECT_EQ(t.activities.size(), 1U);
}

TEST_F(pytorch_test, reads_traces_without_events) {
  const varve::trace t = read_events("");
  EXPECT_EQ(t.activities.size(), 0U);
  EXPECT_EQ(t.begin, 0);
  EXPECT_EQ(t.end, 0);
  EXPECT_THAT(t.losses, IsEmpty());
}

}  // namespace

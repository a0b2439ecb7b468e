// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces that other people recorded on real GPUs, against values that independent scripts computed: every
// number below is from REFERENCE.md beside the traces (times there in µs with three decimals, here in ns).
// The sums here are made from the trace's records by the plainest code that can be; then analyze() must
// agree.
#include "formats/real_traces.hpp"

#include <varve/io.hpp>
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using testing::ElementsAre;
using varve::time_ns;

using intervals = std::vector<std::pair<time_ns, time_ns>>;

time_ns sum(const intervals& all) {
  time_ns total = 0;
  for (const auto& [begin, end] : all) {
    total += end - begin;
  }
  return total;
}

time_ns length_of_union(intervals all) {
  std::sort(all.begin(), all.end());
  time_ns total = 0;
  time_ns reached = all.empty() ? 0 : all.front().first;
  for (const auto& [begin, end] : all) {
    total += std::max<time_ns>(0, end - std::max(begin, reached));
    reached = std::max(reached, end);
  }
  return total;
}

double median(std::vector<time_ns> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return static_cast<double>(values[(n - 1) / 2] + values[n / 2]) / 2;
}

struct stream_facts {
  std::uint32_t device = 0;
  std::uint64_t stream = 0;
  std::int64_t kernels = 0;
  time_ns sum = 0;
  time_ns length = 0;  // of the union
  bool operator==(const stream_facts& o) const {
    return std::tie(device, stream, kernels, sum, length) ==
           std::tie(o.device, o.stream, o.kernels, o.sum, o.length);
  }
};

std::ostream& operator<<(std::ostream& out, const stream_facts& f) {
  return out << f.device << "/" << f.stream << " n=" << f.kernels << " sum=" << f.sum
             << " union=" << f.length;
}

struct annotation_facts {
  time_ns sum = 0;
  time_ns length = 0;
  std::int64_t kernels = 0;
  std::int64_t instances = 0;
  bool operator==(const annotation_facts& o) const {
    return std::tie(sum, length, kernels, instances) == std::tie(o.sum, o.length, o.kernels, o.instances);
  }
};

std::ostream& operator<<(std::ostream& out, const annotation_facts& f) {
  return out << "sum=" << f.sum << " union=" << f.length << " kernels=" << f.kernels
             << " instances=" << f.instances;
}

bool launches(varve::call_kind kind) {
  return kind == varve::call_kind::launch || kind == varve::call_kind::graph_launch;
}

/// What REFERENCE.md states about a trace.
struct facts {
  explicit facts(const varve::trace& t) {
    std::map<std::uint32_t, std::size_t> calls;  // by correlation
    for (std::size_t i = 0; i < t.calls.size(); ++i) {
      calls[t.calls.correlation[i]] = i;
      if (launches(t.calls.kind[i])) {
        ++launch_calls;
        launch_time += t.calls.end[i] - t.calls.begin[i];
      }
    }
    std::map<std::uint32_t, intervals> by_device;
    std::map<std::uint32_t, intervals> all_by_device;
    std::map<std::pair<std::uint32_t, std::uint64_t>, intervals> by_stream;
    std::map<std::string, intervals> by_annotation;
    std::map<std::string, intervals> by_range;
    std::map<std::size_t, std::int64_t> by_graph_launch;
    std::vector<time_ns> latencies;
    intervals every_kernel;
    for (std::size_t i = 0; i < t.activities.size(); ++i) {
      const std::pair<time_ns, time_ns> when{t.activities.begin[i], t.activities.end[i]};
      const varve::stream_info& stream = t.streams[t.activities.stream[i]];
      all_by_device[stream.device].push_back(when);
      if (t.activities.kind[i] == varve::activity_kind::copy) {
        ++copies;
      } else if (t.activities.kind[i] == varve::activity_kind::set) {
        ++sets;
      }
      const auto found = calls.find(t.activities.correlation[i]);
      unmatched += found == calls.end() ? 1 : 0;
      if (t.activities.kind[i] != varve::activity_kind::kernel) {
        continue;
      }
      every_kernel.push_back(when);
      by_device[stream.device].push_back(when);
      by_stream[{stream.device, stream.stream}].push_back(when);
      if (found == calls.end()) {
        continue;
      }
      ++joined_to_any_call;
      const std::size_t call = found->second;
      if (!launches(t.calls.kind[call])) {
        continue;
      }
      ++joined;
      if (t.calls.kind[call] == varve::call_kind::graph_launch) {
        ++by_graph_launch[call];
      } else {
        latencies.push_back(when.first - t.calls.begin[call]);
      }
      std::set<std::string> of_thread;
      std::set<std::string> all;
      for (std::uint32_t r = t.calls.range[call]; r != varve::none; r = t.ranges[r].parent) {
        if (t.ranges[r].kind == varve::range_kind::layer) {
          continue;
        }
        all.insert(name_of(t, t.ranges[r]));
        if (t.ranges[r].thread == t.calls.thread[call] && !t.ranges[r].derived) {
          of_thread.insert(name_of(t, t.ranges[r]));
        }
      }
      for (const std::string& name : of_thread) {
        by_annotation[name].push_back(when);
      }
      for (const std::string& name : all) {
        by_range[name].push_back(when);
      }
    }
    kernels = static_cast<std::int64_t>(every_kernel.size());
    kernel_sum = sum(every_kernel);
    for (const auto& [device, all] : by_device) {
      kernel_union.emplace_back(device, length_of_union(all));
      all_union.emplace_back(device, length_of_union(all_by_device[device]));
    }
    for (const auto& [key, all] : by_stream) {
      streams.push_back(
          {key.first, key.second, static_cast<std::int64_t>(all.size()), sum(all), length_of_union(all)});
    }
    std::vector<time_ns> per_graph_launch;
    for (const auto& [call, n] : by_graph_launch) {
      graph_kernels += n;
      per_graph_launch.push_back(n);
    }
    graph_launches = std::count(t.calls.kind.begin(), t.calls.kind.end(), varve::call_kind::graph_launch);
    graph_launches_without_kernels = graph_launches - static_cast<std::int64_t>(per_graph_launch.size());
    max_per_graph =
        per_graph_launch.empty() ? 0 : *std::max_element(per_graph_launch.begin(), per_graph_launch.end());
    median_per_graph = median(per_graph_launch);
    latency_count = static_cast<std::int64_t>(latencies.size());
    latency_median = median(latencies);
    latency_min = latencies.empty() ? 0 : *std::min_element(latencies.begin(), latencies.end());
    latency_negative = std::count_if(latencies.begin(), latencies.end(), [](time_ns l) { return l < 0; });
    for (const varve::range& r : t.ranges) {
      const std::string name = name_of(t, r);
      if (r.kind == varve::range_kind::layer) {
        modules += r.derived ? 0 : 1;
        continue;
      }
      ++ranges[name].instances;
      if (r.kind == varve::range_kind::phase) {
        kinds_of_passes[name] = std::string{t.strings[t.labels[r.label].name]};
      }
      if (!r.derived) {
        ++annotations[name].instances;
        ++annotation_events;
      }
    }
    add_times(annotations, by_annotation);
    add_times(ranges, by_range);
  }

  static void add_times(std::map<std::string, annotation_facts>& to,
                        const std::map<std::string, intervals>& from) {
    for (const auto& [name, all] : from) {
      to[name].sum = sum(all);
      to[name].length = length_of_union(all);
      to[name].kernels = static_cast<std::int64_t>(all.size());
    }
  }

  static std::string name_of(const varve::trace& t, const varve::range& r) {
    const varve::label_node& label = t.labels[r.label];
    const std::string name{t.strings[label.name]};
    return label.index == varve::no_index ? name : name + "#" + std::to_string(label.index);
  }

  std::int64_t kernels = 0;
  std::int64_t copies = 0;
  std::int64_t sets = 0;
  time_ns kernel_sum = 0;
  std::vector<std::pair<std::uint32_t, time_ns>> kernel_union;  // by device
  std::vector<std::pair<std::uint32_t, time_ns>> all_union;     // with copies and sets
  std::vector<stream_facts> streams;
  std::int64_t launch_calls = 0;
  time_ns launch_time = 0;
  std::int64_t joined = 0;
  std::int64_t joined_to_any_call = 0;
  std::int64_t unmatched = 0;  // kernels, copies and sets without a call
  std::int64_t graph_launches = 0;
  std::int64_t graph_kernels = 0;
  std::int64_t graph_launches_without_kernels = 0;
  std::int64_t max_per_graph = 0;
  double median_per_graph = 0;
  std::int64_t latency_count = 0;
  double latency_median = 0;
  time_ns latency_min = 0;
  std::int64_t latency_negative = 0;
  std::int64_t annotation_events = 0;
  std::int64_t modules = 0;                             // calls of them; real_modules_test.cpp looks closer
  std::map<std::string, annotation_facts> annotations;  // with what was launched in them on their own thread
  std::map<std::string, annotation_facts> ranges;       // with what other threads did for them too
  std::map<std::string, std::string> kinds_of_passes;   // of the annotations that are passes
};

/// What analyze() makes of the trace, beside what was added up above.
void expect_analyzed_alike(const varve::trace& t, const facts& f) {
  const varve::report r = varve::analyze(t);

  std::vector<std::pair<std::uint32_t, time_ns>> kernel_union;
  std::vector<std::pair<std::uint32_t, time_ns>> busy;
  std::vector<stream_facts> streams;
  std::int64_t kernels = 0;
  time_ns kernel_time = 0;
  for (const varve::device_row& d : r.devices) {
    if (d.kernels > 0) {
      kernel_union.emplace_back(d.device.id, d.kernel_union);
      busy.emplace_back(d.device.id, d.busy);
    }
    kernels += d.kernels;
    kernel_time += d.kernel_time;
    for (const auto& s : d.streams) {
      if (s.kernels > 0) {  // REFERENCE lists streams of kernels
        streams.push_back({d.device.id, s.stream.stream, s.kernels, s.kernel_time, s.kernel_union});
      }
    }
  }
  EXPECT_EQ(kernel_union, f.kernel_union);
  EXPECT_EQ(busy, f.all_union);
  EXPECT_EQ(kernels, f.kernels);
  EXPECT_EQ(kernel_time, f.kernel_sum);
  EXPECT_THAT(streams, testing::UnorderedElementsAreArray(f.streams));

  // Trees of layers, and work outside any layer: all there is.
  std::int64_t launch_calls = 0;
  std::int64_t graph_launches = 0;
  time_ns launch_time = 0;
  std::int64_t latency_count = 0;
  time_ns latency_min = std::numeric_limits<time_ns>::max();
  for (const varve::row& row : r.layers) {
    if (row.parent == varve::none) {
      launch_calls += row.inclusive.launches;
      graph_launches += row.inclusive.graph_launches;
      launch_time += row.inclusive.launch_time;
      latency_count += row.launch_latency.count;
      if (row.launch_latency.count > 0) {
        latency_min = std::min(latency_min, row.launch_latency.min);
      }
    }
  }
  EXPECT_EQ(launch_calls, f.launch_calls);
  EXPECT_EQ(graph_launches, f.graph_launches);
  EXPECT_EQ(launch_time, f.launch_time);
  EXPECT_EQ(latency_count, f.latency_count + f.graph_launches);  // one for each graph's first node too
  EXPECT_EQ(latency_min, f.latency_min);
  EXPECT_EQ(r.quality.negative_delays, f.latency_negative);
  EXPECT_EQ(r.quality.graph_launches_without_kernels, f.graph_launches_without_kernels);
  EXPECT_EQ(r.quality.activities, f.kernels + f.copies + f.sets);
  EXPECT_EQ(r.quality.unmatched, f.unmatched);
  EXPECT_EQ(r.quality.untimed, 0);

  // The rows by label: one each phase, here added up. Steps are passes and have phase rows instead.
  std::map<std::string, annotation_facts> labels;
  std::set<std::string> with_copies;
  for (const varve::row& row : r.labels) {
    if (row.kind == varve::range_kind::layer) {
      continue;
    }
    annotation_facts& label = labels[row.label];
    label.sum += row.inclusive.kernel_time;
    label.length += row.inclusive.gpu_time;
    label.kernels += row.inclusive.kernels;
    label.instances += row.inclusive.calls;
    if (row.inclusive.copies + row.inclusive.sets > 0) {
      with_copies.insert(row.label);
    }
  }
  std::map<std::string, annotation_facts> passes;  // by their kind
  for (const auto& [name, expected] : f.ranges) {
    if (const auto kind = f.kinds_of_passes.find(name); kind != f.kinds_of_passes.end()) {
      passes[kind->second].sum += expected.sum;
      passes[kind->second].kernels += expected.kernels;
      passes[kind->second].instances += expected.instances;
      continue;
    }
    annotation_facts label = labels[name];
    if (with_copies.count(name) > 0) {
      label.length = expected.length;  // GPU time takes in copies and sets, REFERENCE's union kernels only
    }
    EXPECT_EQ(label, expected) << name;
  }
  std::set<std::string> of_graphs;  // rows of graphs and their nodes
  for (const varve::row& row : r.layers) {
    if (row.path.find("graph ") != std::string::npos && f.annotations.count(row.label) == 0) {
      of_graphs.insert(row.label);
    }
  }
  EXPECT_EQ(labels.size() - of_graphs.size() + f.kinds_of_passes.size(), f.ranges.size());
  for (const auto& [kind, expected] : passes) {
    const auto phase = std::find_if(
        r.phases.begin(), r.phases.end(),
        [&kind = kind](const varve::phase_row& p) { return p.phase == kind && p.total.kernels > 0; });
    ASSERT_NE(phase, r.phases.end()) << kind;
    EXPECT_EQ(phase->passes, expected.instances);
    EXPECT_EQ(phase->total.kernel_time, expected.sum);
    EXPECT_EQ(phase->total.kernels, expected.kernels);
  }
}

using real_pytorch = real_traces;

TEST_F(real_pytorch, h100_transformer_block) {
  const varve::trace t = read("h100-transformer-block");
  facts f{t};
  EXPECT_EQ(f.kernels, 48);
  EXPECT_EQ(f.copies, 0);
  EXPECT_EQ(f.sets, 0);
  EXPECT_EQ(t.calls.size(), 109U);
  EXPECT_EQ(f.launch_calls, 48);
  EXPECT_EQ(f.launch_time, 346'000);
  EXPECT_EQ(f.kernel_sum, 390'000);
  EXPECT_THAT(f.kernel_union, ElementsAre(std::pair{0U, 390'000}));
  EXPECT_THAT(f.all_union, ElementsAre(std::pair{0U, 390'000}));
  EXPECT_THAT(f.streams, ElementsAre(stream_facts{0, 7, 48, 390'000, 390'000}));
  EXPECT_EQ(f.joined, 48);
  EXPECT_EQ(f.joined_to_any_call, 48);
  EXPECT_EQ(f.latency_count, 48);
  EXPECT_EQ(f.latency_median, 9000.0);
  EXPECT_EQ(f.latency_min, 7000);
  EXPECT_EQ(f.latency_negative, 0);
  EXPECT_EQ(f.annotation_events, 18);
  EXPECT_EQ(f.modules, 33);
  EXPECT_EQ(f.annotations.size(), 8U);
  EXPECT_EQ(f.annotations["Model Forward Pass"], (annotation_facts{390'000, 390'000, 48, 3}));
  EXPECT_EQ(f.annotations["Self-Attention"], (annotation_facts{186'000, 186'000, 27, 3}));
  EXPECT_EQ(f.annotations["MLP"], (annotation_facts{138'000, 138'000, 9, 3}));
  EXPECT_EQ(f.annotations["ProfilerStep#7"], (annotation_facts{131'000, 131'000, 16, 1}));
  EXPECT_EQ(f.annotations["ProfilerStep#6"], (annotation_facts{130'000, 130'000, 16, 1}));
  expect_analyzed_alike(t, f);
  EXPECT_EQ(t.clock_error, 1000);  // whole microseconds
  ASSERT_EQ(t.devices.size(), 8U);
  EXPECT_EQ(t.devices[0].name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(t.devices[0].compute_capability, 90);
  EXPECT_EQ(t.devices[0].multiprocessors, 132);
  EXPECT_TRUE(t.losses.empty());
}

TEST_F(real_pytorch, h100_qwen_whose_first_kernels_were_launched_before_the_window) {
  const varve::trace t = read("h100-qwen1.5-0.5b");
  facts f{t};
  EXPECT_EQ(f.kernels, 1465);
  EXPECT_EQ(f.copies, 1);
  EXPECT_EQ(f.sets, 241);
  EXPECT_EQ(t.calls.size(), 1922U);
  EXPECT_EQ(f.launch_calls, 1029);
  EXPECT_EQ(f.launch_time, 4'098'678);
  EXPECT_EQ(f.kernel_sum, 45'432'698);
  EXPECT_THAT(f.kernel_union, ElementsAre(std::pair{0U, 45'432'698}));
  EXPECT_THAT(f.all_union, ElementsAre(std::pair{0U, 45'647'300}));
  EXPECT_THAT(f.streams, ElementsAre(stream_facts{0, 7, 1465, 45'432'698, 45'432'698}));
  EXPECT_EQ(f.joined, 1029);
  EXPECT_EQ(f.joined_to_any_call, 1029);
  EXPECT_EQ(f.latency_count, 1029);
  EXPECT_EQ(f.latency_median, 1'206'173.0);
  EXPECT_EQ(f.latency_min, 4825);
  EXPECT_EQ(f.latency_negative, 0);
  EXPECT_EQ(f.annotation_events, 1);
  EXPECT_EQ(f.modules, 316);
  EXPECT_EQ(f.annotations["ProfilerStep#6"], (annotation_facts{31'760'058, 31'760'058, 1029, 1}));
  expect_analyzed_alike(t, f);
  // 1465 − 1029 kernels, and 241 sets of which 168 were called in the window.
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.quality.unmatched, 436 + 73);
  EXPECT_EQ(r.phases.at(0).launch_latency.p50, 1'206'173);
  EXPECT_EQ(t.clock_error, 0);
  // baseTimeNanoseconds 1751410836000000000, which stands behind the events; ts 1428625731896.179 of the
  // step.
  EXPECT_EQ(t.ranges.at(0).begin, 1751410836000000000 + 1428625731896179);
  EXPECT_EQ(t.ranges.at(0).end - t.ranges.at(0).begin, 47'151'395);
  EXPECT_EQ(t.collectors.at(0).version, "schema 1, CUPTI 22, CUDA runtime 12.4, driver 12.9");
  EXPECT_TRUE(t.losses.empty());
}

TEST_F(real_pytorch, b200_vllm_prefill_whose_kernels_overlap_on_one_stream) {
  const varve::trace t = read("b200-vllm-prefill");
  facts f{t};
  EXPECT_EQ(f.kernels, 768);
  EXPECT_EQ(f.copies, 161);
  EXPECT_EQ(f.sets, 0);
  EXPECT_EQ(t.calls.size(), 1372U);
  EXPECT_EQ(f.launch_calls, 768);
  EXPECT_EQ(f.launch_time, 5'836'530);
  EXPECT_EQ(f.kernel_sum, 10'862'916);
  EXPECT_THAT(f.kernel_union, ElementsAre(std::pair{0U, 10'793'638}));
  EXPECT_THAT(f.all_union, ElementsAre(std::pair{0U, 11'596'482}));
  EXPECT_THAT(f.streams, ElementsAre(stream_facts{0, 7, 768, 10'862'916, 10'793'638}));
  EXPECT_EQ(f.joined, 768);
  EXPECT_EQ(f.joined_to_any_call, 768);
  EXPECT_EQ(f.latency_count, 768);
  EXPECT_EQ(f.latency_median, 10'060.5);
  EXPECT_EQ(f.latency_min, 7723);
  EXPECT_EQ(f.latency_negative, 0);
  EXPECT_EQ(f.annotation_events, 3);
  EXPECT_EQ(f.modules, 436);
  EXPECT_EQ(f.annotations.size(), 3U);
  EXPECT_EQ(f.annotations["prefill"],  // execute_context_1(888_788544)_generation_0(0)
            (annotation_facts{10'862'916, 10'793'638, 768, 1}));
  EXPECT_EQ(f.annotations["nccl:_all_gather_base"], (annotation_facts{21'953, 21'953, 1, 1}));
  EXPECT_EQ(f.annotations["## Call CompiledFxGraph fud64jsrxcxliekg7lptyw24yz5k3oa65b73wjfbhz6j2fg6ouu7 ##"],
            (annotation_facts{1984, 1984, 1, 1}));
  expect_analyzed_alike(t, f);
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.quality.unmatched, 0);
  ASSERT_EQ(r.phases.size(), 1U);
  EXPECT_EQ(r.phases[0].passes, 1);
  EXPECT_EQ(r.phases[0].sequences, 1);
  EXPECT_EQ(r.phases[0].prefill_tokens, 888);
  EXPECT_EQ(r.phases[0].decode_tokens, 0);
  // Attention over a cache and experts, 36 each: how much they do is not in their shapes.
  ASSERT_EQ(t.losses.size(), 1U);
  EXPECT_THAT(t.losses[0].what, testing::HasSubstr("work depends on more than shapes"));
  EXPECT_EQ(t.losses[0].count, 72);
  EXPECT_THAT(t.source, testing::EndsWith("b200-vllm-prefill.pt.trace.json.gz (rank 0 of 8, backend nccl)"));
  EXPECT_EQ(t.devices.size(), 8U);
}

TEST_F(real_pytorch, v100_cuda_graphs_on_three_streams) {
  const varve::trace t = read("v100-cuda-graphs");
  facts f{t};
  EXPECT_EQ(f.kernels, 9876);
  EXPECT_EQ(f.copies, 4856);
  EXPECT_EQ(f.sets, 900);
  EXPECT_EQ(t.calls.size(), 21'167U);
  EXPECT_EQ(f.launch_calls, 4878);
  EXPECT_EQ(f.launch_time, 56'616'000);
  EXPECT_EQ(f.kernel_sum, 801'858'000);
  EXPECT_THAT(f.kernel_union, ElementsAre(std::pair{1U, 621'446'000}));
  EXPECT_THAT(f.all_union, ElementsAre(std::pair{1U, 717'943'000}));
  EXPECT_THAT(f.streams, ElementsAre(stream_facts{1, 7, 9602, 541'450'000, 541'335'000},
                                     stream_facts{1, 14, 210, 9'067'000, 9'067'000},
                                     stream_facts{1, 15, 64, 251'341'000, 251'341'000}));
  EXPECT_EQ(f.joined, 9330);
  EXPECT_EQ(f.joined_to_any_call, 9330);
  EXPECT_EQ(f.graph_launches, 12);
  EXPECT_EQ(f.graph_kernels, 4464);
  EXPECT_EQ(f.max_per_graph, 429);
  EXPECT_EQ(f.median_per_graph, 372.0);
  EXPECT_EQ(f.graph_launches_without_kernels, 0);
  EXPECT_EQ(f.latency_count, 4866);
  EXPECT_EQ(f.latency_median, 42'255'500.0);
  EXPECT_EQ(f.latency_min, 7000);
  EXPECT_EQ(f.latency_negative, 0);
  EXPECT_EQ(f.annotation_events, 288);
  EXPECT_EQ(f.annotations.size(), 41U);
  EXPECT_EQ(f.annotations["## forward ##"], (annotation_facts{220'274'000, 205'455'000, 3072, 6}));
  EXPECT_EQ(f.annotations["nccl:all_to_all"], (annotation_facts{148'554'000, 148'554'000, 42, 42}));
  EXPECT_EQ(f.annotations["## forward:over_arch ##"], (annotation_facts{102'663'000, 102'659'000, 2088, 6}));
  EXPECT_EQ(f.annotations["nccl:all_reduce"], (annotation_facts{80'480'000, 80'480'000, 18, 18}));
  EXPECT_EQ(f.annotations["## alltoall_bwd_single ##"], (annotation_facts{57'460'000, 57'460'000, 6, 6}));
  expect_analyzed_alike(t, f);
  EXPECT_TRUE(t.losses.empty());
}

TEST_F(real_pytorch, two_ranks_without_device_properties) {
  const varve::trace t0 = read("two-ranks.rank0");
  facts f0{t0};
  EXPECT_EQ(f0.kernels, 1154);
  EXPECT_EQ(f0.copies, 40);
  EXPECT_EQ(f0.sets, 10);
  EXPECT_EQ(t0.calls.size(), 1204U);
  EXPECT_EQ(f0.launch_calls, 1154);
  EXPECT_EQ(f0.launch_time, 9'475'000);
  EXPECT_EQ(f0.kernel_sum, 606'519'000);
  EXPECT_THAT(f0.kernel_union, ElementsAre(std::pair{0U, 547'303'000}));
  EXPECT_THAT(f0.all_union, ElementsAre(std::pair{0U, 547'656'000}));
  EXPECT_THAT(f0.streams, ElementsAre(stream_facts{0, 7, 1036, 202'489'000, 202'489'000},
                                      stream_facts{0, 23, 108, 7'831'000, 7'831'000},
                                      stream_facts{0, 84, 8, 290'059'000, 290'059'000},
                                      stream_facts{0, 203, 2, 106'140'000, 106'140'000}));
  EXPECT_EQ(f0.joined, 1154);
  EXPECT_EQ(f0.joined_to_any_call, 1154);
  EXPECT_EQ(f0.latency_count, 1154);
  EXPECT_EQ(f0.latency_median, 10'815'000.0);
  EXPECT_EQ(f0.latency_min, 4000);
  EXPECT_EQ(f0.latency_negative, 0);
  EXPECT_EQ(f0.annotation_events, 73);
  EXPECT_EQ(f0.annotations.size(), 34U);
  EXPECT_EQ(f0.annotations["## forward ##"], (annotation_facts{188'607'000, 186'922'000, 358, 2}));
  EXPECT_EQ(f0.annotations["DistributedDataParallel.forward"],
            (annotation_facts{188'607'000, 186'922'000, 358, 2}));
  EXPECT_EQ(f0.annotations["ProfilerStep#552"], (annotation_facts{188'386'000, 186'093'000, 314, 1}));
  EXPECT_EQ(f0.annotations["nccl:all_to_all"], (annotation_facts{182'403'000, 182'403'000, 4, 4}));
  EXPECT_EQ(f0.annotations["ProfilerStep#551"], (annotation_facts{172'252'000, 156'729'000, 319, 1}));
  expect_analyzed_alike(t0, f0);
  EXPECT_THAT(t0.source, testing::EndsWith("(rank 0 of 128, backend nccl)"));
  ASSERT_EQ(t0.devices.size(), 1U);
  EXPECT_EQ(t0.devices[0].id, 0U);
  EXPECT_EQ(t0.devices[0].name, "");
  // Inputs of other operators stand before their own: linear of [512, 2800], [512], [2048, 200], ….
  ASSERT_EQ(t0.losses.size(), 1U);
  EXPECT_THAT(t0.losses[0].what, testing::HasSubstr("inputs' sizes do not fit each other"));
  EXPECT_EQ(t0.losses[0].count, 8U);

  const varve::trace t1 = read("two-ranks.rank1");
  facts f1{t1};
  EXPECT_EQ(f1.kernels, 1104);
  EXPECT_EQ(f1.copies, 40);
  EXPECT_EQ(f1.sets, 10);
  EXPECT_EQ(t1.calls.size(), 1154U);
  EXPECT_EQ(f1.launch_calls, 1104);
  EXPECT_EQ(f1.launch_time, 8'969'000);
  EXPECT_EQ(f1.kernel_sum, 651'026'000);
  EXPECT_THAT(f1.kernel_union, ElementsAre(std::pair{1U, 575'496'000}));
  EXPECT_THAT(f1.all_union, ElementsAre(std::pair{1U, 580'050'000}));
  EXPECT_THAT(f1.streams, ElementsAre(stream_facts{1, 7, 986, 263'508'000, 263'508'000},
                                      stream_facts{1, 23, 108, 8'465'000, 8'465'000},
                                      stream_facts{1, 84, 8, 274'146'000, 274'146'000},
                                      stream_facts{1, 203, 2, 104'907'000, 104'907'000}));
  EXPECT_EQ(f1.joined, 1104);
  EXPECT_EQ(f1.joined_to_any_call, 1104);
  EXPECT_EQ(f1.latency_count, 1104);
  EXPECT_EQ(f1.latency_median, 11'830'500.0);
  EXPECT_EQ(f1.latency_min, 2000);
  EXPECT_EQ(f1.latency_negative, 0);
  EXPECT_EQ(f1.annotation_events, 65);
  EXPECT_EQ(f1.annotations.size(), 31U);
  EXPECT_EQ(f1.annotations["nccl:all_to_all"], (annotation_facts{229'700'000, 229'700'000, 4, 4}));
  EXPECT_EQ(f1.annotations["ProfilerStep#551"], (annotation_facts{188'996'000, 183'189'000, 308, 1}));
  EXPECT_EQ(f1.annotations["ProfilerStep#552"], (annotation_facts{148'850'000, 124'985'000, 303, 1}));
  EXPECT_EQ(f1.annotations["## forward ##"], (annotation_facts{137'389'000, 134'514'000, 339, 2}));
  EXPECT_EQ(f1.annotations["DistributedDataParallel.forward"],
            (annotation_facts{137'389'000, 134'514'000, 339, 2}));
  expect_analyzed_alike(t1, f1);
  ASSERT_EQ(t1.devices.size(), 1U);
  EXPECT_EQ(t1.devices[0].id, 1U);
  ASSERT_EQ(t1.losses.size(), 1U);
  EXPECT_EQ(t1.losses[0].what, t0.losses[0].what);
  EXPECT_EQ(t1.losses[0].count, 7U);
}

}  // namespace

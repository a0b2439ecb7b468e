// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// cupti_costs   what CUPTI itself takes from a program, without varve: a table of times per launch and per
// replay of
//               a graph, for each way to use it, measured in turns with the bare program. Exits with 3 where
//               there is no device.
#include <cupti.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/scenarios.hpp"

namespace {

using varve_gpu::check;

constexpr int launches = 5000;
constexpr int replays = 100;
constexpr int nodes = 100;
constexpr int rounds = 7;

struct way_of_use {
  const char* name;
  std::vector<CUpti_ActivityKind> kinds;
  std::vector<CUpti_CallbackDomain> domains;
  bool external_ids = false;
};

const std::vector<way_of_use> ways{
    {"subscribed only", {}, {}},
    {"callbacks of the runtime", {}, {CUPTI_CB_DOMAIN_RUNTIME_API}},
    {"callbacks of runtime, driver, resources",
     {},
     {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RESOURCE}},
    {"kernel records", {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, {}},
    {"kernel records and all callbacks",
     {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
     {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RESOURCE}},
    {"kernel records, whole graphs",
     {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_GRAPH_TRACE},
     {}},
    {"kernel records, call records, external ids",
     {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME,
      CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION},
     {},
     true}};

void on_callback(void* /*user*/, CUpti_CallbackDomain /*domain*/, CUpti_CallbackId /*id*/,
                 const void* /*data*/) {}

void on_request(std::uint8_t** memory, std::size_t* size, std::size_t* max_records) {
  *size = std::size_t{4} << 20U;
  *memory = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *max_records = 0;
}

void on_complete(CUcontext /*context*/, std::uint32_t /*stream*/, std::uint8_t* memory, std::size_t /*size*/,
                 std::size_t /*valid*/) {
  std::free(memory);
}

void check_cupti(CUptiResult result, const char* what) {
  if (result != CUPTI_SUCCESS) {
    throw std::runtime_error(std::string{what} + " returned " + std::to_string(result));
  }
}

/// CUPTI in use, as long as it lives.
class in_use {
 public:
  explicit in_use(const way_of_use& how) : how_{how} {
    check_cupti(cuptiSubscribe(&subscriber_, on_callback, nullptr), "cuptiSubscribe");
    for (const CUpti_ActivityKind kind : how_.kinds) {
      check_cupti(cuptiActivityEnable(kind), "cuptiActivityEnable");
    }
    for (const CUpti_CallbackDomain domain : how_.domains) {
      check_cupti(cuptiEnableDomain(1, subscriber_, domain), "cuptiEnableDomain");
    }
  }
  in_use(const in_use&) = delete;
  in_use& operator=(const in_use&) = delete;
  ~in_use() {
    for (const CUpti_ActivityKind kind : how_.kinds) {
      (void)cuptiActivityDisable(kind);
    }
    (void)cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    (void)cuptiUnsubscribe(subscriber_);
  }

 private:
  const way_of_use& how_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

/// Nothing marks what runs here.
class silent_stage : public varve_gpu::stage {
  void begin_pass(bool /*capture*/) override {}
  void begin_layer(int /*layer*/) override {}
  void end() override {}
  void step(const std::string& /*text*/) override {}
};

struct times {
  std::vector<double> launch;  ///< ns, on the host
  std::vector<double> replay;  ///< ns, until the device is done
};

template <class Body>
double nanoseconds(int count, cudaStream_t on, Body&& body) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) {
    body();
  }
  check(cudaStreamSynchronize(on));
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / count;
}

void measure(silent_stage& s, cudaStream_t on, bool external_ids, times& out) {
  const varve_gpu::work w = s.some_work(0);
  const auto launch = [&] {
    if (external_ids) {
      (void)cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 1);
    }
    varve_gpu::launch_layer(0, w, on);
    if (external_ids) {
      (void)cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, nullptr);
    }
  };
  const varve_gpu::graph g = varve_gpu::capture_layers(s, std::vector<int>(nodes, 0), on, 0);
  const varve_gpu::executable e = varve_gpu::instantiate(g);
  const auto replay = [&] { check(cudaGraphLaunch(e.get(), on)); };
  (void)nanoseconds(launches / 10, on, launch);
  (void)nanoseconds(replays / 10, on, replay);
  out.launch.push_back(nanoseconds(launches, on, launch));
  out.replay.push_back(nanoseconds(replays, on, replay));
}

void print(const char* name, times t) {
  std::sort(t.launch.begin(), t.launch.end());
  std::sort(t.replay.begin(), t.replay.end());
  std::printf("%-44s %8.0f (%6.0f to %6.0f) %9.0f (%7.0f to %7.0f)\n", name, t.launch[rounds / 2],
              t.launch.front(), t.launch.back(), t.replay[rounds / 2], t.replay.front(), t.replay.back());
}

void measure_all() {
  check_cupti(cuptiActivityRegisterCallbacks(on_request, on_complete), "cuptiActivityRegisterCallbacks");
  silent_stage s;
  s.prepare();
  const varve_gpu::stream on = varve_gpu::make_stream();
  times bare;
  std::vector<times> used(ways.size());
  for (int round = 0; round < rounds; ++round) {
    measure(s, on.get(), false, bare);
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const in_use cupti{ways[i]};
      measure(s, on.get(), ways[i].external_ids, used[i]);
    }
  }
  std::printf("median of %d rounds (least to most), ns\n%-44s %-27s graph of %d kernels\n", rounds, "",
              "launch", nodes);
  print("bare, and between the others", bare);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    print(ways[i].name, used[i]);
  }
}

}  // namespace

int main() {
  try {
    if (const std::string reason = varve_gpu::why_no_device(); !reason.empty()) {
      std::fprintf(stderr, "nothing measured, %s\n", reason.c_str());
      return 3;
    }
    measure_all();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

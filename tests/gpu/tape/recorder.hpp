// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Subscribes to CUPTI and writes a tape. One in a process, since CUPTI's buffer callbacks carry no pointer.
// Every line is in the file when its callback returns: a program that dies leaves what led to it.
#ifndef VARVE_TESTS_GPU_TAPE_RECORDER_HPP
#define VARVE_TESTS_GPU_TAPE_RECORDER_HPP

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gpu/scenarios.hpp"
#include "gpu/tape/tape.hpp"

namespace varve_tape {

struct recorder_options {
  std::vector<CUpti_ActivityKind> kinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
                                        CUPTI_ACTIVITY_KIND_MEMORY2,           CUPTI_ACTIVITY_KIND_OVERHEAD};
  std::size_t buffer_size = 64U << 10U;
};

/// What the tapes are made on; found out elsewhere, since a recorder starts before CUDA.
struct machine {
  std::string device;
  std::uint32_t capability = 0;
};

class recorder : public varve_gpu::stage {
 public:
  /// Writes the tape `name` to `path`; nothing is recorded yet. The file must not be there.
  recorder(const std::string& path, const std::string& name, const machine& on, recorder_options options);
  ~recorder() override;

  void start();
  /// Synchronises, flushes, disables, unsubscribes.
  void stop();
  void flush(bool forced);
  /// What the scenario expected, and the end of the tape.
  void finish();

  void begin_pass(bool capture) override;
  void begin_layer(int layer) override;
  void end() override;
  void step(const std::string& text) override;

 private:
  static void on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);
  static void on_request(std::uint8_t** memory, std::size_t* size, std::size_t* max_records);
  static void on_complete(CUcontext context, std::uint32_t stream, std::uint8_t* memory, std::size_t size,
                          std::size_t valid);

  template <class What>
  void add(What what);
  void add_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data);
  void put(const std::string& lines);
  void tell(const char* what, CUptiResult result);

  recorder_options options_;
  std::FILE* file_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::mutex lock_;  // of what follows, and the file; no call of CUPTI under it
  std::map<std::thread::id, std::uint32_t> threads_;
  std::atomic<std::uint64_t> next_call_{0};
  std::atomic<std::uint64_t> left_out_{0};
};

}  // namespace varve_tape

#endif  // VARVE_TESTS_GPU_TAPE_RECORDER_HPP

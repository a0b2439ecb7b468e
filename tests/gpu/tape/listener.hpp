// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Subscribes to CUPTI and writes a tape. One in a process, since CUPTI's buffer callbacks carry no pointer.
// Every line is in the file when its callback returns: a program that dies leaves what led to it.
#ifndef VARVE_TESTS_GPU_TAPE_LISTENER_HPP
#define VARVE_TESTS_GPU_TAPE_LISTENER_HPP

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/tape/tape.hpp"

namespace varve_tape {

struct listener_options {
  std::vector<CUpti_ActivityKind> kinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
                                        CUPTI_ACTIVITY_KIND_MEMORY2,           CUPTI_ACTIVITY_KIND_OVERHEAD};
  std::size_t buffer_size = 64U << 10U;
};

class listener {
 public:
  /// Writes a tape that begins with `head` to `path`; nothing is recorded yet. The file must not be there.
  listener(const std::string& path, header head, listener_options options);
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  ~listener();

  void start();
  /// Flushes, disables, flushes by force, unsubscribes. The caller has synchronised.
  void stop();
  void flush(bool forced);
  /// A line about the program, in its place among CUPTI's.
  template <class What>
  void add(What what);
  /// The end of the tape.
  void finish();

 private:
  static void on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);
  static void on_request(std::uint8_t** memory, std::size_t* size, std::size_t* max_records);
  static void on_complete(CUcontext context, std::uint32_t stream, std::uint8_t* memory, std::size_t size,
                          std::size_t valid);

  void add_event(event e);
  void add_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data);
  void put(const std::string& lines);
  void tell(const char* what, CUptiResult result);

  listener_options options_;
  std::FILE* file_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::mutex lock_;  // of what follows, and the file; no call of CUPTI under it
  std::map<std::thread::id, std::uint32_t> threads_;
  std::map<const std::uint8_t*, std::uint64_t> lent_;  // numbers of buffers that CUPTI has
  std::uint64_t buffers_ = 0;
  std::atomic<std::uint64_t> next_call_{0};
  std::atomic<std::uint64_t> left_out_{0};
};

template <class What>
void listener::add(What what) {
  event e;
  e.what = std::move(what);
  add_event(std::move(e));
}

}  // namespace varve_tape

#endif  // VARVE_TESTS_GPU_TAPE_LISTENER_HPP

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A stream of the CPU device: a queue and the worker thread that empties it.
#ifndef DECODER_CPU_STREAM_HPP
#define DECODER_CPU_STREAM_HPP

#include "backend.hpp"
#include "cpu_device.hpp"
#include "cpu_graph.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>

namespace decoder {

class cpu_event final : public event {
 public:
  explicit cpu_event(cpu_device& device) : device_{device} {}
  void synchronise() override;
  [[nodiscard]] double seconds_since(const event& earlier) const override;

 private:
  friend class cpu_stream;
  struct moment {
    std::latch reached{1};
    std::chrono::steady_clock::time_point time;  // once it is reached
  };
  cpu_device& device_;
  std::shared_ptr<moment> last_;  // of the last record; none before the first
};

class cpu_stream final : public stream {
 public:
  explicit cpu_stream(cpu_device& device);
  cpu_stream(const cpu_stream&) = delete;
  cpu_stream& operator=(const cpu_stream&) = delete;
  ~cpu_stream() override;

  /// Enqueues a task, or adds it to the graph that is being captured. All kernels and copies come here.
  void launch(task what);

  void synchronise() override;
  void record(event& mark) override;
  void wait(const event& mark) override;
  void begin_capture() override;
  std::unique_ptr<graph> end_capture() override;
  void launch(const executable& replayed) override;

  void upload(tensor to, const float* from) override;
  void upload(id_list to, const std::int32_t* from) override;
  void download(float* to, tensor from) override;
  void download(std::int32_t* to, id_list from) override;

  void embedding(tensor out, tensor table, id_list tokens) override;
  void rms_norm(tensor out, tensor x, tensor weight, float epsilon) override;
  void matmul(tensor out, tensor x, tensor weight) override;
  void rope(tensor x, id_list positions, std::int64_t head_size, float base) override;
  void store_kv(const kv_cache& cache, tensor keys, tensor values, const row_places& places) override;
  void attention(tensor out, tensor queries, const kv_cache& cache, const row_places& places,
                 const head_shape& shape, std::int64_t bound) override;
  void swiglu(tensor gate, tensor up) override;
  void add(tensor x, tensor y) override;
  void gather(tensor out, tensor x, id_list rows) override;
  void argmax(id_list out, tensor x) override;
  void increment(id_list ids) override;

 private:
  using job = std::function<void()>;
  void push(job next);
  void work();
  void refuse_while_capturing(const char* call) const;

  cpu_device& device_;
  const std::uint32_t id_;
  std::unique_ptr<cpu_graph> capture_;  // while capturing
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<job> queue_;  // guarded by mutex_
  bool closing_ = false;   // guarded by mutex_
  std::thread worker_;     // last: it uses the others
};

}  // namespace decoder

#endif  // DECODER_CPU_STREAM_HPP
